from __future__ import annotations

import json
import re
import shutil
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import check_workbench as cw
from check_workbench.calibration import looks
from check_workbench.calibration.outcome import MIME
from check_workbench.calibration.units import gather
from check_workbench.certificates.hygiene import sample
from check_workbench.cli import main
from check_workbench.errors import InputError
from check_workbench.samples import sample_data
from check_workbench.store import open_store
from tests.calibration.test_composite import PROCESS, work
from tests.changes.conftest import write_loop
from tests.scenario import Scenario, uniform
from tests.workshop import put_decisions, put_runs, run

if TYPE_CHECKING:
    from collections.abc import Iterator

    from check_workbench.changes import Gate
    from check_workbench.store import Store

PLAN = cw.plan(change="replace_approval", max_false_pass=0.1)
RUN_END = "id: ends\nkind: rule\nrule: { type: run_end }\n"


def state(gate: Gate, condition: str, of: str | None = None) -> str:
    (found,) = (c.state for c in gate.cases if c.condition == condition and of in {None, c.of})
    return found


def words(gate: Gate, condition: str) -> str:
    (found,) = (c.words for c in gate.cases if c.condition == condition)
    return found


def failed(gate: Gate) -> list[str]:
    return [case.condition for case in gate.cases if case.state == "failed"]


def entry_of(team: Scenario) -> dict[str, Any]:
    text = (team.folder / "calibration.lock").read_text(encoding="utf-8")
    entry: dict[str, Any] = json.loads(text)["checks"]["failed"]
    return entry


def steep(score: float) -> float:
    return 0.05 if score < 0.5 else 0.9


@pytest.fixture
def writable(judged_file: Path, tmp_path: Path) -> Iterator[Store]:
    with open_store(shutil.copy(judged_file, tmp_path / "judged.duckdb")) as store:
        yield store


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with a question whose flag_at was calibrated on 200 labels, its lock, and its store."""
    team = Scenario(folder=tmp_path_factory.mktemp("prepared"))
    with open_store(team.folder / "store.duckdb") as store:
        team.load(store, uniform(300, labelled=200, risk=steep))
        cw.calibrate(team.check, store, goal="precision>=0.5")
        assert cw.gate(team.check, store, update=True).passed
    return team.folder


@pytest.fixture(scope="module")
def certified(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with the same question, which trust certified, its lock, and its store."""
    team = Scenario(folder=tmp_path_factory.mktemp("certified"))
    with open_store(team.folder / "store.duckdb") as store:
        team.load(store, uniform(400, labelled=200, risk=lambda score: 0.0 if score < 0.5 else 0.9))
        assert cw.trust(team.check, store, plan=PLAN).outcome == "ready"
        assert cw.gate(team.check, store, update=True).passed
    return team.folder


def of_its_own(folder: Path, team: Scenario) -> Iterator[Store]:
    """Copy a folder for one test, and yield its store."""
    team.loads = 10
    for name in ("failed.check.yaml", "calibration.lock", "store.duckdb"):
        shutil.copy2(folder / name, team.folder / name)
    with open_store(team.folder / "store.duckdb") as store:
        yield store


@pytest.fixture
def locked(prepared: Path, team: Scenario) -> Iterator[Store]:
    yield from of_its_own(prepared, team)


