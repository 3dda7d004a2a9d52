"""Which work is drawn: by a hash of what it is, whatever anybody says about it."""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from check_workbench.monitoring.work import chance
from tests.monitoring.watched import CHANGED, Watched, unit

if TYPE_CHECKING:
    from collections.abc import Sequence


def again(digest: str, runs: Sequence[str]) -> list[str]:
    """Order runs as anybody can, without the workbench."""

    def key(run: str) -> str:
        return hashlib.sha256(json.dumps([digest, run, "", 1]).encode()).hexdigest()

    return sorted(runs, key=key)


def drawn_by(watched: Watched) -> set[str]:
    return set(watched.audit().due["run_id"])


def digest_of(watched: Watched) -> str:
    certificate = watched.audit().certificate
    assert certificate is not None
    return certificate.digest


def test_of_each_week_that_is_over_the_five_smallest_are_drawn(watched: Watched) -> None:
    runs = [u["run"] for u in watched.work(30, days=0.5)]
    digest = digest_of(watched)
    weeks = runs[:14], runs[14:28]
    wanted = {run for week in weeks for run in again(digest, week)[:5]}
    assert {run for run in drawn_by(watched) if run in {*weeks[0], *weeks[1]}} == wanted


def test_a_tenth_is_drawn_where_that_is_more(watched: Watched) -> None:
    runs = [u["run"] for u in watched.work(400, days=0.02)]
    digest = digest_of(watched)
    over = runs[:350]
    wanted = {run for run in over if chance(digest, run, "", 1) < 0.1}
    assert len(wanted) > 5
    assert {run for run in drawn_by(watched) if run in set(over)} == wanted


def test_while_a_week_runs_only_what_stays_drawn_is_due(watched: Watched) -> None:
    first = watched.work(60, days=0.1)
    due = drawn_by(watched)
    digest = digest_of(watched)
    assert due == {u["run"] for u in first if chance(digest, u["run"], "", 1) < 0.1}
    watched.work(20, days=1, name="later")
    assert due <= drawn_by(watched)


def test_neither_labels_nor_scores_move_the_draw(watched: Watched) -> None:
    watched.work(60, days=0.5)
    before, digest = drawn_by(watched), digest_of(watched)
    watched.decide(sorted(before)[::2], bad=True)
    found = watched.audit()
    assert set(found.due["run_id"]) | set(found.strata[0].wrong) >= before
    assert digest_of(watched) == digest


def test_another_certificate_draws_other_work() -> None:
    one, other = ([chance(digest, f"r-{n}", "", 1) for n in range(200)] for digest in ("c1", "c2"))
    assert abs(float(np.corrcoef(one, other)[0, 1])) < 0.2
    assert abs(float(np.mean(one)) - 0.5) < 0.07


def test_states_follow_the_weeks(watched: Watched) -> None:
    watched.work(30, days=0.7)
    states = watched.audit().due.groupby("state").size().to_dict()
    assert states["overdue"] == 5
    assert states["due"] >= 5


def test_work_that_the_certificate_read_is_never_drawn(worked: Watched) -> None:
    assert not any(run.startswith("b-") for run in drawn_by(worked))


def test_test_runs_and_work_before_the_moment_are_not_drawn(watched: Watched) -> None:
    units = [unit(f"t-{n}", n + 0.5, mode="test") for n in range(20)]
    units += [unit(f"old-{n}", -n - 0.5) for n in range(20)]
    watched.team.load(watched.store, units)
    found = watched.audit()
    assert (found.strata[0].work, len(found.due)) == (0, 0)


def test_work_without_a_time_is_told_not_drawn(watched: Watched) -> None:
    units = [{k: v for k, v in unit(f"n-{n}", 1).items() if k != "started_at"} for n in range(7)]
    watched.team.load(watched.store, units)
    found = watched.audit()
    assert found.strata[0].work == 0
    assert found.notes == (
        "7 pieces of work have no time, so it cannot be said whether they came after: none is drawn",
        *found.notes[1:],
    )


ODD: list[dict[str, Any]] = [
    {"started_at": "2199-12-31T23:59:59Z"},
    {"started_at": "2026-06-01T10:00:00"},
    {"started_at": "2026-06-01T10:00:00+14:00"},
    {"workflow": "a'; drop table runs; --"},
    {"session_id": "\N{SNOWMAN}" * 400},
]


@pytest.mark.parametrize("odd", ODD, ids=lambda odd: next(iter(odd.values()))[:20])
def test_odd_work_is_audited_like_any_other(watched: Watched, odd: dict[str, Any]) -> None:
    watched.work(12)
    watched.team.load(watched.store, [unit("odd \"'`%s;\u2603", 3) | odd])
    found = watched.audit()
    assert found.strata[0].work == 13
    watched.decide(list(found.due["run_id"]), bad=False)
    labelled = watched.audit()
    assert labelled.strata[0].labels == len(found.due)
    assert labelled._repr_html_()


def test_decisions_about_unknown_work_or_with_absurd_times_break_nothing(watched: Watched) -> None:
    watched.work(20)
    due = list(watched.audit().due["run_id"])
    watched.team.decide(watched.store, [{"run": "nobody", "bad": True, "decided_at": "2026-07-01"}])
    watched.team.decide(watched.store, [{"run": due[0], "bad": False, "decided_at": "2199-12-31"}])
    watched.team.decide(watched.store, [{"run": due[1], "bad": False}])
    found = watched.audit()
    assert (found.outcome, found.strata[0].labels) == ("clear", 2)


def test_labels_without_a_time_come_last(worked: Watched) -> None:
    due = worked.due
    worked.team.decide(worked.store, [{"run": due[0], "bad": True}])
    worked.decide(due[1:4])
    wealth = worked.audit().strata[0].wealth
    assert wealth[2] < wealth[3]


def test_much_work_costs_little(watched: Watched) -> None:
    watched.team.load(watched.store, [unit(f"m-{n:05d}", 0.002 * (n + 1)) for n in range(4000)])
    found = watched.audit()
    assert found.strata[0].work == 4000
    assert found.strata[0].drawn == pytest.approx(400, abs=80)
    assert min(found.due["when"]) > CHANGED
