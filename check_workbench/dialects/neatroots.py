"""neatroots checks: rules and failure questions in YAML or JSON, one, a list, or several documents in a file.

A question is phrased as a failure and flags at or above its line. Source: neatroots, "Checks".
"""

from __future__ import annotations

import re
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any, Final

from check_workbench.checks import (
    QUESTION_KINDS,
    Check,
    Choice,
    Cutoffs,
    FlagAt,
    FlagLevel,
    FlagOn,
    Item,
    Levels,
    Question,
    YesNo,
)
from check_workbench.dialects.fields import Fields, shown, text_of, texts_of
from check_workbench.dialects.problems import Found, Problems
from check_workbench.dialects.rules import rule_of
from check_workbench.dialects.selectors import evidence_of
from check_workbench.documents import Document, Mapping, Node, Scalar, Sequence

if TYPE_CHECKING:
    from collections.abc import Iterator

    from check_workbench.documents import Path

NAME: Final = "neatroots"
LANGUAGES = ("yaml", "json")
KINDS = ("rule", *QUESTION_KINDS)
SCOPES = ("span", "trace", "session")
WHENS = ("live", "end")
LLM_CAP = 0.9
"""neatroots never reports a higher probability from a language model."""
MOST_LEVELS = 10
"""Levels that the interface of decision models takes."""

_LOOKS = re.compile(r"""(?<![\w-])["']?(id|kind|rule|ask|flag_at|flag_on|flag_at_level)["']?[ \t]*:""")
_KEYS = ("id", "kind", "rule", "ask", "scope", "evidence", "flag_at", "options", "flag_on", "levels", "flag_at_level")
_OF_QUESTIONS = ("ask", "scope", "evidence", "flag_at", "options", "flag_on", "levels", "flag_at_level")
_ABOUT_ANSWER = re.compile(
    r"\b(?:claim(?:s|ed|ing)?|says?|said|saying|reports|reported|stated|tells?|told|promise[sd]?|repl(?:y|ies|ied)"
    r"|answer(?:s|ed)?|respond(?:s|ed)?)\b"
    r"|\b(?:agent|assistant|model)\s+(?:\w+\s+)?(?:reports?|states?)\b"
    r"|\bfinal\s+(?:response|output|message|text|summary)\b|\b(?:agent's|assistant's|its)\s+response\b",
    re.IGNORECASE,
)


def likeness(document: Document) -> float:
    """Say how much a document looks like neatroots checks, from 0 to 1."""
    if document.language not in LANGUAGES:
        return 0.0
    if document.roots:
        return max((_likeness(node) for node, _ in _candidates(document)), default=0.0)
    hits = set(_LOOKS.findall(document.text))
    return min(1.0, 0.3 * len(hits)) if hits - {"id"} else 0.0


def read(document: Document, file: str | None, problems: Problems) -> list[Found]:
    """Read every check of a document.

    Parameters
    ----------
    document
        The document.
    file
        Its name, kept in the checks.
    problems
        Where everything wrong is collected.
    """
    found = []
    for node, path in _candidates(document):
        if isinstance(node, Mapping):
            found.append(_check(node, path, file, problems))
        else:
            problems.error(node, "wrong-type", f"a check must be a mapping, got {shown(node)}")
    return found


def _candidates(document: Document) -> Iterator[tuple[Node, Path]]:
    for place, root in enumerate(document.roots):
        if isinstance(root, Sequence):
            yield from ((item, (place, index)) for index, item in enumerate(root.items))
        elif not isinstance(root, Scalar) or root.value is not None:
            yield root, (place,)


def _likeness(node: Node) -> float:
    """Count the keys of a check, if at least one is there that hardly any other document has."""
    if not isinstance(node, Mapping):
        return 0.0
    kind, ask = node.get("kind"), node.get("ask")
    known = isinstance(kind, Scalar) and bool(get_close_matches(str(kind.value), KINDS, n=1, cutoff=0.7))
    asked = isinstance(ask, Scalar) and isinstance(ask.value, str)
    if isinstance(node.get("rule"), Mapping) or (known and asked):
        return 1.0
    if not (known or asked or {"flag_at", "flag_on", "flag_at_level"} & set(node.names())):
        return 0.0
    return min(1.0, 0.3 * sum(name in _KEYS for name in node.names()))


def _check(node: Mapping, path: Path, file: str | None, problems: Problems) -> Found:
    before = problems.errors
    fields = Fields(node, problems, "the check")
    id_ = _id(fields)
    kind = fields.word("kind", KINDS, required=f"one of {', '.join(KINDS)}")
    if not kind:
        kind = "rule" if fields.has("rule") else "yes_no"
    common = _common(fields)
    item = _rule(fields) if kind == "rule" else _question(fields, kind)
    if kind != "rule" and common["action"] == "halt":
        problems.error(node.get("action") or node, "halt", "only a rule may halt", hint="Write action: flag.")
    fields.elsewhere(dict.fromkeys(_OF_QUESTIONS, "questions (yes_no, choice, score)") | _OWNERS)
    fields.close()
    usable = problems.errors == before and item is not None
    check = Check(id=id_, dialect=NAME, items=(item,), file=file, **common) if usable and item is not None else None
    return Found(id=id_, path=path, check=check)