class TestWebAgentRuns:
    def test_a_lock_keeps_what_was_measured(self, writable: Store, tmp_path: Path) -> None:
        write_loop(tmp_path / "checks" / "loop.check.yaml", 3)
        cw.calibrate(tmp_path / "checks", writable, goal="recall>=0.95")
        assert cw.gate(tmp_path / "checks", writable, update=True).passed
        entry = json.loads((tmp_path / "checks" / "calibration.lock").read_text(encoding="utf-8"))["checks"]["looping"]
        assert entry["figures"] == {
            "auc": 0.963, "flagged": 272, "problems": 245, "precision": 0.8934, "recall": 0.9918,
        }  # fmt: skip
        assert entry["numbers"] == {
            "bad among passed": {"k": 2, "n": 184},
            "good among failed": {"k": 29, "n": 272},
            "problems missed": {"k": 2, "n": 245},
        }
        (threshold,) = entry["thresholds"]
        assert (threshold["key"], threshold["value"], threshold["by"]["goal"]) == ("at_least", 3, "recall>=0.95")
        assert (entry["file"], entry["answered_by"], entry["silent"]) == (
            "loop.check.yaml", ["rule"], {"k": 0, "n": 456},
        )  # fmt: skip

    def test_an_edited_threshold_fails_until_it_is_calibrated(self, writable: Store, tmp_path: Path) -> None:
        path = write_loop(tmp_path / "checks" / "loop.check.yaml", 3)
        cw.calibrate(path, writable, goal="recall>=0.95")
        cw.gate(path, writable, update=True)
        assert cw.gate(path, writable).passed
        write_loop(path, 5)
        edited = cw.gate(path, writable)
        assert failed(edited) == ["calibrated", "unchanged", "bad among passed", "problems missed"]
        assert words(edited, "unchanged") == "changed without re-evaluation: at_least 3 → 5"
        assert words(edited, "problems missed") == (
            "worse beyond noise: 18 of 245 labels now, labels of the lock among them, 2 of 245 labels in the lock "
            "(p = 0.00016)"
        )
        assert failed(cw.gate(path, writable, update=True)) == ["calibrated"]
        cw.calibrate(path, writable, goal="recall>=0.9")
        assert cw.gate(path, writable, update=True).passed
        assert cw.gate(path, writable).passed


class TestNumbers:
    def test_the_same_labels_pass(self, locked, team) -> None:
        found = cw.gate(team.check, locked)
        assert found.passed
        assert found.counts == {"passed": 8, "failed": 0, "skipped": 0}
        assert "no such label since" in words(found, "bad among passed")

    def test_labels_that_are_much_worse_fail(self, locked, team) -> None:
        team.load(locked, uniform(60, labelled=60, risk=lambda score: 0.5 if score < 0.5 else 0.9, seed=8, prefix="n"))
        found = cw.gate(team.check, locked)
        assert failed(found) == ["bad among passed", "problems missed"]
        assert "since" in words(found, "bad among passed")
        assert found.exit_code == 1

    def test_labels_that_are_as_good_or_better_pass(self, locked, team) -> None:
        team.load(locked, uniform(120, labelled=120, risk=lambda score: float(score >= 0.5), seed=9, prefix="n"))
        assert cw.gate(team.check, locked).passed

    def test_a_mere_difference_is_noise(self, locked, team) -> None:
        team.load(locked, uniform(60, labelled=60, risk=lambda score: 0.1 if score < 0.5 else 0.85, seed=3, prefix="n"))
        found = cw.gate(team.check, locked)
        assert state(found, "bad among passed") == "passed"
        assert "(p = " in words(found, "bad among passed")

    def test_too_few_labels_are_never_a_pass_in_silence(self, locked, team) -> None:
        team.load(locked, [{"run": "n-1", "p": 0.2, "bad": True}, {"run": "n-2", "p": 0.9, "bad": False}])
        found = cw.gate(team.check, locked)
        assert found.passed
        assert found.counts["skipped"] == 3
        assert words(found, "bad among passed").startswith("too few labels to say: 1 of 1 label since, ")
        assert "label" in next(case.advice for case in found.cases if case.state == "skipped")

    def test_a_lock_without_labels_says_so(self, store, team) -> None:
        team.load(store, uniform(20, labelled=0, risk=steep))
        found = cw.gate(team.check, store, update=True)
        assert failed(found) == ["calibrated"]
        assert (
            words(found, "problems missed") == "too few labels to say: 0 of 0 labels since, 0 of 0 labels in the lock"
        )
        team.load(store, uniform(60, labelled=60, risk=steep, prefix="n"))
        assert words(cw.gate(team.check, store), "problems missed").startswith("too few labels to say")

    def test_in_another_store_all_labels_are_compared(self, locked, team, tmp_path: Path) -> None:
        """A fresh store knows no look, so the labels of the lock cannot be told from the others."""
        units = uniform(300, labelled=200, risk=steep)
        with open_store(tmp_path / "fresh.duckdb") as fresh:
            team.load(fresh, units)
            found = cw.gate(team.check, fresh)
            assert found.passed
            assert "labels of the lock among them" in words(found, "bad among passed")
            assert "meets precision>=0.5" in words(found, "calibrated")
            assert locked.sql("select count(*) as n from looks")["n"][0] == 2

    def test_labels_of_one_session_count_once(self, locked, team) -> None:
        units = [{"run": f"n-{n}", "p": 0.2, "bad": True, "session_id": "s"} for n in range(40)]
        team.load(locked, units)
        found = cw.gate(team.check, locked)
        assert words(found, "bad among passed").startswith("too few labels to say: 1 of 1 label since, ")

    def test_labels_drawn_where_errors_lie_are_no_worsening(self, locked, team) -> None:
        """Half of the new labels come from a region that is drawn ten times as often, and errs as it always did."""
        rare = uniform(400, labelled=400, risk=lambda _: 0.05, seed=5, prefix="a")
        near = uniform(60, labelled=60, risk=lambda _: 0.5, seed=6, prefix="b")
        units = [{**u, "p": 0.1, "probability_sampled": 1.0} for u in near]
        units += [{**u, "p": 0.3, "probability_sampled": 0.1} for u in rare[:60]]
        team.load(locked, units)
        found = cw.gate(team.check, locked)
        assert state(found, "bad among passed") == "passed"
        (k, n) = map(int, words(found, "bad among passed").split(" label")[0].split(" of "))
        assert 60 <= n <= 75
        assert k < 12

    def test_decisions_on_tests_do_not_count(self, locked, team) -> None:
        units = uniform(60, labelled=60, risk=lambda _: 1.0, prefix="t")
        team.load(locked, [{**u, "mode": "test"} for u in units])
        assert "no such label since" in words(cw.gate(team.check, locked), "bad among passed")


