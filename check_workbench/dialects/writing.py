"""Thresholds written back into the file that a check came from: the numbers only, if it still says what was read."""

from __future__ import annotations

import difflib
import io
import os
from pathlib import Path
from typing import TYPE_CHECKING

from check_workbench.checks import Check, Slow, Threshold, is_rule, thresholds, with_threshold
from check_workbench.dialects.reading import read_source
from check_workbench.documents import (
    LANGUAGES,
    Document,
    FlawError,
    Scalar,
    decode,
    delete_key,
    edited,
    list_text,
    parse,
    set_number,
)
from check_workbench.documents import Path as Place
from check_workbench.errors import InputError
from check_workbench.rewriting import Rewrite, rewrite_files

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    Change = tuple[Check, Sequence[Threshold]]

AFTER = {
    "at_least": ("same", "metric", "span", "type"),
    "at_least_ms": ("span", "type"),
    "flag_at": ("flag_on", "when", "evidence", "ask"),
    "flag_at_level": ("levels", "when", "ask"),
    "pass": ("ask",),
    "fail": ("pass", "ask"),
    "confidence": ("pass", "unsure", "levels", "one_of"),
}
"""Behind which keys an absent threshold is written, best first."""


def patched(check: Check, changes: Sequence[Threshold], *, text: str | None = None) -> str:
    """Return the text of a check's file with new thresholds, every other character as it was.

    Parameters
    ----------
    check
        The check as it was read.
    changes
        The thresholds to write, each with its item, key and new value; None takes `fail` away.
    text
        The file's text, if it was changed already; otherwise it is read.

    Raises
    ------
    InputError
        If the check has no file, the file no longer says what was read, or a number is shared with other places
        of the document.
    UnknownNameError
        If the check has no such threshold.
    """
    old = text_of(check) if text is None else text
    changes = _upright(check, changes)
    wanted = with_changes(check, changes)
    now = found_in(check, old)
    if now.document == wanted.document:
        return old
    if now.document != check.document:
        raise InputError(f"{check.file}: {check.id} changed since it was read. Read it again, then write.")
    new = old
    for change in changes:
        if _value(now, change) != change.value:
            new = _written(check, change, new)
    if found_in(check, new).document != wanted.document:
        raise InputError(f"{check.file}: the thresholds of {check.id} cannot be written there; write them by hand.")
    return new


def diff(changes: Iterable[Change]) -> str:
    """Return what `apply` would change, as a unified diff; empty if nothing.

    Parameters
    ----------
    changes
        Checks as they were read, each with the thresholds to write.

    Raises
    ------
    InputError
        As `patched`.
    """
    return "".join(unified(str(check.file), old, new) for check, old, new in _texts(changes))


def apply(changes: Iterable[Change]) -> tuple[str, ...]:
    """Write new thresholds into the files of checks, into all or into none, and return the files that changed.

    Parameters
    ----------
    changes
        Checks as they were read, each with the thresholds to write.

    Raises
    ------
    InputError
        As `patched`, or if a file cannot be written.
    """
    return rewrite(_texts(changes))


def rewrite(texts: Iterable[tuple[Check, str, str]]) -> tuple[str, ...]:
    """Put new texts in place of the files of checks, of all or of none, and return the files that changed.

    Parameters
    ----------
    texts
        Of each file a check, its text as it was read, and the new one.

    Raises
    ------
    InputError
        If a file does not hold the old text any more, or cannot be written.
    """
    changed = [(str(check.file), old, new) for check, old, new in texts if new != old]
    rewrite_files(Rewrite(path=file, old=old.encode(), new=new.encode()) for file, old, new in changed)
    return tuple(file for file, _, _ in changed)


def unified(path: str, old: str, new: str) -> str:
    """Return the change of a text as a unified diff; empty if nothing changed."""
    lines = difflib.unified_diff(
        list(io.StringIO(old, newline="\n")),
        list(io.StringIO(new, newline="\n")),
        fromfile=f"a/{path}",
        tofile=f"b/{path}",
    )
    return "".join(line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines)


