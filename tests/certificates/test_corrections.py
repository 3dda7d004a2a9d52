"""Corrections and certificates: what a look has read is not talked away, and what changed before it counts."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import check_workbench as cw
from check_workbench.decisions.last_words import replaced
from check_workbench.labels.blindness import Blindness
from check_workbench.labels.reading import Read, Reads, Said, came_late
from tests.certificates.draws import DELTA, decide, rows
from tests.certificates.test_abuse import BAD_RISK
from tests.certificates.test_roads import DRAWS, most
from tests.scenario import uniform

if TYPE_CHECKING:
    from numpy.typing import NDArray

PLAN = cw.plan(change="replace_approval", max_false_pass=0.10)
BEFORE, LOOK, AFTER = (datetime(2026, 10, day) for day in (1, 2, 3))  # noqa: DTZ001 the store's times have no zone


def units(n: int = 120, *, errors: int = 9) -> list[dict[str, Any]]:
    """Return labelled work that the check passes, of which the first is bad."""
    made = [{**u, "p": 0.1, "decided_by": "ann"} for u in uniform(n, labelled=n, risk=lambda _: 0.0)]
    return [{**u, "bad": place < errors} for place, u in enumerate(made)]


def corrected(some: list[dict[str, Any]], **fields: Any) -> list[dict[str, Any]]:
    return [{**u, "bad": False, **fields} for u in some if u["bad"]]


@pytest.mark.parametrize("by", ["ann", "ANN", "ben", ""])
def test_correcting_just_the_errors_after_a_look_changes_nothing_and_is_told(store, team, by):
    team.load(store, units())
    first = cw.trust(team.check, store, plan=PLAN)
    assert (first.outcome, first.n, first.errors) == ("need_labels", 120, 9)
    team.decide(store, corrected(units(), decided_by=by))
    again = cw.trust(team.check, store, plan=PLAN)
    assert (again[0].repeated, again.outcome, again.n, again.errors) == (True, "need_labels", 120, 9)
    assert again[0].excluded == {"after_look": 9}
    assert again.reasons[-1] == (
        "9 decisions came after a call had read blind labels of the same work, and would change 9 labels: 9 errors of "
        "the check would be gone, but still count; 0 errors would be new, and count"
    )
    assert cw.trust(team.check, store, plan=PLAN).full_json() == again.full_json()
    found = cw.compare(team.check, store)
    assert found.left_out == ({"superseded": 9} if by.lower() == "ann" else {"annotators_disagree": 18})


def test_a_later_look_counts_new_labels_beside_those_that_were_read(store, team):
    team.load(store, units())
    cw.trust(team.check, store, plan=PLAN)
    team.decide(store, corrected(units()))
    team.load(store, [{**u, "run": f"s-{u['run']}"} for u in units(30, errors=0)])
    second = cw.trust(team.check, store, plan=PLAN)
    assert (second[0].details["look"], second.n, second.errors) == (2, 150, 9)
    assert second[0].excluded == {"after_look": 9}
    assert sum("would be gone, but still count" in reason for reason in second.reasons) == 1


@pytest.mark.parametrize("call", [cw.compare, cw.calibrate])
def test_other_calls_that_read_labels_are_looks_as_well(store, team, call):
    team.load(store, units())
    call(team.check, store)
    team.decide(store, corrected(units()))
    assert (found := cw.trust(team.check, store, plan=PLAN)).errors == 9
    assert found[0].excluded == {"after_look": 9}


def test_a_correction_before_any_look_counts_everywhere_and_what_it_replaces_is_named(store, team):
    team.load(store, units())
    team.decide(store, corrected(units()))
    assert cw.compare(team.check, store).left_out == {"superseded": 9}
    assert "9 left out: replaced by a later word of the same person (superseded)" in repr(
        cw.calibrate(team.check, store)
    )
    found = cw.trust(team.check, store, plan=PLAN)
    assert (found.outcome, found.n, found.errors, found[0].excluded) == ("ready", 120, 0, {"superseded": 9})


def test_a_correction_in_sight_of_the_verdict_takes_no_error_away(store, team):
    """Nobody called trust, but whoever knows the verdicts could drop the errors by owning up to it."""
    team.load(store, units())
    team.decide(store, corrected(units(), seen="true"))
    found = cw.trust(team.check, store, plan=PLAN)
    assert (found.n, found.errors, found[0].excluded) == (120, 9, {"not_blind_beside_blind": 9})


def test_an_error_that_is_found_after_a_look_counts(store, team):
    team.load(store, units(errors=0))
    assert cw.trust(team.check, store, plan=PLAN).outcome == "ready"
    late = [{**u, "bad": place < 4} for place, u in enumerate(units()[:6])]
    team.decide(store, [{**u, "note": "again"} for u in late])
    again = cw.trust(team.check, store, plan=PLAN)
    assert (again[0].repeated, again.n, again.errors) == (False, 120, 4)
    assert again[0].excluded == {"after_look": 2, "superseded": 4}
    assert any("0 errors of the check would be gone" in reason for reason in again.reasons)
    assert any("4 errors would be new, and count" in reason for reason in again.reasons)
    assert cw.trust(team.check, store, plan=PLAN)[0].repeated


def test_rework_that_was_not_recorded_is_told(store, team, tmp_path):
    """Every rejection is followed by an approval: the errors are no labels, and the report says so."""
    team.load(store, [{**u, "bad": None} for u in units()])
    words = [(u["run"], word) for u in units() for word in (["rejected"] if u["bad"] else []) + ["approved"]]
    lines = [f"{run},{word},ann,2026-10-0{1 + (word == 'approved')}T00:00:00Z,false" for run, word in words]
    path = tmp_path / "work.csv"
    path.write_text("\n".join(["run_id,decision,decided_by,decided_at,verdict_seen", *lines]) + "\n", encoding="utf-8")
    store.load_decisions(path)
    found = cw.trust(team.check, store, plan=cw.plan("replace_approval", max_false_pass=0.10, labels="work"))
    assert (found.n, found.errors, found[0].excluded) == (111, 0, {"annotators_disagree": 18})
    assert any("of 9 units one person, or nobody named," in reason for reason in found.reasons)


def read_as(bad: NDArray[np.bool_], *, kept: bool) -> NDArray[np.bool_]:
    """Return the labels after just the errors were corrected, as a certificate reads them or naively."""
    told = [(place, "problem" if is_bad else "no_problem", 0, BEFORE) for place, is_bad in enumerate(bad)]
    told += [(place, "no_problem", 1, AFTER) for place in np.flatnonzero(bad).tolist()]
    said = [
        Said(
            row={
                "decision_key": key, "decision": word, "check_id": "c", "attempt": None,
                "decided_at": None, "source_key": source, "loaded_at": at,
            },
            unit=(f"r{place}", None),
            blindness=Blindness(by="said"),
        )
        for key, (place, word, source, at) in enumerate(told)
    ]  # fmt: skip
    reads = [Read(at=LOOK, keys=frozenset(range(len(bad))))] if kept else []
    late = came_late(said, Reads(reads))
    there = [one for one in said if one.row["decision_key"] not in late]
    gone = replaced((one.unit, one.row) for one in there)
    words = {one.unit: one.row["decision"] == "problem" for one in there if one.row["decision_key"] not in gone}
    return np.array([words[f"r{place}", None] for place in range(len(bad))])


@pytest.mark.slow
def test_errors_that_are_corrected_after_the_first_look_certify_no_bad_check() -> None:
    """Each draw looks once, corrects exactly the disagreements, labels a little more, and looks again."""
    rng = np.random.default_rng(12)
    naive = ours = 0
    few = 40
    for draw in range(DRAWS):
        bad, more = rng.random(120) < BAD_RISK, rng.random(30) < BAD_RISK
        first = rows(np.full(120, 0.1), bad)
        certified = decide(first, first).certified
        ours += certified or _later(read_as(bad, kept=True), more)
        naive += draw < few and (certified or _later(read_as(bad, kept=False), more))
    assert naive / few > 0.50
    assert ours / DRAWS <= most(DELTA)


def _later(read: NDArray[np.bool_], more: NDArray[np.bool_]) -> bool:
    labels = rows(np.full(len(read) + len(more), 0.1), np.concatenate([read, more]))
    return decide(labels, labels, first=False).certified
