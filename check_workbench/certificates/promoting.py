"""What a ready certificate changes in the file of its check: the certified numbers and the promotion, in one step."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from check_workbench.calibration.outcome import in_order
from check_workbench.certificates.subject import shown_file
from check_workbench.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from check_workbench.certificates.certificate import Certificate
    from check_workbench.checks import Check, Threshold

WORDS = {
    "neatroots": "nothing in a neatroots file is advisory: its findings count as they are, and where a project made "
    "the check quiet, reopening one finding makes it count again",
}
"""What a promotion means in a dialect whose files have no flag for it."""
NOTHING: dict[str, Any] = {"replaces": None, "notes": [], "patch": "", "refused": None}
ELSEWHERE = "the approval that it replaces is not in the file of the check: take it away where it is"


def promotion(check: Check, change: str, changes: Sequence[Threshold]) -> dict[str, Any]:
    """Return what promoting a check does to its file, as it stands now.

    Parameters
    ----------
    check
        The check.
    change
        The change of the plan.
    changes
        The certified numbers.

    Returns
    -------
    dict
        `replaces`: the approve step that goes; `notes`: what to look at; `patch`: a unified diff; `refused`: why
        nothing is written.
    """
    if check.file is None:
        return NOTHING | {"notes": list(_about(check, change, None))}
    from check_workbench.dialects import approval_of, notes_on, promoted, text_of, unified

    try:
        replaces = approval_of(check) if change == "replace_approval" else None
        old = text_of(check)
        new = promoted(check, in_order(check, changes), replaces=replaces, text=old)
        notes = [*(notes_on(check, replaces) if new != old else ()), *_about(check, change, replaces)]
    except InputError as error:
        return NOTHING | {"refused": str(error).replace(str(check.file), shown_file(check.file))}
    return NOTHING | {"replaces": replaces, "notes": notes, "patch": unified(shown_file(check.file), old, new)}


def reasons_of(found: dict[str, Any]) -> Iterator[str]:
    """Yield a promotion in words."""
    if found["refused"]:
        yield f"no patch: {found['refused']}"
    yield from (f"once promoted: {note}" for note in found["notes"])


def texts(entries: Iterable[Certificate]) -> list[tuple[Check, str, str]]:
    """Return of each file of ready certificates a check, its text, and its text after all promotions.

    Raises
    ------
    InputError
        If a promotion is refused, or a file cannot be read or says something else by now.
    """
    from check_workbench.dialects import approval_of, promoted, text_of

    files: dict[str, tuple[Check, str, str]] = {}
    for entry in entries:
        check = entry.subject
        if check is None or check.file is None or entry.outcome != "ready":
            continue
        file = os.path.realpath(check.file)
        first, old, new = files.get(file) or (check, *2 * (text_of(check),))
        kept = entry.details.get("promotion", {})
        replaces = kept.get("replaces")
        if kept.get("refused") and entry.change == "replace_approval":
            replaces = approval_of(check)
        new = promoted(check, in_order(check, entry.changes()), replaces=replaces, text=new)
        files[file] = (first, old, new)
    return list(files.values())


def _about(check: Check, change: str, replaces: str | None) -> Iterator[str]:
    if check.dialect in WORDS:
        yield WORDS[check.dialect]
    if change == "replace_approval" and replaces is None:
        yield ELSEWHERE
