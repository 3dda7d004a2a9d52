"""Which units of a check a decision speaks of, or why none.

Source: check-1, sections 3 and 4, and the `on_reject` of its core specification.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from check_workbench.checks import Check, Process, ProcessStep

UNMATCHED = "unmatched"
ELSEWHERE = "about_other_work"


def step_target(check: Check, step: str | None, decision: str) -> str | None:
    """Say why a decision about the work does not speak of a check's step, or None if it does.

    Parameters
    ----------
    check
        A check of one step.
    step
        The step that the decision names, if any.
    decision
        What was decided.

    Returns
    -------
    str or None
        `about_other_work` where it clearly speaks of another step, `unmatched` where it cannot be told.

    Examples
    --------
    >>> from check_workbench.checks import Check
    >>> check = Check(id="p/screen", dialect="check-1", items=(), step_id="screen")
    >>> step_target(check, "screen", "approved"), step_target(check, "pay", "approved")
    (None, 'unmatched')
    """
    if step == check.step_id:
        return None
    if check.process is None:
        return None if step is None else UNMATCHED
    led = leading_to(check.process, step)
    if led is None:
        return ELSEWHERE if _is_checked(check.process, step) else UNMATCHED
    if check.step_id not in led:
        return ELSEWHERE
    if len(led) == 1 or decision == "approved":
        return None
    blamed = _blamed(check.process, step) if decision == "rejected" else None
    if blamed in led:
        return None if blamed == check.step_id else ELSEWHERE
    return UNMATCHED


def leading_to(process: Process, step: str | None) -> tuple[str, ...] | None:
    """List the checked steps that lead to an approve step, up to the approve step before it.

    Parameters
    ----------
    process
        The process.
    step
        The approve step; None means any of them.

    Returns
    -------
    tuple of str or None
        In document order; None where the step is no approve step of the process.

    Examples
    --------
    >>> from check_workbench.checks import Process, ProcessStep
    >>> screen = ProcessStep(id="screen", kind="agent", next=("sign",), checked=True)
    >>> sign = ProcessStep(id="sign", kind="approve")
    >>> leading_to(Process(name="p", version="1", steps=(screen, sign)), "sign")
    ('screen',)
    """
    steps = {one.id: one for one in process.steps}
    if step is None:
        return tuple(one.id for one in process.steps if one.checked)
    if step not in steps or steps[step].kind != "approve":
        return None
    before = _before(process.steps, step)
    return tuple(one.id for one in process.steps if one.checked and one.id in before)


def _before(steps: Sequence[ProcessStep], step: str) -> set[str]:
    kinds = {one.id: one.kind for one in steps}
    found: set[str] = set()
    waiting = [step]
    while waiting:
        target = waiting.pop()
        for one in steps:
            if target in one.next and one.id not in found and kinds[one.id] != "approve":
                found.add(one.id)
                waiting.append(one.id)
    return found


def _blamed(process: Process, step: str | None) -> str | None:
    approving = [one for one in process.steps if one.kind == "approve" and step in {None, one.id}]
    return approving[0].on_reject if len(approving) == 1 else None


def _is_checked(process: Process, step: str | None) -> bool:
    return any(one.id == step for one in process.steps if one.kind != "approve")