_OWNERS = {
    "options": "kind: choice",
    "flag_on": "kind: choice",
    "levels": "kind: score",
    "flag_at_level": "kind: score",
    "flag_at": "kinds yes_no and choice; a score has flag_at_level",
    "rule": "kind: rule",
}


def _id(fields: Fields) -> str:
    id_ = fields.text("id", required="the name by which answers and labels know the check")
    node = fields.node.get("id")
    if node is not None and (id_ != id_.strip() or any(ord(char) < 32 for char in id_)):
        fields.problems.error(node, "bad-id", f"id must be one line without spaces at its ends, got {id_!r}")
    return id_


def _common(fields: Fields) -> dict[str, Any]:
    workflow = None
    if (applies := fields.mapping("applies_to")) is not None:
        inner = Fields(applies, fields.problems, "applies_to")
        workflow = inner.text("workflow", required="the workflow whose runs are judged")
        inner.close()
    return {
        "title": fields.text("title"),
        "guidance": fields.text("guidance"),
        "group": fields.text("group") or None,
        "action": fields.word("action", ("flag", "halt"), default="flag"),
        "when": fields.word("when", WHENS, default="end"),
        "workflow": workflow or None,
    }


def _rule(fields: Fields) -> Item | None:
    node = fields.mapping("rule", required="what is measured")
    made = None if node is None else rule_of(node, fields.problems)
    return None if made is None else Item(asks=made[0], cut=made[1])


def _question(fields: Fields, kind: str) -> Item | None:
    ask = fields.text("ask", required="the question, phrased as a failure")
    scope: Any = fields.word("scope", SCOPES, default="trace")
    evidence = evidence_of(fields)
    asks, cut = KIND_READERS[kind](fields, ask)
    node = fields.node.get("ask")
    if node is not None and _ABOUT_ANSWER.search(ask) and not (scope == "trace" and evidence.final_output):
        fields.problems.warn(
            node,
            "cannot-see-answer",
            "the question is about the agent's answer but cannot see it",
            hint="Write scope: trace and, under evidence, final_output: true.",
        )
    return Item(asks=asks, cut=cut, scope=scope, evidence=evidence)


def _yes_no(fields: Fields, ask: str) -> tuple[Question, Cutoffs]:
    return YesNo(ask=ask), FlagAt(value=_flag_at(fields, FlagAt().value))


def _choice(fields: Fields, ask: str) -> tuple[Question, Cutoffs]:
    options = _options(fields)
    names = fields.words("flag_on", required="the options that mean a problem")
    if options:
        fields.known_values("flag_on", names, [name for name, _ in options])
    cut = FlagOn(names=names, value=_flag_at(fields, FlagOn(names=()).value))
    return Choice(ask=ask, options=options), cut


def _score(fields: Fields, ask: str) -> tuple[Question, Cutoffs]:
    entry = fields.entry("levels", required="the levels, from the best, numbered from 0")
    if entry is not None and isinstance(entry.value, Mapping):
        fields.problems.error(entry.value, "wrong-type", "levels must be a list, from the best, got a mapping")
        entry = None
    levels = () if entry is None else texts_of(entry.value, fields.problems, "levels")
    if entry is not None and len(levels) < 2:
        fields.problems.error(entry.value, "out-of-range", f"levels must be at least 2, got {len(levels)}")
    if entry is not None and len(levels) > MOST_LEVELS:
        said = f"evaluators answer at most {MOST_LEVELS} levels, got {len(levels)}"
        fields.problems.warn(entry.value, "many-levels", said)
    top = max(len(levels) - 1, 0)
    high = top if levels else float("inf")
    value = fields.number("flag_at_level", low=0, high=high, required=f"the expected level to flag from, 0 to {top}")
    return Levels(ask=ask, levels=levels), FlagLevel(value=0 if value is None else value)


KIND_READERS = {"yes_no": _yes_no, "choice": _choice, "score": _score}


def _flag_at(fields: Fields, default: float) -> float:
    value = fields.number("flag_at", default=default, low=0, high=1)
    node = fields.node.get("flag_at")
    if node is not None and value is not None and value > LLM_CAP:
        fields.problems.note(
            node,
            "never-flags",
            f"a language model's probability is capped at {LLM_CAP}, so with one this check can never flag",
            hint="Use a line of at most 0.9, or a decision model.",
        )
    return default if value is None else value


def _options(fields: Fields) -> tuple[tuple[str, str], ...]:
    node = fields.mapping(
        "options", required="label and description of each option", advice=lambda _: "Write {label: what it means, …}."
    )
    if node is None:
        return ()
    if len(node.entries) < 2:
        fields.problems.error(node, "out-of-range", f"options must be at least 2, got {len(node.entries)}")
    pairs = []
    for entry in node.entries:
        empty = isinstance(entry.value, Scalar) and entry.value.value is None
        description = "" if empty else text_of(entry.value, fields.problems, entry.name)
        pairs.append((entry.name, description or ""))
    return tuple(pairs)
