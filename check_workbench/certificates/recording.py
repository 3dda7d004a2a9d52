"""The ledger of trust decisions: the same call has the same answer, also once its patch stands in the file."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

from check_workbench.calibration import looks as ledger
from check_workbench.calibration.outcome import in_order
from check_workbench.calibration.units import decided, decision_keys, digest, records
from check_workbench.certificates.certificate import Certificate
from check_workbench.certificates.promoting import NOTHING, promotion, reasons_of
from check_workbench.certificates.replanning import choosing
from check_workbench.checks import with_threshold
from check_workbench.dialects import promoted_check
from check_workbench.labels.reasons import AFTER_LOOK

if TYPE_CHECKING:
    import pandas as pd

    from check_workbench.calibration.units import Units
    from check_workbench.checks import Check
    from check_workbench.plans import Plan
    from check_workbench.store import Store


def recorded(trusts: pd.DataFrame, units: Units, plan: Plan) -> Certificate | None:
    """Return the result of the same call, or of the one which certified the document that now stands in the file.

    Parameters
    ----------
    trusts
        Earlier decisions about what the check asks, for the change of the plan.
    units
        Scores and labels as they are.
    plan
        The plan.
    """
    check, fingerprint = units.check, _fingerprint(units)
    for row in records(trusts):
        result = row["result"]
        if row["plan_digest"] != plan.digest or row["check_id"] != check.id:
            continue
        documents = {row["document"], result.get("certified_document"), result.get("promoted_document")}
        same = result.get("fingerprint") == fingerprint and check.document in documents
        if same or _stands_replaced(row, units):
            found = _told_now(Certificate.from_record(result["certificate"], check), units)
            return promotable(found, check) if found.refused else found
    return None


def _told_now(found: Certificate, units: Units) -> Certificate:
    """Add what came after the labels were read, and does not change them."""
    late = units.excluded.get(AFTER_LOOK, 0)
    if found.excluded.get(AFTER_LOOK, 0) == late:
        return found
    since = (note for note in units.notes if note not in found.reasons)
    excluded = dict(sorted({**found.excluded, AFTER_LOOK: late}.items()))
    return dataclasses.replace(found, reasons=(*found.reasons, *since), excluded=excluded)


def _stands_replaced(row: dict[str, Any], units: Units) -> bool:
    """Say whether the file is as a look certified it, without the approve step whose decisions were its labels.

    Once the step is gone, its decisions speak of no step of the process; that does not take the certificate away. A
    new label or answers of another model do.
    """
    result, check = row["result"], units.check
    details = result["certificate"].get("details", {})
    gone = details.get("promotion", {}).get("replaces")
    if gone is None or check.process is None or check.document != result.get("promoted_document"):
        return False
    by = units.table[decided(units.table)][["method", "model"]]
    as_then = (by["method"].eq(details["method"]) & by["model"].eq(details["model"])).all()
    nothing_new = set(decision_keys(units.labelled)) <= set(row["labels"])
    return bool(as_then) and nothing_new and all(step.id != gone for step in check.process.steps)


def record(store: Store, units: Units, plan: Plan, made: Certificate, *, tested: bool) -> Certificate:
    """Record a decision; one that cannot be recorded says so.

    Parameters
    ----------
    store
        The store.
    units
        Scores and labels.
    plan
        The plan.
    made
        The decision.
    tested
        Whether any label was tested, so that something of the allowed error is spent.
    """
    result = {
        "certificate": made.recorded(),
        "fingerprint": _fingerprint(units),
        "certified_document": _patched(units.check, made),
        "promoted_document": _promoted(units.check, made),
        "tested": tested,
        "choosing": choosing(plan),
    }
    seen = ledger.Look(
        call="trust",
        labels=decision_keys(units.labelled),
        change=plan.change,
        plan_digest=plan.digest,
        result=result,
    )
    if not ledger.record(store, units.check, seen):
        note = "the store is open to read only: this look is not recorded"
        return dataclasses.replace(made, reasons=(*made.reasons, note))
    return made


def promotable(made: Certificate, check: Check) -> Certificate:
    """Add what the promotion of a ready check does to its file, or why it cannot be done."""
    if made.outcome != "ready":
        return made
    found = promotion(check, made.change, made.changes())
    before = set(reasons_of(made.details.get("promotion", NOTHING)))
    kept = [reason for reason in made.reasons if reason not in before]
    details = {**made.details, "promotion": found}
    return dataclasses.replace(made, reasons=(*kept, *reasons_of(found)), details=details)


def _fingerprint(units: Units) -> str:
    """Return a digest of all labels and answers; the document and the plan are compared on their own."""
    labels = units.labelled
    columns = ["run_id", "step_id", "attempt", "positive", "blind", "reason_not_blind", "decision_keys"]
    rows = labels[[*columns, "probability_sampled"]].astype(str).to_numpy().tolist()
    excluded = {reason: count for reason, count in units.excluded.items() if reason != AFTER_LOOK}
    return digest([rows, units.answers_digest(), excluded])


def _patched(check: Check, made: Certificate) -> str | None:
    """Return the document digest that the check will have once the certified numbers are written."""
    changes = made.changes()
    if made.outcome != "ready" or not changes:
        return None
    for change in in_order(check, changes):
        check = with_threshold(check, item=change.item, key=change.key, value=change.value)
    return check.document


def _promoted(check: Check, made: Certificate) -> str | None:
    """Return the document digest that the check will have once the whole patch is written."""
    if made.outcome != "ready" or made.refused:
        return None
    return promoted_check(check, in_order(check, made.changes())).document