class TestCertified:
    @pytest.fixture
    def trusted(self, certified: Path, team: Scenario) -> Iterator[Store]:
        yield from of_its_own(certified, team)

    def test_the_lock_says_by_which_plan_and_bound(self, trusted, team) -> None:
        entry = entry_of(team)
        (bound,) = entry["certified"]
        assert (bound["change"], bound["side"], bound["target"]) == ("replace_approval", "false_pass", 0.1)
        assert bound["plan"] == PLAN.digest
        assert 0 < bound["bound"] < 0.1
        assert entry["labels"]["blind"] is True
        assert entry["thresholds"][0]["by"]["outcome"] == "ready"
        assert cw.gate(team.check, trusted).passed

    def test_a_risk_above_the_target_fails(self, trusted, team) -> None:
        team.load(trusted, uniform(200, labelled=200, risk=lambda _: 0.9, seed=8, prefix="n"))
        assert words(cw.gate(team.check, trusted), "bad among passed").startswith("the risk is at least ")

    def test_decisions_in_sight_of_the_verdict_do_not_count(self, trusted, team) -> None:
        units = uniform(200, labelled=200, risk=lambda _: 0.9, seed=8, prefix="n")
        team.load(trusted, [{**u, "seen": "true"} for u in units])
        assert cw.gate(team.check, trusted).passed

    def test_a_certificate_outlives_the_store_that_gave_it(self, trusted, team, tmp_path: Path) -> None:
        before = (team.folder / "calibration.lock").read_text(encoding="utf-8")
        with open_store(tmp_path / "fresh.duckdb") as fresh:
            team.load(fresh, uniform(400, labelled=200, risk=lambda score: 0.0 if score < 0.5 else 0.9))
            assert cw.gate(team.check, fresh, update=True).passed
        assert (team.folder / "calibration.lock").read_text(encoding="utf-8") == before
        assert trusted.sql("select count(*) as n from looks")["n"][0] == 2

    def test_a_cut_that_trust_certified_and_somebody_wrote_is_certified(self, store, team) -> None:
        team.write(0.9)
        team.load(store, uniform(900, labelled=400, risk=lambda score: 0.01 if score < 0.6 else 0.9))
        cw.calibrate(team.check, store, goal="recall>=0.9").apply()
        cert = cw.trust(team.check, store, plan=PLAN)
        (change,) = cert[0].changes()
        cw.gate(team.check, store, update=True)
        assert entry_of(team)["certified"] == []
        assert change.value == pytest.approx(0.6172)
        team.write(change.value)
        found = cw.gate(team.check, store, update=True)
        assert found.passed
        assert "certified by trust (replace_approval)" in words(found, "calibrated")
        assert [bound["side"] for bound in entry_of(team)["certified"]] == ["false_pass"]

    def test_a_number_that_trust_merely_looked_at_is_not_calibrated(self, store, team) -> None:
        team.load(store, uniform(100, labelled=20, risk=steep))
        assert cw.trust(team.check, store, plan=PLAN).outcome == "need_labels"
        for update in (True, False):
            found = cw.gate(team.check, store, update=update)
            assert failed(found) == ["calibrated"]
            assert words(found, "calibrated") == (
                "not calibrated: flag_at 0.5: trust (replace_approval) only looked at it on 20 labels, with need_labels"
            )
            (advice,) = (case.advice for case in found.cases if case.condition == "calibrated")
            assert "calibrate" in advice
            assert "--apply" in advice
            assert "trust until it is ready" in advice
        assert entry_of(team)["certified"] == []

    def test_a_later_look_takes_no_conclusion_back(self, store, team) -> None:
        team.load(store, uniform(100, labelled=40, risk=steep))
        cw.calibrate(team.check, store, goal="precision>=0.5")
        cw.gate(team.check, store, update=True)
        cw.trust(team.check, store, plan=PLAN)
        assert "meets precision>=0.5 as it stands" in words(cw.gate(team.check, store), "calibrated")


