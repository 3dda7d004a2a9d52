"""What an audit concludes: clear, alarm, or nothing to audit, and what it counts."""

from __future__ import annotations

import json
import shutil
from datetime import timedelta
from typing import TYPE_CHECKING

import pytest

import check_workbench as cw
from check_workbench.errors import InputError
from check_workbench.monitoring.strata import evidence
from check_workbench.stats.intervals import clopper_pearson
from tests.monitoring.conftest import STORE
from tests.monitoring.watched import CHANGED, Watched, unit
from tests.scenario import Scenario

if TYPE_CHECKING:
    from pathlib import Path

    from check_workbench.store import Store


def test_without_a_ready_trust_decision_there_is_nothing_to_audit(store: Store, tmp_path: Path) -> None:
    team = Scenario(folder=tmp_path)
    found = cw.audit(team.check, store)
    assert (found.outcome, found.exit_code, found.strata) == ("no_certificate", 0, ())
    assert "check-workbench trust makes one" in found.reasons[0]
    assert len(found.due) == 0
    assert store.sql("select * from looks where call = 'audit'").empty


def test_a_decision_that_was_not_ready_is_no_certificate(store: Store, tmp_path: Path) -> None:
    team = Scenario(folder=tmp_path)
    cw.trust(team.check, store, plan=cw.plan())
    assert cw.audit(team.check, store).outcome == "no_certificate"


def test_without_work_since_it_says_so(watched: Watched) -> None:
    found = watched.audit()
    assert (found.outcome, found.exit_code) == ("unlabelled", 0)
    assert found.certificate is not None
    assert found.certificate.moment == CHANGED
    assert "nothing to audit yet" in found.reasons[0]


def test_work_that_nobody_labelled_is_due_and_no_alarm(worked: Watched) -> None:
    found = worked.audit()
    (first,) = found.strata
    assert (found.outcome, first.work, first.labels, first.undecided) == ("unlabelled", 40, 0, first.drawn)
    assert 25 <= first.drawn <= 29
    assert len(found.due) == first.drawn
    assert first.worst
    assert first.overdue == 20
    said = f"{first.drawn} of {first.drawn} drawn first submissions are undecided, 20 overdue"
    assert f"{said}; were each an error, the alarm would ring" in found.reasons
    assert found.reasons[-1] == "label the due work blind; until then the audit says little"


def test_good_labels_keep_it_clear(worked: Watched) -> None:
    worked.decide(worked.due)
    (first,) = worked.audit().strata
    assert (first.errors, first.alarm, first.evidence < 1) == (0, False, True)
    assert first.interval == clopper_pearson(0, first.labels)
    assert first.always.low == 0
    assert worked.audit().reasons[-1] == "no alarm: the evidence against the certificate has not reached its limit"


def test_errors_raise_the_alarm_and_stay_told(watched: Watched) -> None:
    watched.work(60)
    due = list(watched.audit().due["run_id"])
    watched.decide(due[:8], bad=True)
    found = watched.audit()
    (first,) = found.strata
    needed = evidence([True] * 8, target=0.1, false_alarm=0.05).reached
    assert (found.outcome, found.exit_code, first.reached) == ("alarm", 1, needed)
    assert found.reasons[0] == (
        "alarm: first submissions err more often than certified, bad among passed is above 10.0 %: "
        f"the evidence reached 20 after {needed} labels; put the approval back"
    )
    assert first.wrong == tuple(due[:8])
    watched.decide(due[8:])
    again = watched.audit()
    assert (again.outcome, again.strata[0].reached) == ("alarm", needed)


