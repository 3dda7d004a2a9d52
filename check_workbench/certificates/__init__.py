"""May a check be trusted? Exact tests on blind first decisions, against a plan that was fixed beforehand."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

from check_workbench.calibration import looks as ledger
from check_workbench.calibration.units import gather_as_read
from check_workbench.certificates.certificate import Certificate, Certificates
from check_workbench.certificates.deciding import decide
from check_workbench.certificates.evidence import quotes_of
from check_workbench.errors import InputError
from check_workbench.evaluation import evaluate, read
from check_workbench.plans import Plan

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from check_workbench.checks import Check
    from check_workbench.store import Store

__all__ = ["Certificate", "Certificates", "trust"]


def trust(
    checks: Check | str | Path | Iterable[Check | str | Path],
    store: Store,
    *,
    plan: Plan,
) -> Certificates:
    """Decide whether checks may be enforced, or may replace an approval.

    Only blind decisions on first submissions count. Every call that reads labels is a look and is recorded: the first
    has 80 % of the allowed error, all later ones together the rest, whichever plan they bring. A call on the same
    labels, answers, document and plan returns the recorded result and is no look. Checks that ask the same are looks at
    one question; those of one call are decided in the order of their ids, in whichever order they are given.

    A decision that a person corrected before any call read it counts as corrected. Afterwards an error that was read
    stays one, whoever says otherwise; one that a correction adds counts. The report tells how many there are.

    Parameters
    ----------
    checks
        Checks, files, folders, or `FILE#ID`.
    store
        Runs, decisions and answers.
    plan
        From `plan` or `read_plan`.

    Returns
    -------
    Certificates
        One per check. Missing labels, missing answers and useless evidence are outcomes in words, never exceptions.
        `patch()` shows what ready checks change in their files, `apply()` writes it; of several checks, `together` says
        how sure one can be that all ready decisions hold at the same time.

    Raises
    ------
    InputError
        If a document or the plan cannot be used, or the plan needs a signature that it lacks.

    Notes
    -----
    Source: Learn then Test for the walk, Clopper and Pearson for the bounds, betting e-processes for later looks.
    """
    if not isinstance(plan, Plan):
        raise InputError(f"plan must be a Plan, made by plan(change='enforce', ...); got {type(plan).__name__}.")
    if plan.signature_required and plan.signed_by is None:
        raise InputError("the plan needs a signature: set signed_by to the name of whoever answers for it.")
    found = read(checks)
    results = evaluate(found, store)
    entries = {}
    for check in sorted(found, key=lambda one: one.id):
        looks = ledger.ledger(store)
        gathered = gather_as_read(check, store, results.scores, kind=plan.labels, reads=ledger.reads(looks))
        units = dataclasses.replace(gathered, quotes=quotes_of(results, check))
        entries[check.id] = decide(units, store, plan, looks=looks)
    return Certificates(entries=tuple(entries[check.id] for check in found), plan=plan)