def _upright(check: Check, changes: Sequence[Threshold]) -> list[Threshold]:
    """Order changes so that no band stands upside down in between: first those that widen it."""

    def narrows(change: Threshold) -> bool:
        old, new = _value(check, change), change.value
        if old is None or new is None:
            return new is not None and change.key == "fail"
        return (change.key == "fail" and new > old) or (change.key == "pass" and new < old)

    return sorted(changes, key=narrows)


def with_changes(check: Check, changes: Sequence[Threshold]) -> Check:
    """Return a check with all its thresholds moved."""
    for change in changes:
        check = with_threshold(check, item=change.item, key=change.key, value=change.value)
    return check


def _value(check: Check, change: Threshold) -> float | None:
    found = (t.value for t in thresholds(check) if (t.item, t.key) == (change.item, change.key))
    return next(found, None)


def text_of(check: Check) -> str:
    """Return the text of a check's file, byte order mark and line ends included.

    Raises
    ------
    InputError
        If the check was not read from a file, or the file cannot be read.
    """
    if check.file is None:
        raise InputError(f"{check.id} was not read from a file of yours. Save a copy of it, then write there.")
    try:
        return decode(Path(check.file).read_bytes())
    except OSError as error:
        raise InputError(f"{check.file}: cannot be read: {error.strerror}") from None
    except FlawError as stopped:
        raise InputError(f"{check.file}: {stopped.flaw.message}. {stopped.flaw.hint}") from None


def suffix_of(check: Check) -> str:
    """Return the suffix by which the file of a check is read."""
    suffix = Path(check.file or "").suffix.lower()
    return suffix if suffix in LANGUAGES else ".yaml"


def found_in(check: Check, text: str) -> Check:
    """Return a check as a text of its file has it.

    Raises
    ------
    InputError
        If the text cannot be read as a document, or holds no such check.
    """
    reading = read_source(text, check.file or "", suffix=suffix_of(check))
    found = [each for each in reading.checks if each.id == check.id] if reading is not None else []
    if len(found) == 1:
        return found[0]
    wrong = [p for p in reading.problems if p.severity == "error"] if reading is not None else []
    if wrong:
        raise InputError(
            f"{check.file}:{wrong[0].line}:{wrong[0].column}: {wrong[0].message}. {wrong[0].hint}".rstrip()
        )
    raise InputError(f"{check.file}: {check.id} is no longer there. Read the file again, then write.")


def place_of(check: Check, text: str) -> tuple[Document, Place]:
    """Return the document that a text is, and the place of a check in it."""
    reading = read_source(text, check.file or "", suffix=suffix_of(check))
    found = [each.path for each in reading.found if each.id == check.id] if reading is not None else []
    return parse(text, LANGUAGES[suffix_of(check)]), found[0]


def _texts(changes: Iterable[Change]) -> list[tuple[Check, str, str]]:
    """Return a check of each file, the text of the file, and its text after all changes."""
    found: dict[str, tuple[Check, str, str]] = {}
    for check, moved in changes:
        file = os.path.realpath(check.file or "")
        first, old, text = found.get(file) or (check, *2 * (text_of(check),))
        found[file] = (first, old, patched(check, moved, text=text))
    return list(found.values())


def _written(check: Check, change: Threshold, text: str) -> str:
    document, path = place_of(check, text)
    if check.dialect == "check-1":
        whole = (*path, "check")
        if isinstance(document.at(whole), Scalar):
            text = edited(text, [list_text(document, whole, "ask")])
            document = parse(text, document.language)
        path = (*whole, change.item)
    elif is_rule(check.items[change.item].asks):
        path = (*path, "rule")
    path = (*path, change.key)
    if change.value is None:
        return edited(text, [delete_key(document, path)])
    value = _as_before(check, change, change.value)
    return edited(text, [set_number(document, path, value, after=AFTER[change.key])])


def _as_before(check: Check, change: Threshold, value: float) -> float:
    """Write counts and milliseconds without a fraction also where the key was absent."""
    counted = isinstance(check.items[change.item].asks, Slow) or change.key == "at_least"
    return int(value) if counted and value == int(value) else value