def test_an_alarm_stands_when_labels_with_an_earlier_time_come_late(watched: Watched) -> None:
    watched.work(60)
    due = list(watched.audit().due["run_id"])
    watched.decide(due[:3], bad=True)
    needed = watched.audit().strata[0].reached
    assert needed is not None
    early = [(CHANGED + timedelta(days=100, minutes=place)).isoformat() for place in range(len(due) - 3)]
    late = [{"run": run, "bad": False, "decided_at": at} for run, at in zip(due[3:], early, strict=True)]
    watched.team.decide(watched.store, late)
    found = watched.audit()
    assert (found.outcome, found.exit_code, found.strata[0].alarm) == ("alarm", 1, False)
    assert found.reasons[0] == (
        f"alarm: an earlier audit raised it for first submissions after {needed} labels; the labels have changed since "
        "and would not raise it, but an alarm stands until trust decides anew; put the approval back"
    )
    assert found.to_json()["standing"] == [{"name": "first submissions", "labels": needed}]
    assert found.reasons[0] in found._repr_html_()
    assert "no alarm" not in repr(found)
    assert repr(watched.audit()) == repr(found)


def test_a_new_certificate_begins_without_alarms(watched: Watched) -> None:
    watched.work(60)
    watched.decide(list(watched.audit().due["run_id"])[:8], bad=True)
    assert watched.audit().outcome == "alarm"
    again = cw.trust(watched.team.check, watched.store, plan=cw.plan(change="enforce", max_false_fail=0.2))
    assert again.outcome == "ready"
    assert watched.audit().outcome == "unlabelled"


def test_labels_of_work_that_was_not_drawn_do_not_count(watched: Watched) -> None:
    units = watched.work(200, days=0.1)
    drawn = set(watched.audit().due["run_id"])
    chosen = [u["run"] for u in units if u["run"] not in drawn][:30]
    watched.decide(chosen, bad=True)
    found = watched.audit()
    (first,) = found.strata
    assert (found.outcome, first.labels, first.unasked, first.unasked_errors) == ("unlabelled", 0, 30, 30)
    assert any("somebody chose them: 30 blind labels of first submissions, 30 errors" in r for r in found.reasons)


@pytest.mark.parametrize("seen", ["true", ""])
def test_labels_that_are_not_blind_do_not_count(worked: Watched, seen: str) -> None:
    due = worked.due
    worked.decide(due, bad=True, seen=seen)
    found = worked.audit()
    assert (found.outcome, found.strata[0].labels) == ("unlabelled", 0)
    assert list(found.due["run_id"])[: len(due)] == due
    assert f"{len(due)} drawn pieces of work were decided, but not blind: they stay due" in found.notes


def test_people_who_disagree_leave_work_due(worked: Watched) -> None:
    due = worked.due[:3]
    worked.decide(due, bad=True, decided_by="ana")
    worked.decide(due, bad=False, decided_by="ben")
    found = worked.audit()
    assert found.strata[0].labels == 0
    assert any(note.startswith("6 decisions about runs with due work made no label") for note in found.notes)


def test_enforcing_audits_what_fails_and_good_work_is_the_error(store: Store, tmp_path: Path) -> None:
    made = Watched(store=store, team=Scenario(folder=tmp_path))
    made.certify(cw.plan(change="enforce", max_false_fail=0.2))
    made.work(30, p=0.9)
    made.work(30, name="c")
    due = list(made.audit().due["run_id"])
    assert {run[0] for run in due} == {"a"}
    made.decide(due, bad=True)
    assert made.audit().strata[0].errors == 0
    made.decide(due, bad=False)
    made.decide(due, bad=False, decided_by="another")
    found = made.audit()
    assert (found.outcome, found.strata[0].errors) == ("alarm", len(due))
    assert "good among failed is above 20.0 %" in found.reasons[0]
    assert found.reasons[0].endswith("make the check advisory again")


def test_the_worst_reading_turns_once_little_is_open(watched: Watched) -> None:
    watched.work(70)
    due = list(watched.audit().due["run_id"])
    watched.decide(due[:-2])
    (first,) = watched.audit().strata
    late = list(watched.audit().due["run_id"])
    assert (first.undecided, first.worst) == (len(late), False)
    assert "the alarm would still be silent" in " ".join(watched.audit().reasons)


