"""From tested bounds to an outcome, in the order: unusable, too weak, ready, else more labels."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

from check_workbench.certificates import bounds, wording
from check_workbench.certificates.betting import capital
from check_workbench.certificates.certificate import Certificate
from check_workbench.certificates.evidence import counted_errors
from check_workbench.certificates.guards import by_workflow, human_ceiling, out_of_reach, violations
from check_workbench.certificates.history import blind_share, history, too_few_blind
from check_workbench.certificates.hygiene import sample
from check_workbench.certificates.reach import unjudged
from check_workbench.certificates.recording import promotable, record, recorded
from check_workbench.certificates.replanning import about_namesakes, about_plan, about_window, trusts_of
from check_workbench.certificates.showing import first_shown
from check_workbench.certificates.sides import Region
from check_workbench.certificates.subject import described
from check_workbench.certificates.tested import Look, Tested
from check_workbench.certificates.together import conflict
from check_workbench.certificates.uncounted import uncounted

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import pandas as pd

    from check_workbench.calibration.units import Units
    from check_workbench.certificates.certificate import Outcome
    from check_workbench.certificates.hygiene import Sample
    from check_workbench.checks import Check
    from check_workbench.comparison.people import Ceiling
    from check_workbench.plans import Plan, Side
    from check_workbench.store import Store


def decide(units: Units, store: Store, plan: Plan, *, looks: pd.DataFrame) -> Certificate:
    """Decide about one check, and record the look.

    Parameters
    ----------
    units
        Its scores and labels.
    store
        The store.
    plan
        What must hold.
    looks
        All looks in the store.
    """
    check = units.check
    trusts = trusts_of(looks, check, plan)
    before = recorded(trusts, units, plan)
    if before is not None:
        return before
    earlier = sum(bool(result.get("tested")) for result in trusts["result"])
    labels = sample(units, store, plan, looks)
    regions = {
        bound.side: Region(check=check, side=bound.side, reference=labels.measured_on, everything=units.table)
        for bound in plan.bounds
    }
    left = {bound.side: capital(trusts, check, bound.side, plan) for bound in plan.bounds}
    look = Look(first=earlier == 0, start=plan.start, capital=left)
    found = [
        bounds.tested(regions[bound.side], bound, _with_shown(labels, looks, check, bound.side), look)
        for bound in plan.bounds
    ]
    found = [dataclasses.replace(t, unjudged=unjudged(regions[t.bound.side], labels)) for t in found]
    held = [(t, regions[t.bound.side]) for t in found if t.certified]
    guards = list(_guards(held, labels, human_ceiling(check, store, plan, labels) if held else None))
    guards += [words for t, _ in held for words in uncounted(t, labels, units, trusts, store)]
    clash = conflict(check, found)
    made = _certificate(units, plan, labels, found, [*guards, *([clash] if clash else [])])
    errors = [row for t in found for row in counted_errors(t, units, store)]
    about: dict[str, Any] = {
        "subject": described(check, store, labels),
        "look": earlier + 1,
        "counted_errors": errors,
        "looks": history(looks, check, plan.change),
        "segments": [row for t in found for row in by_workflow(regions[t.bound.side], t)],
        "blind": blind_share(units, plan),
    }
    made = _with_details(made, labels, found, about)
    made = promotable(dataclasses.replace(made, reasons=(*made.reasons, *too_few_blind(about["blind"]))), check)
    before_it = [*about_namesakes(trusts, check), *about_plan(trusts, plan)]
    before_it += about_window(units, looks, made.excluded.get("outside_window", 0))
    made = dataclasses.replace(made, reasons=(*before_it, *made.reasons))
    return record(store, units, plan, made, tested=any(t.n for t in found))


def _with_shown(labels: Sample, looks: pd.DataFrame, check: Check, side: Side) -> Sample:
    usable = labels.usable
    return dataclasses.replace(labels, usable=usable.assign(shown=first_shown(usable, looks, check, side)))


def outcome_of(found: Sequence[Tested], guards: Sequence[str]) -> Outcome:
    """Return the outcome of tested bounds, in the order of the contract.

    Examples
    --------
    >>> from check_workbench.plans import Bound
    >>> bound = Bound(side="false_pass", target=0.05, delta=0.1)
    >>> outcome_of([Tested(bound=bound, way="own", delta=0.08)], [])
    'need_labels'
    """
    if any(t.decides_with_taken and not t.certified and not t.too_weak for t in found):
        return "unusable"
    if any(t.too_weak for t in found):
        return "too_weak"
    if all(t.certified for t in found) and not guards:
        return "ready"
    return "need_labels"


def _guards(held: Sequence[tuple[Tested, Region]], labels: Sample, people: Ceiling | None) -> Iterator[str]:
    """Yield what holds back the bounds that hold."""
    for found, region in held:
        yield from violations(region, found, labels)
        yield from out_of_reach(found, people)


def _certificate(
    units: Units,
    plan: Plan,
    labels: Sample,
    found: Sequence[Tested],
    guards: Sequence[str],
) -> Certificate:
    outcome = outcome_of(found, guards)
    deciding = next((t for t in found if not t.certified), found[0])
    needs = [t.labels_needed for t in found]
    known = [need for need in needs if need is not None]
    needed = max(known) if len(known) == len(needs) else None
    return Certificate(
        check=units.check.id,
        change=plan.change,
        outcome=outcome,
        reasons=(
            *_unlabelled(units, plan, labels),
            *_reasons(outcome, labels, found),
            *guards,
            *wording.about_sample(labels, units.notes),
        ),
        n=deciding.n,
        errors=deciding.errors,
        bound=deciding.upper,
        coverage=deciding.coverage,
        labels_needed=None if outcome == "too_weak" or (needed == 0 and outcome != "ready") else needed,
        excluded=labels.excluded,
        plan_digest=plan.digest,
        details={"guards": list(guards), "notes": list(units.notes)},
        subject=units.check,
    )


def _unlabelled(units: Units, plan: Plan, labels: Sample) -> Iterator[str]:
    if labels.usable.empty and not labels.excluded:
        by_proxy = plan.labels == "check" and units.check.process is None
        hint = "; decisions about the work count for it only with --labels work" if by_proxy else ""
        yield f"there are no decisions about this check yet{hint}"


def _reasons(outcome: Outcome, labels: Sample, found: Sequence[Tested]) -> Iterator[str]:
    silence, spent = wording.silence(labels), False
    if silence and outcome != "unusable":
        yield silence
    for t in found:
        if outcome == "unusable" and t.decides_with_taken and not t.certified:
            yield from wording.unusable(labels, t)
        yield from wording.about_bound(t)
        if not spent and t.n:
            spent = True
            yield wording.spent(t)
        yield from wording.about_fit(t, labels.read_by)
        if t.too_weak:
            yield (
                f"too weak: with the numbers of the file the risk is at least {wording.share(t.lower)}, "
                f"above the target {wording.share(t.bound.target)}; more labels will not change that"
            )
        elif outcome != "ready" and not silence:
            yield from wording.about_need(t)
        yield from wording.about_cuts(t, written=outcome == "ready")


def _with_details(
    made: Certificate,
    labels: Sample,
    found: Sequence[Tested],
    about: dict[str, Any],
) -> Certificate:
    changes = [dataclasses.asdict(change) for t in found for change in t.changes] if made.outcome == "ready" else []
    details = {
        **made.details,
        **about,
        "method": labels.method,
        "model": labels.model,
        "bounds": [_bound(t) for t in found],
        "changes": changes,
        "assumed": list(wording.assumed(labels.usable["probability_sampled"])),
        "usable": len(labels.usable),
        "population": len(labels.population),
        "bounced": _bounced(labels),
        "unsure": int((labels.population["verdict"] == "unsure").sum()),
    }
    return dataclasses.replace(made, details=details)


def _bound(found: Tested) -> dict[str, Any]:
    return {
        "side": found.bound.side,
        "target": found.bound.target,
        "delta": found.delta,
        "way": found.way,
        "n": found.n,
        "errors": found.errors,
        "upper": found.upper,
        "lower": found.lower,
        "certified": found.certified,
        "coverage": found.coverage,
        "wealth": found.wealth,
        "further": found.further,
        "unjudged": len(found.unjudged),
        "to_label": list(found.unjudged[: found.further or 0]) if not found.certified else [],
        "labels_for_power": found.power,
        "errors_if_edited_is_good": _if_edited_is_good(found),
        "path": list(found.path),
    }


def _if_edited_is_good(found: Tested) -> int:
    """Return the errors if work that somebody only edited counted as good."""
    labels = found.labels
    if labels is None or labels.empty:
        return 0
    edited = int(labels["edited"].fillna(value=False).astype(bool).sum())
    return found.errors + (edited if found.bound.side == "false_fail" else -edited)


def _bounced(labels: Sample) -> dict[str, int]:
    """Count the good work that the check fails, among all good work."""
    good = labels.usable[~labels.usable["positive"].astype(bool)]
    return {"good": len(good), "failed": int((good["verdict"] == "fail").sum())}
