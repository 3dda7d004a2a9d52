"""Whether the numbers that two bounds certified can stand in one file."""

from __future__ import annotations

from typing import TYPE_CHECKING

from check_workbench.checks import PassBand

if TYPE_CHECKING:
    from collections.abc import Sequence

    from check_workbench.certificates.tested import Tested
    from check_workbench.checks import Check, Threshold


def conflict(check: Check, found: Sequence[Tested]) -> str | None:
    """Say in words why the certified numbers do not go together, or None if they do.

    What one bound writes must leave the other side as it was tested: it is the same numbers, or the pass number and
    the fail number of a band that has both.

    Parameters
    ----------
    check
        The check as its file stands.
    found
        All tested bounds.
    """
    if len(found) < 2 or not all(t.certified for t in found) or not any(t.changes for t in found):
        return None
    written = {_numbers(t.changes) for t in found}
    if len(written) == 1 or (_apart(check) and all(_keys(t.changes) <= {_key(t)} for t in found)):
        return None
    wanted = "; ".join(f"{_risk(t)} {_words(t.changes)}" for t in found)
    return f"the two bounds hold for different numbers, and a file can have only one of them: {wanted}"


def _apart(check: Check) -> bool:
    cuts = [item.cut for item in check.items]
    return all(isinstance(cut, PassBand) and cut.fail_below is not None for cut in cuts)


def _key(found: Tested) -> str:
    return "pass" if found.bound.side == "false_pass" else "fail"


def _keys(changes: Sequence[Threshold]) -> set[str]:
    return {change.key for change in changes}


def _numbers(changes: Sequence[Threshold]) -> frozenset[tuple[int, str, float | None]]:
    return frozenset((change.item, change.key, change.value) for change in changes)


def _risk(found: Tested) -> str:
    return "bad among passed needs" if found.bound.side == "false_pass" else "good among failed needs"


def _words(changes: Sequence[Threshold]) -> str:
    return ", ".join(f"{c.key} {c.value:g}" for c in changes) or "the numbers of the file"
