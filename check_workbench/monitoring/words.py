"""An audit in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from check_workbench.certificates.wording import many
from check_workbench.monitoring.outcome import NOTHING, SHOWN
from check_workbench.monitoring.strata import FIRST
from check_workbench.stats.intervals import percent

if TYPE_CHECKING:
    from collections.abc import Iterator

    from check_workbench.monitoring.granted import Granted
    from check_workbench.monitoring.outcome import Audit
    from check_workbench.monitoring.standing import Standing
    from check_workbench.monitoring.strata import Stratum

ERRORS = {"false_pass": "bad among passed", "false_fail": "good among failed"}
REMEDY = {
    "replace_approval": "put the approval back",
    "enforce": "make the check advisory again",
}
PLEASED = "the certificate never spoke of them: an agent that is checked learns to please the check"
RESTS = "label the due work blind; until then the audit says little"


def reasons(audit: Audit) -> Iterator[str]:
    """Yield the outcome in words, the gravest first."""
    held = audit.certificate
    if held is None:
        yield NOTHING
        return
    yield from (f"void: {words}; {REMEDY[held.change]} until it is trusted anew" for words in audit.void)
    yield from (_alarm(stratum, held) for stratum in audit.strata if stratum.alarm)
    yield from (_stands(alarm, held) for alarm in audit.standing)
    yield from (f"warning: {s.said} (p {s.p:.2g})" for s in audit.signals if s.warns)
    yield from (words for stratum in audit.strata for words in _missing(stratum))
    if held.contradicted is not None:
        yield f"warning: a later look at the same change came to {held.contradicted}"
    if audit.outcome in {"clear", "unlabelled"}:
        yield _clear(audit, held)


def lines(audit: Audit) -> Iterator[str]:
    """Yield everything that an audit found, without its outcome."""
    held = audit.certificate
    if held is not None:
        yield (
            f"certificate {held.digest[:8]}: {held.change}, {ERRORS[held.side]} ≤ {percent(held.target)}, {upto(held)}"
        )
    yield from reasons(audit)
    yield from (found(stratum) for stratum in audit.strata)
    if len(audit.due):
        more = f" and {len(audit.due) - SHOWN} more" if len(audit.due) > SHOWN else ""
        yield f"label next, blind: {', '.join(audit.units[:SHOWN])}{more}"
    yield from (f"note: {note}" for note in audit.notes)


def upto(held: Granted) -> str:
    """Say from when on work counts as work after the certificate."""
    how = "on labels up to" if held.dated else "on labels without a time, by the look of"
    return f"{how} {held.moment:%Y-%m-%d %H:%M}"


def found(stratum: Stratum) -> str:
    """Return the counts of a stratum, its risk and its evidence in one line."""
    counts = f"{stratum.name}: {stratum.work} since, {stratum.drawn} drawn, {many(stratum.labels, 'blind label')}"
    if stratum.interval is None:
        return counts
    low, high = stratum.interval
    risk = f"risk {percent(stratum.errors / stratum.labels)} [{percent(low)}, {percent(high)}]"
    always = f"whenever looked at between {percent(stratum.always.low)} and {percent(stratum.always.high)}"
    proof = f"evidence {stratum.evidence:.3g} of {stratum.limit:g}"
    return f"{counts}, {many(stratum.errors, 'error')}: {risk}, {always}; {proof}"


def _alarm(stratum: Stratum, held: Granted) -> str:
    words = (
        f"alarm: {stratum.name} err more often than certified, {ERRORS[held.side]} is above {percent(held.target)}: "
        f"the evidence reached {stratum.limit:g} after {many(stratum.reached or 0, 'label')}; {REMEDY[held.change]}"
    )
    return words if stratum.name == FIRST else f"{words} for them ({PLEASED})"


def _stands(alarm: Standing, held: Granted) -> str:
    return (
        f"alarm: an earlier audit raised it for {alarm.name} after {many(alarm.labels, 'label')}; the labels have "
        f"changed since and would not raise it, but an alarm stands until trust decides anew; {REMEDY[held.change]}"
    )


def _missing(stratum: Stratum) -> Iterator[str]:
    if stratum.undecided:
        late = f", {stratum.overdue} overdue" if stratum.overdue else ""
        would = "the alarm would ring" if stratum.worst else "the alarm would still be silent"
        worst = "" if stratum.alarm else f"; were each an error, {would}"
        yield f"{stratum.undecided} of {stratum.drawn} drawn {stratum.name} are undecided{late}{worst}"
    if stratum.unasked:
        chosen = f"{many(stratum.unasked, 'blind label')} of {stratum.name}, {many(stratum.unasked_errors, 'error')}"
        yield f"not drawn, so not counted, because somebody chose them: {chosen}"


def _clear(audit: Audit, held: Granted) -> str:
    if not any(stratum.labels for stratum in audit.strata):
        since = any(stratum.work for stratum in audit.strata)
        return RESTS if since else f"no work since {held.moment:%Y-%m-%d %H:%M}: nothing to audit yet"
    return "no alarm: the evidence against the certificate has not reached its limit"
