"""A check promoted in its file: certified numbers, no longer advisory, without the approve step that it replaces."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

from check_workbench.dialects.check1_promotion import approval_of, without_approval
from check_workbench.dialects.check1_reading import promotion_notes
from check_workbench.dialects.reading import read_source
from check_workbench.dialects.writing import found_in, patched, place_of, suffix_of, text_of, with_changes
from check_workbench.documents import delete_key, edited
from check_workbench.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from check_workbench.checks import Check, Threshold
    from check_workbench.dialects.problems import Problem


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
    new, now = old, found_in(check, old)
    if replaces is not None and replaces in _steps(now):
        if approval_of(now) != replaces:
            raise InputError(
                f"{check.file}: {check.id} no longer leads to the approve step {replaces}: the process was rearranged "
                "since it was decided. Nothing is written. Call trust again."
            )
        document, _ = place_of(check, old)
        new = without_approval(now, replaces, document)
        _as_sound(check, old, new)
    if now.document != wanted.document:
        new = patched(check, changes, text=new)
        if found_in(check, new).advisory:
            document, path = place_of(check, new)
            new = edited(new, [delete_key(document, (*path, "advisory"))])
    if found_in(check, new).document != wanted.document:
        raise InputError(f"{check.file}: {check.id} cannot be promoted there; change it by hand.")
    return new


def promoted_check(check: Check, changes: Sequence[Threshold]) -> Check:
    """Return the check as it will stand in its file once it is promoted."""
    return dataclasses.replace(with_changes(check, changes), advisory=False)


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
    document, _ = place_of(check, text_of(check))
    return promotion_notes(check, replaces, document)


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
    reading = read_source(text, check.file or "", suffix=suffix_of(check))
    return () if reading is None else tuple(reading.problems)
