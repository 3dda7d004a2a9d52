"""Thresholds and promotions written back into the file that a check came from, if it still says what was read."""

from __future__ import annotations

import dataclasses
import difflib
import io
import os
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from check_workbench.checks import Check, Slow, Threshold, is_rule, thresholds, with_threshold
from check_workbench.dialects.check1_promotion import without_approval
from check_workbench.dialects.check1_reading import promotion_notes
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

if TYPE_CHECKING:
    from collections.abc import Sequence

    from check_workbench.dialects.problems import Problem

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
    wanted = _wanted(check, changes)
    now = _find(check, old)
    if now.document == wanted.document:
        return old
    if now.document != check.document:
        raise InputError(f"{check.file}: {check.id} changed since it was read. Read it again, then write.")
    new = old
    for change in changes:
        if _value(now, change) != change.value:
            new = _written(check, change, new)
    if _find(check, new).document != wanted.document:
        raise InputError(f"{check.file}: the thresholds of {check.id} cannot be written there; write them by hand.")
    return new


def diff(check: Check, changes: Sequence[Threshold]) -> str:
    """Return what `apply` would change, as a unified diff; empty if nothing.

    Parameters
    ----------
    check
        The check as it was read.
    changes
        The thresholds to write.

    Raises
    ------
    InputError
        As `patched`.
    """
    return unified(str(check.file), text_of(check), patched(check, changes))


def apply(check: Check, changes: Sequence[Threshold]) -> Check:
    """Write new thresholds into a check's file and return the check as it now reads.

    The file is replaced in one step and keeps its mode; a link stays a link.

    Parameters
    ----------
    check
        The check as it was read.
    changes
        The thresholds to write.

    Raises
    ------
    InputError
        As `patched`, or if the file cannot be written.
    """
    old = text_of(check)
    new = patched(check, changes, text=old)
    if new != old:
        _replace(check, old, new)
    now = _find(check, text_of(check))
    if now.asked != check.asked or now.document != _wanted(check, _upright(check, changes)).document:
        raise InputError(f"{check.file}: {check.id} was changed by somebody else while it was written. Look at it.")
    return now


def promoted(
    check: Check, changes: Sequence[Threshold], *, replaces: str | None = None, text: str | None = None
) -> str:
    """Return the text of a check's file with new thresholds, the check no longer advisory, and without an approve step.

    A file that says all of this already comes back as it is.

    Parameters
    ----------
    check
        The check as it was read.
    changes
        The thresholds to write.
    replaces
        The approve step of a check-1 process that the check replaces; None keeps every step.
    text
        The file's text, if it was changed already; otherwise it is read.

    Raises
    ------
    InputError
        As `patched`, or if the approve step cannot be taken away; then nothing of it is written.
    UnknownNameError
        If the check has no such threshold.
    """
    old = text_of(check) if text is None else text
    wanted = promoted_check(check, changes)
    new, now = old, _find(check, old)
    if replaces is not None and replaces in _steps(now):
        document, _ = _place(check, old)
        new = without_approval(now, replaces, document)
        _as_sound(check, old, new)
    if now.document != wanted.document:
        new = patched(check, changes, text=new)
        if _find(check, new).advisory:
            document, path = _place(check, new)
            new = edited(new, [delete_key(document, (*path, "advisory"))])
    if _find(check, new).document != wanted.document:
        raise InputError(f"{check.file}: {check.id} cannot be promoted there; change it by hand.")
    return new


def promoted_check(check: Check, changes: Sequence[Threshold]) -> Check:
    """Return the check as it will stand in its file once it is promoted."""
    return dataclasses.replace(_wanted(check, changes), advisory=False)


def notes_on(check: Check, replaces: str | None) -> tuple[str, ...]:
    """Say what a person should look at when a check is promoted.

    Parameters
    ----------
    check
        The check as it was read.
    replaces
        The approve step that goes, if one goes.

    Raises
    ------
    InputError
        If the file cannot be read, or no longer holds the check.
    """
    if check.dialect != "check-1":
        return ()
    document, _ = _place(check, text_of(check))
    return promotion_notes(check, replaces, document)