class TestConcluded:
    """A number is calibrated by a conclusion about it, not by having been in the room."""

    def test_calibrate_that_neither_chose_nor_confirmed_the_number_fails(self, store, team) -> None:
        team.load(store, uniform(300, labelled=200, risk=steep))
        assert cw.calibrate(team.check, store, goal="precision>=0.99")[0].met is False
        found = cw.gate(team.check, store, update=True)
        assert failed(found) == ["calibrated"]
        assert words(found, "calibrated") == (
            "not calibrated: flag_at 0.5: calibrate neither chose it for precision>=0.99 nor found that it meets that, "
            "on 200 labels"
        )

    def test_a_number_that_meets_the_goal_as_it_stands_passes(self, store, team) -> None:
        team.load(store, uniform(300, labelled=200, risk=steep))
        entry = cw.calibrate(team.check, store, goal="precision>=0.5")[0]
        assert (entry.met, entry.chosen and entry.chosen.at != 0.5) == (True, True)
        words_ = words(cw.gate(team.check, store, update=True), "calibrated")
        assert words_ == "flag_at 0.5: meets precision>=0.5 as it stands, by calibrate on 200 labels"

    def test_a_number_that_was_chosen_and_written_passes(self, store, team) -> None:
        team.load(store, uniform(300, labelled=200, risk=steep))
        cw.calibrate(team.check, store, goal="recall>=0.9").apply()
        assert "chosen for recall>=0.9" in words(cw.gate(team.check, store, update=True), "calibrated")

    def test_without_labels_nothing_is_concluded(self, store, team) -> None:
        team.load(store, uniform(50, labelled=0, risk=steep))
        cw.calibrate(team.check, store)
        found = cw.gate(team.check, store, update=True)
        assert words(found, "calibrated").endswith("measured by no calibrate and no trust on labelled work")

    def test_labels_of_one_kind_conclude_nothing(self, store, team) -> None:
        team.load(store, [{"run": f"r-{n}", "p": n / 50, "bad": False} for n in range(50)])
        assert cw.calibrate(team.check, store, goal="recall>=0.9")[0].met is None
        assert failed(cw.gate(team.check, store, update=True)) == ["calibrated"]

    def test_one_cut_for_all_questions_concludes_every_number_of_them(self, store, tmp_path: Path) -> None:
        (tmp_path / "PROCESS.md").write_text(PROCESS, encoding="utf-8")
        work(store, 120, labelled=120)
        cw.calibrate(tmp_path / "PROCESS.md", store, goal="recall>=0.9").apply()
        found = cw.gate(tmp_path / "PROCESS.md", store, update=True)
        assert found.passed
        told = words(found, "calibrated").split("; ")
        assert [one.split(":")[0].rsplit(" ", 1)[0] for one in told] == [
            "question 0 pass", "question 0 fail", "question 1 confidence", "question 2 pass",
        ]  # fmt: skip
        assert all("chosen for recall>=0.9 by calibrate on 120 labels" in one for one in told)


