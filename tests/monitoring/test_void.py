"""A certificate is void once the check asks something else, cuts elsewhere, or another model answers."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

import pytest

import check_workbench as cw
from check_workbench.calibration import looks
from check_workbench.dialects import read_checks
from check_workbench.monitoring.granted import granted, void
from tests.monitoring.watched import Watched, unit
from tests.scenario import Scenario, uniform

if TYPE_CHECKING:
    from pathlib import Path

    from check_workbench.store import Store


def test_another_text_voids(watched: Watched) -> None:
    watched.work(10)
    watched.team.write(0.5, ask="Did the agent fail badly?")
    found = watched.audit()
    assert (found.outcome, found.exit_code, found.strata) == ("void", 1, ())
    assert found.reasons[0].startswith("void: the check asks something else than what was certified")
    assert found.reasons[0].endswith("put the approval back until it is trusted anew")


def test_another_cut_voids_and_both_numbers_are_told(watched: Watched) -> None:
    watched.team.write(0.6)
    found = watched.audit()
    assert (found.outcome, found.exit_code) == ("void", 1)
    assert "flag_at is 0.6, certified was 0.5" in found.reasons[0]


def test_the_certified_cut_put_back_is_valid_again(watched: Watched) -> None:
    watched.team.write(0.6)
    watched.audit()
    watched.team.write(0.5)
    assert watched.audit().outcome == "unlabelled"


def test_a_void_audit_reads_no_label(watched: Watched) -> None:
    watched.work(20)
    watched.decide(list(watched.audit().due["run_id"]))
    watched.team.write(0.6)
    watched.audit()
    assert watched.store.sql("select * from looks where call = 'audit'").empty


def test_answers_of_another_model_void_and_are_counted(watched: Watched) -> None:
    watched.work(10)
    watched.work(3, name="new", model="judge-2")
    found = watched.audit()
    assert (found.outcome, found.exit_code) == ("void", 1)
    assert (
        "answers since come from another method or model (3 by reported judge-2), certified was reported judge-1"
        in found.reasons[0]
    )
    assert found.strata[0].work == 10


def test_answers_of_another_model_before_the_certificate_do_not_void(watched: Watched) -> None:
    watched.team.load(watched.store, [unit("early", -20.0, model="judge-0")])
    assert watched.audit().outcome == "unlabelled"


def test_the_flag_that_makes_a_check_advisory_does_not_count(watched: Watched) -> None:
    (check,) = read_checks(watched.team.check)
    assert cw.audit(dataclasses.replace(check, advisory=True), watched.store).outcome == "unlabelled"
    assert any("still says advisory" in note for note in
               cw.audit(dataclasses.replace(check, advisory=True), watched.store).notes)  # fmt: skip


@pytest.mark.parametrize("name", ["action", "workflow"])
def test_other_flags_do(watched: Watched, name: str) -> None:
    (check,) = read_checks(watched.team.check)
    other = {"action": dataclasses.replace(check, action="halt"), "workflow": dataclasses.replace(check, workflow="w")}
    found = cw.audit(other[name], watched.store)
    assert "its flags, workflow or fixed cut-offs changed" in found.reasons[0]


def test_numbers_that_were_certified_but_never_written_void(store: Store, tmp_path: Path) -> None:
    team = Scenario(folder=tmp_path, flag_at=0.9)
    team.load(store, uniform(900, labelled=400, risk=lambda score: 0.01 if score < 0.6 else 0.9))
    cw.calibrate(team.check, store, goal="recall>=0.9").apply()
    made = cw.trust(team.check, store, plan=cw.plan(change="replace_approval", max_false_pass=0.1))
    assert made[0].changes()
    found = cw.audit(team.check, store)
    assert (found.outcome, "certified was" in found.reasons[0]) == ("void", True)
    cw.calibrate(team.check, store)
    from check_workbench.dialects import apply

    (check,) = read_checks(team.check)
    apply([(check, made[0].changes())])
    assert cw.audit(team.check, store).outcome == "unlabelled"


def test_the_certificate_that_fits_the_document_counts_before_the_latest(watched: Watched) -> None:
    later = cw.trust(watched.team.check, watched.store, plan=cw.plan(change="enforce", max_false_fail=0.2))
    assert later.outcome == "ready"
    (check,) = read_checks(watched.team.check)
    table = looks.ledger(watched.store)
    latest = granted(check, watched.store, table)
    table.loc[table.index[-1], "document"] = "another"
    table["result"].iloc[-1].update(certified_document=None, promoted_document=None)
    fitting = granted(check, watched.store, table)
    assert latest is not None
    assert fitting is not None
    assert (latest.change, fitting.change) == ("enforce", "replace_approval")


def test_a_look_that_knows_no_promoted_document_takes_the_certified_one(watched: Watched) -> None:
    (check,) = read_checks(watched.team.check)
    table = looks.ledger(watched.store)
    for result in table["result"]:
        result.pop("promoted_document", None)
        result.pop("choosing", None)
    found = granted(check, watched.store, table)
    assert found is not None
    assert (list(void(check, found)), found.labels) == ([], "check")
