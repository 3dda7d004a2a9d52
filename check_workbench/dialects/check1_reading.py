"""What a person should look at when a check of a check-1 process is promoted: the texts that read or name its parts."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from check_workbench.dialects.check1_graph import LINKS, targets
from check_workbench.documents import Mapping, Scalar, Sequence

if TYPE_CHECKING:
    from collections.abc import Iterator

    from check_workbench.checks import Check
    from check_workbench.documents import Document, Node

BODY = "the text below the front matter"


def promotion_notes(check: Check, approve: str | None, document: Document) -> tuple[str, ...]:
    """Say which steps read the check's verdict or the approve step that goes, and where rejected work went.

    A text is never changed, because it is for people and agents, and part of what checks ask.

    Parameters
    ----------
    check
        The check, as the document has it.
    approve
        The approve step that goes, if one goes.
    document
        The process.
    """
    steps = document.at((0, "steps"))
    nodes = [node for node in (steps.items if isinstance(steps, Sequence) else ()) if isinstance(node, Mapping)]
    notes = []
    for node in nodes:
        name = _word(node.get("id"))
        if name == approve:
            notes += [_rejected(check, approve, node), *_late(approve, node)]
            continue
        asked = "" if node.entry("check") is None else "; rewording what a checked step says makes its labels stale"
        for key, text in _texts(node):
            notes += [f"{said}{asked}" for said in _said(check, approve, text, f"{name} ({key})")]
    for key, text in _above(document):
        notes += _said(check, approve, text, f"the process ({key})")
    notes += _said(check, approve, document.body or "", BODY)
    return tuple(dict.fromkeys(notes))


def texts_within(node: Node) -> Iterator[str]:
    """Yield every text in a node, keys apart."""
    match node:
        case Scalar(value=str(text)):
            yield text
        case Sequence(items=items):
            for item in items:
                yield from texts_within(item)
        case Mapping(entries=entries):
            for entry in entries:
                yield from texts_within(entry.value)
        case _:
            return


def reads(path: str, text: str) -> bool:
    """Say whether a text holds a path, and not merely a longer name that begins so."""
    return _finds(re.escape(path), text)


def _said(check: Check, approve: str | None, text: str, where: str) -> Iterator[str]:
    if approve is not None and reads(f"steps.{approve}", text):
        yield f"{where} reads steps.{approve}, which no longer exists: reword it"
    elif approve is not None and re.search(r"[-_\d]", approve) and _finds(re.escape(approve), text):
        yield f"{where} names {approve}, which no longer exists: reword it"
    if reads(f"steps.{check.step_id}.check", text):
        verdicts = "it says pass or unsure from now on, since a step that fails does not complete"
        yield f"{where} reads steps.{check.step_id}.check: {verdicts}"


def _rejected(check: Check, approve: str, node: Mapping) -> str:
    to = next((target for _, target in targets(node.get("on_reject"))), None)
    again = f"a failed check refuses the submission and {check.step_id} tries again"
    if to is None:
        return f"a rejection at {approve} ended the run; {again}, and only whoever decides an escalated step can end it"
    if to == check.step_id:
        return f"a rejection at {approve} went back to {to}; {again}"
    return f"a rejection at {approve} went to {to}; {again}: check-1 has no other route for a failed check"


def _late(approve: str, node: Mapping) -> Iterator[str]:
    for _, target in targets(node.get("on_timeout")):
        yield f"work that nobody decided in time at {approve} went to {target}; a check decides at once"


def _above(document: Document) -> Iterator[tuple[str, str]]:
    root = document.at((0,))
    for entry in root.entries if isinstance(root, Mapping) else ():
        if entry.name not in {"name", "steps"}:
            yield from ((entry.name, text) for text in texts_within(entry.value))


def _texts(node: Mapping) -> Iterator[tuple[str, str]]:
    for entry in node.entries:
        if entry.name not in {"id", *LINKS}:
            yield from ((entry.name, text) for text in texts_within(entry.value))
        elif entry.name == "next" and isinstance(entry.value, Sequence):
            routes = [item for item in entry.value.items if isinstance(item, Mapping)]
            yield from (("next", _word(route.get("when"))) for route in routes)


def _word(node: Node | None) -> str:
    return node.value if isinstance(node, Scalar) and isinstance(node.value, str) else ""


def _finds(pattern: str, text: str) -> bool:
    return re.search(rf"(?<![\w-]){pattern}(?![\w-])", text) is not None