class TestDecisionsAboutTheWork:
    """What calibrate read as a proxy is what the gate compares."""

    @pytest.fixture
    def worked(self, store, tmp_path: Path) -> Path:
        put_runs(store, *(run(f"r-{n}", n % 6 + 1) for n in range(60)))
        put_decisions(
            store,
            *({"run_id": f"r-{n}", "decision": "rejected" if n % 6 >= 3 else "approved"} for n in range(60)),
        )
        path = write_loop(tmp_path / "loop.check.yaml", 4)
        cw.calibrate(path, store, goal="recall>=0.9", labels="work")
        return path

    def test_they_are_the_numbers_of_the_lock(self, worked: Path, store) -> None:
        found = cw.gate(worked, store, update=True)
        assert found.passed
        assert "on 60 labels of the work" in words(found, "calibrated")
        entry = json.loads((worked.parent / "calibration.lock").read_text(encoding="utf-8"))["checks"]["looping"]
        assert (entry["labels"]["kind"], entry["labels"]["n"]) == ("work", 60)
        assert entry["numbers"]["problems missed"] == {"k": 0, "n": 30}
        assert any("work" in note for note in found.notes)

    def test_a_store_that_knows_no_look_uses_the_kind_of_the_lock(self, worked: Path, store, tmp_path: Path) -> None:
        cw.gate(worked, store, update=True)
        with open_store(tmp_path / "fresh.duckdb") as fresh:
            put_runs(fresh, *(run(f"n-{n}", 2) for n in range(60)))
            put_decisions(fresh, *({"run_id": f"n-{n}", "decision": "rejected"} for n in range(60)))
            assert {"bad among passed", "problems missed"} <= set(failed(cw.gate(worked, fresh)))

    def test_labels_of_the_check_come_first(self, worked: Path, store) -> None:
        put_decisions(
            store,
            *({"run_id": f"r-{n}", "check_id": "looping", "decision": "problem" if n % 6 >= 3 else "no_problem"}
              for n in range(30)),
        )  # fmt: skip
        cw.calibrate(worked, store, goal="recall>=0.9")
        cw.gate(worked, store, update=True)
        entry = json.loads((worked.parent / "calibration.lock").read_text(encoding="utf-8"))["checks"]["looping"]
        assert (entry["labels"]["kind"], entry["labels"]["n"]) == ("check", 30)