def test_it_reads_labels_and_says_so_in_the_ledger_once(worked: Watched) -> None:
    worked.audit()
    assert worked.store.sql("select * from looks where call = 'audit'").empty
    worked.decide(worked.due[:5])
    first, again = worked.audit(), worked.audit()
    assert json.dumps(first.to_json()) == json.dumps(again.to_json())
    assert repr(first) == repr(again)
    assert first._repr_html_() == again._repr_html_()
    looks = worked.store.sql("select change, json_array_length(labels) as n from looks where call = 'audit'")
    assert looks.to_dict("records") == [{"change": "replace_approval", "n": 5}]


def test_a_cut_moved_after_an_audit_was_not_fixed_before_its_labels(worked: Watched) -> None:
    from check_workbench.calibration import looks

    worked.decide(worked.due[:5])
    before = looks.read_before(looks.ledger(worked.store), CHANGED.replace(year=2200))
    worked.audit()
    after = looks.read_before(looks.ledger(worked.store), CHANGED.replace(year=2200))
    assert len(after - before) == 5


def test_a_store_that_is_open_to_read_only_can_be_audited(with_work: tuple[Path, list[str]], tmp_path: Path) -> None:
    folder, due = with_work
    path = shutil.copyfile(folder / STORE, tmp_path / STORE)
    team = Scenario(folder=tmp_path, loads=19)
    with cw.open(path) as store:
        Watched(store=store, team=team).decide(due[:5])
    with cw.open(path, read_only=True) as store:
        found = cw.audit(team.check, store)
    assert found.strata[0].labels == 5
    assert "the store is open to read only, so this look at the labels is not recorded" in found.notes


def test_one_check_is_audited_at_a_time(watched: Watched) -> None:
    other = watched.team.check.with_name("other.check.yaml")
    other.write_text(watched.team.check.read_text().replace("id: failed", "id: other"))
    with pytest.raises(InputError, match="audit takes one check, got 2"):
        cw.audit(watched.team.folder, watched.store)


def test_a_later_look_that_speaks_against_it_is_told(watched: Watched) -> None:
    watched.team.decide(
        watched.store,
        [{"run": f"b-{n:03d}", "bad": True, "decided_by": who, "decided_at": "2026-05-01"} for n in range(150)
         for who in ("ana", "ben")],
    )  # fmt: skip
    later = cw.trust(watched.team.check, watched.store, plan=cw.plan(change="replace_approval", max_false_pass=0.1))
    assert later.outcome == "too_weak"
    assert "warning: a later look at the same change came to too_weak" in watched.audit().reasons


def test_labels_without_a_time_make_the_look_the_moment(store: Store, tmp_path: Path) -> None:
    team = Scenario(folder=tmp_path)
    team.load(store, [{"run": f"r-{n}", "p": 0.1, "bad": False} for n in range(60)])
    cw.trust(team.check, store, plan=cw.plan(change="replace_approval", max_false_pass=0.1))
    found = cw.audit(team.check, store)
    assert found.certificate is not None
    assert found.certificate.moment == store.sql("select \"at\" from looks where call = 'trust'")["at"][0]
    assert "on labels without a time, by the look of" in repr(found)


def test_decisions_about_the_work_count_where_the_certificate_counted_them(store: Store, tmp_path: Path) -> None:
    made = Watched(store=store, team=Scenario(folder=tmp_path))
    before = [unit(f"b-{n:03d}", n - 100, bad=False, check_id="", decision="approved") for n in range(60)]
    made.team.load(store, before)
    plan = cw.plan(change="replace_approval", max_false_pass=0.1, labels="work")
    assert cw.trust(made.team.check, store, plan=plan).outcome == "ready"
    made.work(80)
    due = list(made.audit().due["run_id"])
    made.decide(due, check_id="", decision="rejected")
    assert made.audit().strata[0].errors == len(due)


def test_a_second_bound_is_told_as_not_followed(store: Store, tmp_path: Path) -> None:
    made = Watched(store=store, team=Scenario(folder=tmp_path))
    made.certify(cw.plan(change="replace_approval", max_false_pass=0.1, max_false_fail=0.2))
    assert "the certificate bounds good among failed as well, which this audit does not follow" in made.audit().notes
