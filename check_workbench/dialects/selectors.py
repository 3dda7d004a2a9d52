"""Span selectors of neatroots documents, and what a question is shown."""

from __future__ import annotations

import difflib
from typing import TYPE_CHECKING

from check_workbench.checks import EvidenceRule, Selector
from check_workbench.dialects.fields import Fields, texts_of
from check_workbench.documents import Mapping, Scalar, Sequence
from check_workbench.records import SPAN_STATUSES, Span, columns

if TYPE_CHECKING:
    from check_workbench.dialects.problems import Problems
    from check_workbench.documents import Node

SPAN_TYPES = (
    *("agent", "chain", "embedding", "evaluator", "guardrail", "http", "llm", "log", "mcp_tool", "memory"),
    *("reranker", "retriever", "task", "tool", "unknown", "vector_store", "workflow"),
)
"""Span types of recorded runs; others are allowed, but a near miss is probably a typo."""
SHOWN_FIELDS = ("tool", "args", "result", *(column.name for column in columns(Span)))


def selector(fields: Fields, name: str) -> Selector:
    """Read a span selector; an absent one selects every span."""
    node = fields.mapping(name, advice=_as_mapping)
    return Selector() if node is None else _selector(node, fields.problems, name)


def selector_or_name(fields: Fields, name: str, *, required: str) -> Selector:
    """Read a span selector, or a bare tool name or list of names."""
    entry = fields.entry(name, required=required)
    if entry is None:
        return Selector()
    if isinstance(entry.value, Mapping):
        return _selector(entry.value, fields.problems, name)
    return Selector(names=texts_of(entry.value, fields.problems, name))


def evidence_of(fields: Fields) -> EvidenceRule:
    """Read what a question is shown."""
    node = fields.mapping("evidence")
    if node is None:
        return EvidenceRule()
    inner = Fields(node, fields.problems, "evidence")
    wanted = inner.words("fields", default=EvidenceRule().fields)
    inner.known_values("fields", wanted, SHOWN_FIELDS)
    last = inner.number("last", low=1)
    if last is not None and last != int(last):
        inner.problems.error(node.get("last") or node, "out-of-range", f"last must be a whole number, got {last}")
    rule = EvidenceRule(
        spans=selector(inner, "spans"),
        fields=wanted,
        last=None if last is None else int(last),
        final_output=inner.flag("final_output"),
    )
    inner.close()
    return rule


def _selector(node: Mapping, problems: Problems, name: str) -> Selector:
    inner = Fields(node, problems, name)
    types, names, statuses = inner.words("type"), inner.words("name"), inner.words("status")
    inner.known_values("status", statuses, SPAN_STATUSES)
    if (found := node.get("type")) is not None:
        _suspect(found, problems)
    inner.close()
    return Selector(types=types, names=names, statuses=statuses)


def _as_mapping(node: Node) -> str:
    """Write a bare word as the selector that it was probably meant to be."""
    texts = [item.value for item in (node.items if isinstance(node, Sequence) else (node,)) if isinstance(item, Scalar)]
    if not texts or not all(isinstance(text, str) for text in texts):
        return ""
    key = "type" if set(texts) <= set(SPAN_TYPES) else "name"
    words = ", ".join(map(str, texts))
    return f"Write {{ {key}: {words if len(texts) == 1 else f'[{words}]'} }}."


def _suspect(node: Node, problems: Problems) -> None:
    for item in node.items if isinstance(node, Sequence) else (node,):
        if not isinstance(item, Scalar) or not isinstance(item.value, str) or item.value in SPAN_TYPES:
            continue
        near = difflib.get_close_matches(item.value.lower().replace("-", "_"), SPAN_TYPES, n=1, cutoff=0.7)
        if near:
            problems.warn(
                item,
                "span-type",
                f"no recorded span is usually of type {item.value!r}",
                hint=f"Did you mean {near[0]!r}?",
            )