class TestChanges:
    def test_a_new_check_was_never_calibrated(self, locked, team) -> None:
        write_loop(team.folder / "loop.check.yaml", 3)
        found = cw.gate(team.folder, locked)
        assert failed(found) == ["calibrated"]
        assert state(found, "unchanged", "looping") == "skipped"

    def test_a_check_without_numbers_needs_no_calibration(self, locked, team) -> None:
        (team.folder / "ends.check.yaml").write_text(RUN_END, encoding="utf-8")
        found = cw.gate(team.folder, locked)
        assert found.passed
        assert state(found, "calibrated", "ends") == "passed"

    def test_another_question_needs_answers_of_its_own(self, locked, team) -> None:
        team.write(0.5, ask="Did it break?")
        found = cw.gate(team.check, locked)
        assert failed(found) == ["calibrated", "unchanged", "answered"]
        assert "what it asks is not what the lock was measured on" in words(found, "unchanged")
        again = cw.gate(team.check, locked, update=True)
        assert failed(again) == ["calibrated", "answered"]
        assert "300 of 300 without a verdict" in words(again, "answered")

    def test_a_flag_is_a_change(self, locked, team) -> None:
        text = team.check.read_text(encoding="utf-8")
        team.check.write_text(text + "applies_to: { workflow: refunds }\n", encoding="utf-8")
        assert "flags" in words(cw.gate(team.check, locked), "unchanged")

    def test_another_model_fails(self, locked, team) -> None:
        units = [{**u, "model": "judge-2"} for u in uniform(50, labelled=0, risk=steep, prefix="n")]
        team.load(locked, units)
        found = cw.gate(team.check, locked)
        assert failed(found) == ["method"]
        assert words(found, "method") == "answered by reported judge-2, in the lock by reported judge-1"

    def test_more_work_without_a_verdict_fails(self, locked, team) -> None:
        team.load(locked, [{"run": f"n-{n}", "p": None} for n in range(40)])
        found = cw.gate(team.check, locked)
        assert failed(found) == ["answered"]
        assert "not_checked is no pass" in next(case.advice for case in found.cases if case.state == "failed")

    def test_a_little_more_is_noise(self, locked, team) -> None:
        team.load(locked, [{"run": "n-1", "p": None}])
        assert "within noise" in words(cw.gate(team.check, locked), "answered")

    @pytest.mark.usefixtures("locked")
    def test_no_work_is_skipped(self, team, tmp_path: Path) -> None:
        with open_store(tmp_path / "none.duckdb") as none:
            found = cw.gate(team.check, none)
        assert found.passed
        assert found.counts["skipped"] == 5

    def test_a_check_that_is_gone_is_told_and_taken_out(self, locked, team) -> None:
        path = team.folder / "ends.check.yaml"
        path.write_text(RUN_END, encoding="utf-8")
        cw.gate(team.folder, locked, update=True)
        path.unlink()
        found = cw.gate(team.folder, locked)
        assert (found.passed, state(found, "there")) == (True, "skipped")
        assert "taken out: ends" in cw.gate(team.folder, locked, update=True).notes[-1]
        assert not [case for case in cw.gate(team.folder, locked).cases if case.of == "ends"]

    def test_an_invalid_document_fails_and_the_others_are_judged(self, locked, team) -> None:
        (team.folder / "b.check.yaml").write_bytes(b"id: \xff\n")
        (team.folder / "c.check.yaml").write_text("id: c\nkind: rule\nrule: {type: repeet}\n", encoding="utf-8")
        found = cw.gate(team.folder, locked)
        assert failed(found) == ["valid", "valid"]
        assert "byte 0xff is not UTF-8" in next(case.words for case in found.cases if case.state == "failed")
        assert state(found, "bad among passed") == "passed"

    def test_a_broken_check_is_not_gone(self, locked, team) -> None:
        team.check.write_text("id: failed\nkind: [\n", encoding="utf-8")
        before = (team.folder / "calibration.lock").read_bytes()
        assert {case.condition for case in cw.gate(team.folder, locked).cases} == {"valid"}
        cw.gate(team.folder, locked, update=True)
        assert (team.folder / "calibration.lock").read_bytes() == before

    def test_two_checks_of_one_id_are_an_error_and_neither_is_judged(self, locked, team) -> None:
        shutil.copy(team.check, team.folder / "twin.check.yaml")
        found = cw.gate(team.folder, locked)
        assert failed(found) == ["valid"]
        assert {case.condition for case in found.cases} == {"valid"}

    def test_a_file_of_a_folder_updates_its_own_entry_only(self, store, tmp_path: Path) -> None:
        put_runs(store, run("a", 4))
        one, two = (write_loop(tmp_path / f"{name}.check.yaml", 3, name) for name in ("one", "two"))
        cw.gate(tmp_path, store, update=True)
        write_loop(one, 4, "one")
        write_loop(two, 4, "two")
        cw.gate(two, store, update=True)
        thresholds = {
            name: entry["thresholds"][0]["value"]
            for name, entry in json.loads((tmp_path / "calibration.lock").read_text("utf-8"))["checks"].items()
        }
        assert thresholds == {"one": 3, "two": 4}

    def test_one_check_of_a_process(self, store, tmp_path: Path) -> None:
        vendors = sample_data() / "vendors"
        path = tmp_path / "PROCESS.md"
        shutil.copy(vendors / "PROCESS.md", path)
        store.load(vendors / "runs.jsonl")
        store.load_decisions(vendors / "decisions.csv")
        name = f"{path}#vendor-check/check_vendor"
        cw.trust(name, store, plan=cw.plan(change="enforce", max_false_fail=0.1))
        assert cw.gate(name, store, update=True).passed
        found = cw.gate(name, store)
        assert found.passed
        assert {case.of for case in found.cases} == {str(path), "vendor-check/check_vendor"}
        assert "certified by trust (enforce)" in words(found, "calibrated")


