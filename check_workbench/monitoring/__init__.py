"""Whether the certified risk still holds, after a check was enforced or has replaced an approval."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from check_workbench.calibration import looks as ledger
from check_workbench.calibration.units import decision_keys, gather_as_read
from check_workbench.certificates.wording import many
from check_workbench.errors import InputError
from check_workbench.evaluation import evaluate, read, require_store
from check_workbench.monitoring.granted import granted, void
from check_workbench.monitoring.handing import hand_out
from check_workbench.monitoring.outcome import Audit
from check_workbench.monitoring.signals import signals
from check_workbench.monitoring.standing import raised, standing
from check_workbench.monitoring.strata import strata
from check_workbench.monitoring.words import ERRORS
from check_workbench.monitoring.work import DUE, nothing_due, since

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pandas as pd

    from check_workbench.calibration.units import Units
    from check_workbench.checks import Check
    from check_workbench.monitoring.granted import Granted
    from check_workbench.monitoring.work import Work
    from check_workbench.store import Store

_ABOUT_DUE = """
    select count(*) as n from decisions where (check_id = ? or check_id is null)
    and list_contains(?::varchar[], run_id) and not list_contains(?::bigint[], decision_key)
"""

__all__ = ["Audit", "audit"]


def audit(check: Check | str | Path, store: Store, sheet: str | Path | None = None) -> Audit:
    """Audit a trusted check on the work that came after its certificate.

    A tenth of the work that nobody looks at any more is drawn, or five pieces a week where that is more, by a rule
    that anybody can repeat. Only blind labels of drawn work count. They feed a bet against the certified risk, which
    may be looked at after each label: first submissions and resubmissions each on their own. Another text, other
    cut-offs than the certified ones or another model make the certificate void. The labels that were read are noted
    in the store.

    Parameters
    ----------
    check
        One check, or a file or `FILE#ID` that holds one.
    store
        Runs, decisions and answers, and the ledger with the trust decision.
    sheet
        A CSV file to write with the due work, for people to label blind; `Store.load_decisions` reads it back.

    Returns
    -------
    Audit
        Without a ready trust decision it says so, and is no alarm.

    Raises
    ------
    InputError
        If the document cannot be read or holds several checks, or a sheet is wanted and there is nothing to label, or
        it cannot be written.

    Notes
    -----
    Source: Waudby-Smith and Ramdas (2024), JRSS B 86, for the bets. Labels count in the order of `decided_at`. An alarm
    stands until `trust` decides anew: a label that comes late with an earlier time, or a decision that is changed or
    deleted, can lower the evidence, but takes back no alarm that an audit has shown. Each drawn piece of work is taken
    to be as likely an error as the certified risk says, given those before it: copies of one piece break that.
    """
    require_store(store)
    found = read(check)
    if len(found) != 1:
        names = ", ".join(one.id for one in found)
        raise InputError(f"audit takes one check, got {len(found)}: {names}. Name one as FILE#ID.")
    made, due = _made(found[0], store)
    if sheet is not None:
        hand_out(found[0], due, store, Path(sheet))
    return made


def _made(check: Check, store: Store) -> tuple[Audit, pd.DataFrame]:
    """Return the audit, and the due work with all that is known of it."""
    certificate = granted(check, store, ledger.ledger(store))
    changed = () if certificate is None else tuple(void(check, certificate))
    if certificate is None or changed:
        nothing = nothing_due()
        return Audit(check=check.id, certificate=certificate, void=changed, strata=(), signals=(), due=nothing), nothing
    return _audited(check, store, certificate)


def _audited(check: Check, store: Store, certificate: Granted) -> tuple[Audit, pd.DataFrame]:
    before = ledger.ledger(store)
    scores = evaluate(check, store).scores
    units = gather_as_read(check, store, scores, kind=certificate.labels, reads=ledger.reads(before))
    work = since(units, store, certificate)
    labelled = work.after[work.after["labelled"]]
    found = strata(check, work.after, certificate)
    seen = ledger.Look(
        call="audit",
        labels=decision_keys(labelled),
        change=certificate.change,
        result=raised(found, certificate),
    )
    recorded = ledger.record(store, check, seen) if len(labelled) else True
    due = work.after[work.after["drawn"] & (work.after["state"] != "done")]
    made = Audit(
        check=check.id,
        certificate=certificate,
        void=tuple(_other_models(work, certificate)),
        strata=found,
        standing=standing(check, certificate, before, found),
        signals=signals(units, work, certificate),
        due=due[list(DUE)].reset_index(drop=True),
        notes=(*units.notes, *_notes(check, work, certificate, recorded=recorded), *_no_labels(due, units, store)),
    )
    return made, due


def _no_labels(due: pd.DataFrame, units: Units, store: Store) -> Iterator[str]:
    """Tell of decisions about due work that make no label."""
    told = decision_keys(units.labelled)
    found = store.sql(_ABOUT_DUE, [units.check.id, due["run_id"].tolist(), told])
    count = int(found["n"].iloc[0])
    if count:
        yield (
            f"{many(count, 'decision')} about runs with due work made no label: people disagree with no majority, or "
            "it says neither good nor bad, was replaced, or is about something else"
        )


def _other_models(work: Work, certificate: Granted) -> Iterator[str]:
    certified = " ".join(filter(None, (certificate.method, certificate.model))) or "unknown"
    if work.others:
        counts = ", ".join(f"{count} by {name}" for name, count in sorted(work.others.items()))
        yield f"answers since come from another method or model ({counts}), certified was {certified}"


def _notes(check: Check, work: Work, certificate: Granted, *, recorded: bool) -> Iterator[str]:
    if check.advisory:
        yield "the file still says advisory: the change that was certified has not been made"
    if work.undated:
        yield f"{work.undated} pieces of work have no time, so it cannot be said whether they came after: none is drawn"
    if work.leap is not None:
        last, before = (f"{moment:%Y-%m-%d}" for moment in work.leap)
        yield f"the last time recorded is {last}, the one before it {before}: weeks count as over up to the last one"
    seen = int((work.after["drawn"] & work.after["labelled"] & work.after["seen"]).sum())
    if seen:
        yield f"{seen} drawn pieces of work were decided, but not blind: they stay due"
    if certificate.unwatched:
        sides = " and ".join(ERRORS[side] for side in certificate.unwatched)
        yield f"the certificate bounds {sides} as well, which this audit does not follow"
    if not recorded:
        yield "the store is open to read only, so this look at the labels is not recorded"