def rewrite(check: Check, old: str, new: str) -> None:
    """Put a new text in place of a check's file in one step; its mode stays, and a link stays a link.

    Raises
    ------
    InputError
        If the file does not hold the old text any more, or cannot be written.
    """
    if new != old:
        _replace(check, old, new)


def unified(path: str, old: str, new: str) -> str:
    """Return the change of a text as a unified diff; empty if nothing changed."""
    lines = difflib.unified_diff(
        list(io.StringIO(old, newline="\n")),
        list(io.StringIO(new, newline="\n")),
        fromfile=f"a/{path}",
        tofile=f"b/{path}",
    )
    return "".join(line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines)


def _steps(check: Check) -> tuple[str, ...]:
    return () if check.process is None else tuple(step.id for step in check.process.steps)


def _as_sound(check: Check, old: str, new: str) -> None:
    """Refuse a text with a problem that the old one did not have."""
    before = {(p.code, p.message) for p in _problems(check, old)}
    for problem in _problems(check, new):
        if (problem.code, problem.message) not in before:
            raise InputError(
                f"{check.file}: the approve step cannot be taken away for {check.id}: afterwards {problem.message}. "
                "Nothing is written. Rearrange the process by hand, or keep the approval and enforce the check.",
            )


def _problems(check: Check, text: str) -> tuple[Problem, ...]:
    reading = read_source(text, check.file or "", suffix=_suffix(check))
    return () if reading is None else tuple(reading.problems)


def _upright(check: Check, changes: Sequence[Threshold]) -> list[Threshold]:
    """Order changes so that no band stands upside down in between: first those that widen it."""

    def narrows(change: Threshold) -> bool:
        old, new = _value(check, change), change.value
        if old is None or new is None:
            return new is not None and change.key == "fail"
        return (change.key == "fail" and new > old) or (change.key == "pass" and new < old)

    return sorted(changes, key=narrows)


def _wanted(check: Check, changes: Sequence[Threshold]) -> Check:
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


def _suffix(check: Check) -> str:
    suffix = Path(check.file or "").suffix.lower()
    return suffix if suffix in LANGUAGES else ".yaml"


def _find(check: Check, text: str) -> Check:
    reading = read_source(text, check.file or "", suffix=_suffix(check))
    found = [each for each in reading.checks if each.id == check.id] if reading is not None else []
    if len(found) == 1:
        return found[0]
    wrong = [p for p in reading.problems if p.severity == "error"] if reading is not None else []
    if wrong:
        raise InputError(
            f"{check.file}:{wrong[0].line}:{wrong[0].column}: {wrong[0].message}. {wrong[0].hint}".rstrip()
        )
    raise InputError(f"{check.file}: {check.id} is no longer there. Read the file again, then write.")


def _place(check: Check, text: str) -> tuple[Document, Place]:
    reading = read_source(text, check.file or "", suffix=_suffix(check))
    found = [each.path for each in reading.found if each.id == check.id] if reading is not None else []
    return parse(text, LANGUAGES[_suffix(check)]), found[0]


def _written(check: Check, change: Threshold, text: str) -> str:
    document, path = _place(check, text)
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


def _replace(check: Check, old: str, new: str) -> None:
    target = Path(os.path.realpath(check.file or ""))
    handle, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.", suffix=".tmp")
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.write(new.encode("utf-8"))
            stream.flush()
            os.fsync(stream.fileno())
        Path(name).chmod(target.stat().st_mode & 0o7777)
        if target.read_bytes() != old.encode("utf-8"):
            raise InputError(f"{check.file}: changed while it was written. Read it again, then write.")
        Path(name).replace(target)
    except OSError as error:
        raise InputError(f"{check.file}: cannot be written: {error.strerror}") from None
    finally:
        Path(name).unlink(missing_ok=True)