class TestLooks:
    def test_a_gate_is_a_look(self, locked, team) -> None:
        cw.gate(team.check, locked)
        assert locked.sql("select call from looks")["call"].tolist() == ["calibrate", "gate"]
        team.load(locked, uniform(10, labelled=10, risk=steep, prefix="n"))
        cw.gate(team.check, locked)
        recorded = locked.sql("select call, labels from looks where call = 'gate'")
        assert [len(json.loads(labels)) for labels in recorded["labels"]] == [200, 210]

    def test_a_cut_that_stays_keeps_its_labels_unread_one_that_moves_does_not(self, store, team) -> None:
        team.load(store, uniform(300, labelled=200, risk=steep))
        cw.gate(team.check, store, update=True)
        plan = cw.plan(change="replace_approval", max_false_pass=0.1)
        fresh = []
        for flag_at in (0.5, 0.6):
            team.write(flag_at)
            (check,) = cw.read_checks(team.check)
            units = gather(check, store, cw.evaluate(check, store).scores)
            fresh.append(bool(sample(units, store, plan, looks.ledger(store)).usable["fresh"].all()))
        assert fresh == [True, False]

    def test_a_store_to_read_only_will_do(self, team, tmp_path: Path) -> None:
        with open_store(tmp_path / "s.duckdb") as store:
            team.load(store, uniform(100, labelled=80, risk=steep))
            cw.calibrate(team.check, store)
            first = cw.gate(team.check, store, update=True)
        with open_store(tmp_path / "s.duckdb", read_only=True) as store:
            found = cw.gate(team.check, store)
            assert found.cases == first.cases
            assert any("not recorded" in note for note in found.notes)


class TestShown:
    def test_text_html_and_json_say_the_same(self, locked, team) -> None:
        team.load(locked, [{"run": "n-1", "p": 0.2, "bad": True}])
        found = cw.gate(team.check, locked)
        lines = repr(found).splitlines()
        assert lines[0] == "gate passed: 0 cases failed, 2 not decided, 6 passed"
        assert lines[1].startswith("  skipped  failed, bad among passed: too few labels to say")
        assert lines[2].startswith("    next: ")
        bundle = found._repr_mimebundle_()
        assert json.loads(json.dumps(bundle[MIME], allow_nan=False)) == found.to_json()
        assert "2 not decided" in bundle["text/html"]
        assert repr(cw.gate(team.check, locked)) == repr(found)


class TestRefused:
    def test_a_missing_lock(self, store, team) -> None:
        with pytest.raises(InputError, match=r"calibration\.lock does not exist.*gate --update writes it"):
            cw.gate(team.check, store)

    def test_the_lock_of_another_folder(self, locked, team, tmp_path: Path) -> None:
        other = tmp_path / "other"
        write_loop(other / "loop.check.yaml", 3)
        shutil.copy(team.folder / "calibration.lock", other / "calibration.lock")
        with pytest.raises(InputError, match=r"is the lock of other checks \(failed\)"):
            cw.gate(other, locked)
        assert "new: looping; taken out: failed" in cw.gate(other, locked, update=True).notes[-1]

    def test_an_empty_folder_and_no_path(self, store, tmp_path: Path) -> None:
        (tmp_path / "empty").mkdir()
        with pytest.raises(InputError, match="holds no check"):
            cw.gate(tmp_path / "empty", store)
        with pytest.raises(InputError, match="no path: holds no check"):
            cw.gate([], store)
        with pytest.raises(InputError, match="no such file or folder"):
            cw.gate(tmp_path / "nowhere", store)

    def test_what_is_no_store(self, team) -> None:
        with pytest.raises(InputError, match="must be an open store"):
            cw.gate(team.check, "x.duckdb")  # type: ignore[arg-type]


