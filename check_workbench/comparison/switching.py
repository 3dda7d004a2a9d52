"""What would have happened had the check decided on its own: lately, and over everything."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from typing import TYPE_CHECKING, Any

from check_workbench.comparison.counting import share
from check_workbench.errors import InputError

if TYPE_CHECKING:
    import pandas as pd

SIX_WEEKS = timedelta(weeks=6)


def moment(since: str | date | None) -> datetime | None:
    """Return the moment from which decisions are counted, UTC; None leaves it to the decisions.

    Raises
    ------
    InputError
        If it is no date.

    Examples
    --------
    >>> moment("2026-01-05"), moment("2026-01-05T10:00:00+02:00")
    (datetime.datetime(2026, 1, 5, 0, 0), datetime.datetime(2026, 1, 5, 8, 0))
    """
    try:
        given = datetime.fromisoformat(since) if isinstance(since, str) else since
        if isinstance(given, datetime) and given == given:  # noqa: PLR0124 a missing time of pandas is none
            return given.astimezone(UTC).replace(tzinfo=None) if given.tzinfo else given
    except (ValueError, OverflowError) as error:
        raise InputError(f"since must be a date such as 2026-01-05, got {since!r}.") from error
    if isinstance(given, date) and not isinstance(given, datetime):
        return datetime(given.year, given.month, given.day)  # noqa: DTZ001 the store's times have no zone
    if given is not None:
        raise InputError(f"since must be a date such as 2026-01-05, got {type(given).__name__}.")
    return None


def switched(rows: pd.DataFrame, since: datetime | None = None) -> list[dict[str, Any]]:
    """Count what a switch to either change would have done, over first submissions.

    Parameters
    ----------
    rows
        Compared units.
    since
        From when on work is counted; None takes six weeks before the latest. Work is as old as its run, or as the
        decision where the run has no time. Work without either is counted over everything only.

    Returns
    -------
    list of dict
        Both changes since then, if any work has a time, and both over everything: how much work nobody would have
        looked at, since the check bounces it or, where it replaces the approval, passes it; how much bad work would
        have passed, of all that passes; and how much good work would have been bounced, of all good work. Each with its
        share, exact 95 % interval and, where something went wrong, its units. Only blind decisions are counted where a
        period has any, else `blind` is false. `dated_by_decision` counts work whose run has no time, and `later` the
        verdicts that were given after the decision.
    """
    first = rows[rows["attempt"] == 1]
    times = {name: first[name].astype("datetime64[us]") for name in ("started_at", "decided_at", "answered_at")}
    first = first.assign(
        at=times["started_at"].fillna(times["decided_at"]),
        by_decision=times["started_at"].isna() & times["decided_at"].notna(),
        later=times["answered_at"] > times["decided_at"],
    )
    known = first["at"].dropna()
    if known.empty:
        return _period(first, None)
    start = since or (known.max().to_pydatetime() - SIX_WEEKS)
    return [*_period(first[first["at"] >= start], start), *_period(first, None)]


def _period(rows: pd.DataFrame, since: datetime | None) -> list[dict[str, Any]]:
    blind = rows[rows["blind"].astype(bool)]
    base = blind if len(blind) else rows
    until = base["at"].max() if base["at"].notna().any() else None
    about = {
        "since": since.isoformat() if since else None,
        "until": until.isoformat() if until is not None else None,
        "of": len(base),
        "blind": bool(len(blind)),
        "dated_by_decision": int(base["by_decision"].sum()),
        "later": int(base["later"].sum()),
    }
    return [{"change": change, **about, **_done(base, change)} for change in ("enforce", "replace_approval")]


def _done(base: pd.DataFrame, change: str) -> dict[str, Any]:
    passed, failed = base["verdict"] == "pass", base["verdict"] == "fail"
    bad, good = base["label"] == "bad", base["label"] == "good"
    n = len(base)
    through = passed if change == "replace_approval" else passed & False
    return {
        "unattended": share(int((through | failed).sum()), n),
        "bad_passed": _with_units(base, through & bad, int(through.sum())),
        "good_bounced": _with_units(base, failed & good, int(good.sum())),
        "good_among_failed": share(int((failed & good).sum()), int(failed.sum())),
        "unsure": share(int((~passed & ~failed).sum()), n),
    }


def _with_units(base: pd.DataFrame, hit: pd.Series[bool], n: int) -> dict[str, Any]:
    return {**share(int(hit.sum()), n), "units": base.loc[hit, "unit"].tolist()}
