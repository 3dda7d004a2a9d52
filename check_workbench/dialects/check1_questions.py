"""The three question kinds of check-1 and their cuts.

Source: check-1, section 2.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from check_workbench.checks import Choice, Item, Levels, PassBand, PassLevel, PassNames, YesNo
from check_workbench.dialects.fields import Fields, shown, text_of, texts_of
from check_workbench.documents import Mapping, Node, Scalar, Sequence

if TYPE_CHECKING:
    from check_workbench.dialects.problems import Problems

FEWEST, MOST = 2, 10
"""Levels of a rubric."""

_ABOUT_FILES = re.compile(r"\b(?:attach\w*|files?|upload\w*|pdf|screenshots?|spreadsheets?)\b", re.IGNORECASE)
_NO_FAIL = "without fail, everything below pass fails and nothing is unsure"
_ADD_FAIL = "Write fail: 0 to send everything below pass to a person instead."


def questions_of(node: Node, problems: Problems) -> tuple[Item, ...]:
    """Read the value of `check`: one claim, or a list of questions.

    Parameters
    ----------
    node
        The value.
    problems
        Where everything wrong is collected.
    """
    if isinstance(node, Scalar):
        ask = text_of(node, problems, "check")
        if ask is None:
            return ()
        _blind_spots(node, ask, problems)
        problems.warn(node, "no-fail", _NO_FAIL, hint=_ADD_FAIL)
        return (Item(asks=YesNo(ask=ask), cut=PassBand(), scope="step"),)
    if not isinstance(node, Sequence):
        said = f"check must be a text or a list of questions, got {shown(node)}"
        problems.error(node, "wrong-type", said, hint="Put a dash before the question.")
        return ()
    if not node.items:
        problems.error(node, "wrong-type", "check must hold at least one question")
    return tuple(item for each in node.items if (item := _question(each, problems)) is not None)


def _question(node: Node, problems: Problems) -> Item | None:
    if not isinstance(node, Mapping):
        problems.error(node, "wrong-type", f"a question must be a mapping with ask, got {shown(node)}")
        return None
    fields = Fields(node, problems, "the question")
    ask = fields.text("ask", required="the claim to judge, or what to choose by")
    if (where := node.get("ask")) is not None:
        _blind_spots(where, ask, problems)
    if fields.has("one_of") and fields.has("levels"):
        problems.error(node, "question-kind", "a question has one_of, levels or neither, not both")
    if fields.has("one_of"):
        return _choice(fields, ask)
    return _rubric(fields, ask) if fields.has("levels") else _yes_no(fields, ask)


def _yes_no(fields: Fields, ask: str) -> Item:
    default = PassBand()
    pass_at = fields.number("pass", default=default.pass_at, low=0, high=1) or 0.0
    fail = fields.number("fail", low=0, high=1)
    where = fields.node.get("fail")
    if fail is not None and fail > pass_at and where is not None:
        fields.problems.error(where, "out-of-range", f"fail must be at most pass, got fail {fail} and pass {pass_at}")
    if not fields.has("fail"):
        fields.problems.warn(fields.node, "no-fail", _NO_FAIL, hint=_ADD_FAIL)
    fields.elsewhere({"unsure": "questions with one_of", "confidence": "questions with one_of or levels"})
    fields.close()
    return Item(asks=YesNo(ask=ask), cut=PassBand(pass_at=pass_at, fail_below=fail), scope="step")


def _choice(fields: Fields, ask: str) -> Item:
    options = _options(fields)
    names = [name for name, _ in options]
    passing = _names(fields, "pass", required="the list of names that pass")
    unsure = _names(fields, "unsure")
    if names:
        fields.known_values("pass", passing, names)
        fields.known_values("unsure", unsure, names)
    both = sorted(set(passing) & set(unsure))
    where = fields.node.get("unsure")
    if both and where is not None:
        fields.problems.error(where, "out-of-range", f"{', '.join(both)} stands in pass and in unsure")
    cut = PassNames(passing=passing, unsure=unsure, confidence=_confidence(fields))
    fields.entry("levels")
    fields.elsewhere({"fail": "yes/no questions; any name in neither pass nor unsure fails"})
    fields.close()
    return Item(asks=Choice(ask=ask, options=options), cut=cut, scope="step")


def _rubric(fields: Fields, ask: str) -> Item:
    entry = fields.entry("levels")
    levels: tuple[str, ...] = ()
    if entry is not None and not isinstance(entry.value, Sequence):
        fields.problems.error(entry.value, "wrong-type", f"levels must be a list, got {shown(entry.value)}")
    elif entry is not None:
        levels = texts_of(entry.value, fields.problems, "levels")
        if not FEWEST <= len(levels) <= MOST:
            said = f"levels must be {FEWEST} to {MOST}, worst first, got {len(levels)}"
            fields.problems.error(entry.value, "out-of-range", said)
    top = max(len(levels) - 1, 0)
    level = fields.number("pass", low=0, high=top, required=f"the level to pass from, 0 to {top}") or 0
    where = fields.node.get("pass")
    if level != int(level) and where is not None:
        fields.problems.error(where, "out-of-range", f"pass must be a whole level, got {level}")
    confidence = _confidence(fields)
    fields.elsewhere({"fail": "yes/no questions; a level below pass fails", "unsure": "questions with one_of"})
    fields.close()
    cut = PassLevel(level=int(level), confidence=confidence)
    return Item(asks=Levels(ask=ask, levels=levels), cut=cut, scope="step")


def _names(fields: Fields, name: str, *, required: str = "") -> tuple[str, ...]:
    entry = fields.entry(name, required=required)
    if entry is None:
        return ()
    if not isinstance(entry.value, Sequence):
        fields.problems.error(entry.value, "wrong-type", f"{name} must be a list of names, got {shown(entry.value)}")
        return ()
    if not entry.value.items and not required:
        return ()
    return texts_of(entry.value, fields.problems, name)


def _options(fields: Fields) -> tuple[tuple[str, str], ...]:
    node = fields.mapping("one_of")
    if node is None:
        return ()
    if len(node.entries) < FEWEST:
        said = f"one_of must hold at least {FEWEST} names, got {len(node.entries)}"
        fields.problems.error(node, "out-of-range", said)
    pairs = []
    for entry in node.entries:
        if not isinstance(entry.key.value, str):
            said = f"a name must be a text, got {shown(entry.key)}"
            fields.problems.error(entry.key, "wrong-type", said, hint="Put it in quotes.")
        pairs.append((entry.name, text_of(entry.value, fields.problems, entry.name, blank=True) or ""))
    return tuple(pairs)


def _confidence(fields: Fields) -> float:
    value = fields.number("confidence", default=PassLevel(level=0).confidence, low=0, high=1)
    return 0.0 if value is None else value


def _blind_spots(node: Node, ask: str, problems: Problems) -> None:
    if _ABOUT_FILES.search(ask):
        problems.warn(
            node,
            "cannot-see-file",
            "the question is about a file, but an evaluator sees output, summary and references, never a file",
            hint="Ask for the needed content in output, or ask about the summary.",
        )


READERS = {"yes/no": _yes_no, "`one_of`": _choice, "`levels`": _rubric}
"""The kinds of questions, and what reads each."""