def test_the_labels_of_several_checks_stay_apart(store, tmp_path: Path) -> None:
    put_runs(store, *(run(f"r-{n}", n % 6 + 1) for n in range(60)))
    for name, least in (("one", 3), ("two", 4)):
        write_loop(tmp_path / f"{name}.check.yaml", least, name)
        put_decisions(
            store,
            *(
                {"run_id": f"r-{n}", "check_id": name, "decision": "problem" if n % 6 + 1 >= least else "no_problem"}
                for n in range(60)
            ),
        )
    cw.calibrate(tmp_path, store, goal="recall>=0.9")
    found = cw.gate(tmp_path, store, update=True)
    assert found.passed
    assert [case.words for case in found.cases if case.condition == "problems missed"] == [
        "no such label since: as in the lock, 0 of 40 labels",
        "no such label since: as in the lock, 0 of 30 labels",
    ]


class TestShippedData:
    """The sample data through the command line, as the README shows it."""

    @pytest.fixture
    def here(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
        refunds = sample_data() / "refunds"
        shutil.copytree(refunds / "checks", tmp_path / "checks")
        with open_store(tmp_path / "refunds.duckdb") as store:
            store.load(refunds / "runs.jsonl")
            store.load_decisions(refunds / "labels.csv")
            store.load_answers(refunds / "answers.jsonl")
        monkeypatch.chdir(tmp_path)
        return tmp_path

    def test_exit_codes_and_junit(self, here: Path, capsys: pytest.CaptureFixture[str]) -> None:
        gate = ("gate", "checks/", "--db", "refunds.duckdb", "--junit", "gate.xml")
        assert main([*gate]) == 3
        assert main([*gate, "--update"]) == 1
        root = ET.parse("gate.xml").getroot()  # noqa: S314 - written a moment ago
        assert {failure.get("type") for failure in root.iter("failure")} == {"calibrated"}
        assert main(["calibrate", "checks/", "--db", "refunds.duckdb", "--apply"]) == 0
        assert main([*gate, "--update"]) == 1
        assert "calibrate neither chose it for precision>=0.9" in capsys.readouterr().out
        assert main(["calibrate", "checks/", "--db", "refunds.duckdb", "--goal", "cost 1:5", "--apply"]) == 0
        assert main([*gate, "--update"]) == 0
        assert main([*gate]) == 0
        capsys.readouterr()
        assert main([*gate, "--json"]) == 0
        document = json.loads(capsys.readouterr().out)
        assert document["counts"]["failed"] == 0
        root = ET.parse("gate.xml").getroot()  # noqa: S314 - as above
        assert (root.get("tests"), root.get("failures")) == (str(len(document["cases"])), "0")
        assert {suite.get("file") for suite in root} == {
            f"checks/{path.name}" for path in (here / "checks").glob("*.yaml")
        }

    def test_from_within_the_folder_and_by_file_the_lock_is_the_same(self, here: Path, monkeypatch) -> None:
        assert main(["gate", "checks", "--db", "refunds.duckdb", "--update"]) == 1
        before = (here / "checks" / "calibration.lock").read_bytes()
        monkeypatch.chdir(here / "checks")
        files = sorted(path.name for path in (here / "checks").glob("*.yaml"))
        mixed = [str(here / "checks" / files[0]), *files[1:]]
        for given in (["."], files, [files[0], str(here / "checks")], mixed):
            assert main(["gate", *given, "--db", "../refunds.duckdb", "--update"]) == 1
            assert (here / "checks" / "calibration.lock").read_bytes() == before
        assert not (here / "calibration.lock").exists()


def test_the_readme_names_every_condition(locked, team) -> None:
    readme = Path(__file__).parents[2] / "README.md"
    if not readme.is_file():
        pytest.skip("the README is not installed with the package")
    section = readme.read_text(encoding="utf-8").split("\n## In CI")[1].split("\n## ")[0]
    named = re.findall(r"`([^`]+)`", " ".join(re.findall(r"^\| (`.*?) \|", section, re.MULTILINE)))
    assert named == [case.condition for case in cw.gate(team.check, locked).cases]
