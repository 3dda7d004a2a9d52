from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest

import check_workbench as cw
from check_workbench.calibration import looks
from check_workbench.calibration.outcome import MIME
from check_workbench.calibration.units import gather
from check_workbench.certificates.hygiene import sample
from check_workbench.changes.pairing import Tally
from check_workbench.checks import thresholds, with_threshold
from check_workbench.cli import main
from check_workbench.errors import InputError, UnknownNameError
from check_workbench.store import open_store
from tests.changes.conftest import write_loop
from tests.scenario import uniform
from tests.workshop import loop, put_answers, put_decisions, put_runs, question, run, screening, submission, vendor

if TYPE_CHECKING:
    from pathlib import Path


def decided(run_id: str, *, bad: bool, **fields: Any) -> dict[str, Any]:
    return {"run_id": run_id, "check_id": "loop", "decision": "problem" if bad else "no_problem", **fields}


@pytest.fixture
def small(store):
    """Two runs that 3 flags and 5 does not, one that both flag, one that neither does."""
    put_runs(store, run("a", 4), run("b", 3), run("c", 6), run("d", 1), run("e", 4))
    put_decisions(store, decided("a", bad=False, verdict_seen=False), decided("b", bad=True), decided("c", bad=True))
    return store


def test_web_agent_runs_from_three_to_five(judged, committed) -> None:
    found = cw.diff(committed, judged)
    assert found.moved == ({"item": 0, "key": "at_least", "from": 3.0, "to": 5.0},)
    assert {(row["from"], row["to"]): (row["n"], row["good"], row["bad"]) for row in found.transitions} == {
        ("pass", "pass"): (184, 182, 2),
        ("fail", "pass"): (27, 11, 16),
        ("fail", "fail"): (245, 18, 227),
    }
    assert found.tally == Tally(both_right=409, worse=16, better=11, both_wrong=20)
    assert found.tally.p == pytest.approx(0.4421, abs=5e-5)
    change = found.tally.difference
    assert change is not None
    assert [round(value, 4) for value in change] == [0.011, -0.0124, 0.035]
    assert len(found.changed) == 27
    assert found.changed[0] == {
        "unit": "assistantbench/GenericAgent-anthropic_claude-3.7-sonnet/assistantbench.improved.validation.12",
        "run": "assistantbench/GenericAgent-anthropic_claude-3.7-sonnet/assistantbench.improved.validation.12",
        "step": None,
        "from": "fail",
        "to": "pass",
        "score": 3.0,
        "score_before": 3.0,
        "label": "bad",
        "blind": False,
        "reason": None,
    }


def test_every_unit_is_in_one_row_and_every_change_is_listed(small) -> None:
    found = cw.diff(loop(5), small, against=loop(3))
    assert found.transitions == [
        {"from": "pass", "to": "pass", "n": 1, "good": 0, "bad": 0},
        {"from": "fail", "to": "pass", "n": 3, "good": 1, "bad": 1},
        {"from": "fail", "to": "fail", "n": 1, "good": 0, "bad": 1},
    ]
    assert [(row["run"], row["label"], row["blind"]) for row in found.changed] == [
        ("a", "good", True), ("b", "bad", False), ("e", None, None),
    ]  # fmt: skip
    assert found.tally == Tally(both_right=1, worse=1, better=1, both_wrong=0)


def test_text_html_and_json_say_the_same(small) -> None:
    found = cw.diff(loop(5), small, against=loop(3))
    assert repr(found).splitlines() == [
        "loop: 3 of 5 verdicts differ from loop",
        "  at_least: 3 → 5",
        "  fail → pass: 3, of which 1 good and 1 bad",
        "    a: fail → pass at 4; people: good, blind",
        "    b: fail → pass at 3; people: bad",
        "    e: fail → pass at 4; no label",
        "  people decided on 3 of them: 1 error before, 1 error now (1 put right, 1 made wrong)",
        "  share of errors now minus before: +0.0 points [-64.0, +64.0], McNemar p = 1",
    ]
    bundle = found._repr_mimebundle_()
    assert json.loads(json.dumps(bundle[MIME], allow_nan=False)) == found.to_json()
    assert bundle["text/plain"] == repr(found)
    assert "Work whose verdict differs (3)" in bundle["text/html"]
    assert found.to_json()["test"]["n"] == 3
    assert repr(cw.diff(loop(5), small, against=loop(3))) == repr(found)


def test_hostile_names_are_text(store) -> None:
    put_runs(store, run("<script>alert(1)</script>", 4), run("'; drop table runs; --", 4))
    page = cw.diff(loop(5), store, against=loop(3))._repr_html_()
    assert "<script>alert" not in page
    assert len(store.sql("select * from runs")) == 2


def test_what_one_version_cannot_check_is_counted_and_is_no_pass(store) -> None:
    put_runs(store, run("a"), run("b"), run("c", mode="test"))
    put_answers(
        store,
        {"check_id": "q", "run_id": "a", "ask": "Did it fail?", "probability": 0.9},
        {"check_id": "q", "run_id": "b", "ask": "Did it fail badly?", "probability": 0.1},
    )
    put_decisions(store, decided("a", bad=True, check_id="q"), decided("b", bad=False, check_id="q"))
    found = cw.diff(question("Did it fail badly?"), store, against=question())
    assert {(row["from"], row["to"]) for row in found.transitions} == {("fail", "not_checked"), ("not_checked", "pass")}
    assert found.tally.n == 0
    assert found.left_out == {"not_checked": 2}
    assert "nothing says which is better" in repr(found)
    assert found.notes[0] == (
        "what it asks differs, and an answer counts only for the text that was asked: 1 unit has no answer to the "
        "text before, 1 unit none to the present one; evaluate both with an evaluator"
    )
    assert "1 unit of test runs is left out" in found.notes


def test_unsure_is_neither_right_nor_wrong(store) -> None:
    put_runs(store, *(vendor(f"v-{place}", submission(p)) for place, p in enumerate((0.3, 0.6, 0.95))))
    work = [
        {"run_id": f"v-{n}", "step_id": "sign", "decision": d}
        for n, d in enumerate(("rejected", "approved", "approved"))
    ]
    put_decisions(store, *work)
    now = screening()
    found = cw.diff(now, store, against=with_threshold(now, item=0, key="fail", value=0.7))
    assert [(row["unit"], row["from"], row["to"]) for row in found.changed] == [("v-1/screen", "fail", "unsure")]
    assert found.left_out == {"unsure": 1}
    assert (found.tally.n, found.tally.both_right) == (2, 2)
    assert found.moved == ({"item": 0, "key": "fail", "from": 0.7, "to": 0.5},)


def test_a_band_may_lose_its_lower_end(store) -> None:
    now = screening()
    found = cw.diff(with_threshold(now, item=0, key="fail", value=None), store, against=now)
    assert "fail: 0.5 → none" in repr(found)


def test_flags_alone_are_told(store) -> None:
    assert "but flags" in "".join(cw.diff(loop(3, action="halt"), store, against=loop(3)).notes)
    assert "say the same" in "".join(cw.diff(loop(3), store, against=loop(3)).notes)


def test_another_rule_is_measured_on_its_own(small, tmp_path: Path) -> None:
    other = tmp_path / "count.check.yaml"
    other.write_text("id: calls\nkind: rule\nrule: {type: count, at_least: 2}\n", encoding="utf-8")
    found = cw.diff(loop(5), small, against=other)
    assert {(row["from"], row["to"]): row["n"] for row in found.transitions} == {
        ("fail", "fail"): 1, ("fail", "pass"): 3, ("pass", "pass"): 1,
    }  # fmt: skip
    assert any("the other version is the check calls" in note for note in found.notes)
    assert any("each version was measured on its own" in note for note in found.notes)


def test_a_look_is_recorded_for_the_present_version_only(small) -> None:
    cw.diff(loop(5), small, against=loop(3))
    cw.diff(loop(5), small, against=loop(3))
    recorded = small.sql("select call, document, labels from looks")
    assert recorded[["call", "document"]].to_numpy().tolist() == [["diff", loop(5).document]]
    assert len(json.loads(recorded["labels"][0])) == 3
    assert small.sql("select document from checks")["document"].tolist() == [loop(5).document]


def test_looking_back_does_not_spoil_what_the_present_cut_may_prove(store, team) -> None:
    """A version that was only compared is not one that was in use: the labels stay unread before the present cut."""
    team.load(store, uniform(200, labelled=150, risk=lambda _: 0.0))
    plan = cw.plan(change="replace_approval", max_false_pass=0.1)
    (check,) = cw.read_checks(team.check)
    cw.evaluate(check, store)
    cw.diff(check, store, against=with_threshold(check, item=0, key="flag_at", value=0.9))
    units = gather(check, store, cw.evaluate(check, store).scores)
    assert sample(units, store, plan, looks.ledger(store)).usable["fresh"].all()


def test_a_cut_that_moves_after_a_diff_may_owe_its_value_to_it(store, team) -> None:
    team.load(store, uniform(200, labelled=150, risk=lambda _: 0.0))
    plan = cw.plan(change="replace_approval", max_false_pass=0.1)
    (check,) = cw.read_checks(team.check)
    moved = with_threshold(check, item=0, key="flag_at", value=0.9)
    cw.diff(check, store, against=moved)
    units = gather(moved, store, cw.evaluate(moved, store).scores)
    found = sample(units, store, plan, looks.ledger(store))
    assert not found.usable["fresh"].any()
    assert found.read_by == ("diff",)


def test_a_store_to_read_only_is_told(judged, committed) -> None:
    assert "not recorded" in cw.diff(committed, judged).notes[-1]


def test_one_check_is_wanted(store, tmp_path: Path) -> None:
    write_loop(tmp_path / "a.check.yaml", 3, "a")
    write_loop(tmp_path / "b.check.yaml", 3, "b")
    with pytest.raises(InputError, match=r"diff takes one check, got 2: a, b\. Name one as FILE#ID"):
        cw.diff(tmp_path, store)


def test_versions_of_different_steps_have_no_work_in_common(store) -> None:
    with pytest.raises(InputError, match="judges the step screen, the other version whole runs"):
        cw.diff(screening(), store, against=loop())


def test_a_process_is_compared_with_its_earlier_self(store, git, tmp_path: Path) -> None:
    from check_workbench.samples import sample_data

    vendors = sample_data() / "vendors"
    store.load(vendors / "runs.jsonl")
    store.load_decisions(vendors / "decisions.csv")
    path = tmp_path / "PROCESS.md"
    text = (vendors / "PROCESS.md").read_text(encoding="utf-8")
    path.write_text(text, encoding="utf-8")
    git("add", ".")
    git("commit", "-qm", "first")
    (check,) = (c for c in cw.read_checks(path) if c.id == "vendor-check/check_vendor")
    fail = next(t.value for t in thresholds(check) if t.key == "fail")
    path.write_text(text.replace(f"fail: {fail}", "fail: 0.3"), encoding="utf-8")
    found = cw.diff(f"{path}#vendor-check/check_vendor", store)
    assert found.moved == ({"item": 0, "key": "fail", "from": fail, "to": 0.3},)
    assert {(row["from"], row["to"]) for row in found.changed} == {("fail", "unsure")}
    assert found.left_out["unsure"] >= len([row for row in found.changed if row["label"]])


class TestRevisions:
    def test_a_branch_a_tag_and_a_commit(self, small, git, committed) -> None:
        git("tag", "v1")
        commit = git("rev-parse", "HEAD")
        found = {cw.diff(committed, small, against=rev).against for rev in ("main", "v1", commit[:8])}
        assert found == {f"{rev} ({commit[:10]})" for rev in ("main", "v1", commit[:8])}

    def test_git_reads_no_folder_and_no_variable_of_the_caller(self, small, committed, monkeypatch) -> None:
        monkeypatch.setenv("GIT_DIR", "nowhere")
        monkeypatch.chdir(committed.root)
        assert cw.diff(committed, small).moved

    @pytest.mark.parametrize("name", ["-x.check.yaml", "a b.check.yaml", "ü'\";$(id).check.yaml", ":(top)x.check.yaml"])
    def test_hostile_file_names(self, small, git, tmp_path: Path, name: str) -> None:
        path = write_loop(tmp_path / name, 3)
        git("add", "--", f"./{name}")
        git("commit", "-qm", "first")
        write_loop(path, 5)
        assert len(cw.diff(path, small).changed) == 3

    def test_a_link_leads_to_its_file(self, small, committed, tmp_path: Path) -> None:
        link = tmp_path / "link.check.yaml"
        link.symlink_to(committed)
        assert cw.diff(link, small).moved

    @pytest.mark.parametrize(
        ("against", "words"),
        [
            ("nowhere", "'nowhere' is neither a file nor a revision that git knows"),
            ("--output=/x", "a revision cannot begin with '-'"),
            ("-h", "a revision cannot begin with '-'"),
            ("", "must be a file, FILE#ID or a git revision"),
            ("a\0b", "must be a file, FILE#ID or a git revision"),
            ("x" * 5000, "must be a file, FILE#ID or a git revision"),
            ("x" * 900, "neither a file nor a revision"),
            ("HEAD; touch owned", "is neither a file nor a revision"),
            ("HEAD:checks", "is neither a file nor a revision"),
        ],
    )
    def test_what_is_no_version(self, store, committed, against: str, words: str) -> None:
        with pytest.raises(InputError, match=words):
            cw.diff(committed, store, against=against)

    def test_a_shallow_clone_says_how_to_get_the_rest(self, small, git, committed, tmp_path: Path) -> None:
        git("commit", "-qam", "second")
        git("clone", "-q", "--depth", "1", f"file://{tmp_path}", "a clone ü")
        path = write_loop(tmp_path / "a clone ü" / "checks" / "loop.check.yaml", 9)
        assert cw.diff(path, small).moved == ({"item": 0, "key": "at_least", "from": 5.0, "to": 9.0},)
        with pytest.raises(InputError, match="this clone is shallow, git fetch --unshallow brings the rest"):
            cw.diff(path, small, against="HEAD~1")
        with pytest.raises(InputError) as told:
            cw.diff(committed, small, against="HEAD~9")
        assert "shallow" not in str(told.value)

    def test_a_submodule_has_revisions_of_its_own(self, small, git, committed, tmp_path: Path) -> None:
        git("commit", "-qam", "second")
        git("init", "-q", "outer")
        add = ("submodule", "add", "-q", f"file://{tmp_path}", "inner")
        git("-C", "outer", "-c", "protocol.file.allow=always", *add)
        path = write_loop(tmp_path / "outer" / "inner" / "checks" / "loop.check.yaml", 9)
        assert committed.is_file()
        for against, before in (("HEAD", 5.0), ("HEAD~1", 3.0)):
            moved = {"item": 0, "key": "at_least", "from": before, "to": 9.0}
            assert cw.diff(path, small, against=against).moved == (moved,)

    def test_a_file_that_was_renamed(self, small, git, committed) -> None:
        path = committed.rename(committed.with_name("renamed.check.yaml"))
        git("add", "-A")
        with pytest.raises(InputError, match=r"HEAD has no file .*renamed.check.yaml; if it was renamed, save the old"):
            cw.diff(path, small)

    def test_no_repository(self, store, tmp_path: Path, monkeypatch) -> None:
        monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
        path = write_loop(tmp_path / "alone.check.yaml", 3)
        with pytest.raises(InputError, match="lies in no git repository"):
            cw.diff(path, store)

    def test_no_git(self, store, committed, monkeypatch) -> None:
        monkeypatch.setenv("PATH", "")
        with pytest.raises(InputError, match="git is not installed"):
            cw.diff(committed, store)

    def test_git_that_hangs(self, store, committed, monkeypatch) -> None:
        def slow(*_: object, **__: object) -> None:
            raise subprocess.TimeoutExpired("git", 60)

        monkeypatch.setattr(subprocess, "run", slow)
        with pytest.raises(InputError, match="did not answer within 60 seconds"):
            cw.diff(committed, store)

    @pytest.mark.usefixtures("git")
    def test_a_repository_without_commits(self, store, tmp_path: Path) -> None:
        with pytest.raises(InputError, match="'HEAD' is neither a file nor a revision"):
            cw.diff(write_loop(tmp_path / "new.check.yaml", 3), store)

    @pytest.mark.usefixtures("committed")
    def test_a_file_that_the_revision_lacks(self, store, tmp_path: Path) -> None:
        path = write_loop(tmp_path / "checks" / "new.check.yaml", 3)
        with pytest.raises(InputError, match=r"HEAD has no file .*new.check.yaml; if it was renamed"):
            cw.diff(path, store)

    @pytest.mark.parametrize(
        ("data", "words"),
        [
            (b"id: [", "at HEAD:1:"),
            (b"\xff\xfe", "UTF-16"),
            (b"hello\n", "plain text, no check"),
            (
                b"id: a\nkind: rule\nrule: {type: run_end}\n---\nid: b\nkind: rule\nrule: {type: run_end}\n",
                "no check in",
            ),
        ],
    )
    def test_a_text_that_was_no_check_then(self, store, git, tmp_path: Path, data: bytes, words: str) -> None:
        path = tmp_path / "x.check.yaml"
        path.write_bytes(data)
        git("add", ".")
        git("commit", "-qm", "first")
        with pytest.raises((InputError, UnknownNameError), match=words):
            cw.diff(write_loop(path, 3), store)

    def test_a_check_without_a_file_has_no_revision(self, store) -> None:
        with pytest.raises(InputError, match="was not read from a file"):
            cw.diff(loop(), store)

    def test_an_existing_file_is_taken_before_a_revision_a_folder_is_not(self, small, committed, monkeypatch) -> None:
        folder = committed.parent.parent
        monkeypatch.chdir(folder)
        (folder / "main").mkdir()
        assert cw.diff(committed, small, against="main").against.startswith("main (")
        write_loop(folder / "HEAD", 4)
        assert cw.diff(committed, small, against="HEAD").moved[0]["from"] == 4

    def test_one_check_of_a_file(self, small, tmp_path: Path) -> None:
        several = tmp_path / "several.yaml"
        several.write_text(
            "\n---\n".join(f"id: {name}\nkind: rule\nrule: {{type: repeat, at_least: 3}}" for name in ("a", "b")),
            encoding="utf-8",
        )
        assert len(cw.diff(loop(5), small, against=f"{several}#b").changed) == 3
        with pytest.raises(UnknownNameError, match=r"no check in .*several\.yaml is named 'loop'"):
            cw.diff(loop(5), small, against=several)


class TestCommand:
    def test_a_store_that_cannot_be_written_is_left_as_it_is(
        self, capsys, committed, tmp_path: Path, monkeypatch
    ) -> None:
        path = tmp_path / "store.duckdb"
        with open_store(path) as made:
            put_runs(made, run("r-1", 4), run("r-2", 2))
        before, access = path.read_bytes(), os.access
        monkeypatch.setattr(os, "access", lambda file, mode: str(file) != str(path) and access(file, mode))
        assert main(["diff", str(committed), "--db", str(path)]) == 0
        said = capsys.readouterr().out
        assert "1 of 2 verdicts differ" in said
        assert "the store is open to read only, so this look at the labels is not recorded" in said
        assert path.read_bytes() == before

    def test_text_and_json(self, capsys, judged_file, committed) -> None:
        assert main(["diff", str(committed), "--db", str(judged_file)]) == 0
        assert "27 of 456 verdicts differ from HEAD (" in capsys.readouterr().out
        assert main(["diff", str(committed), "--db", str(judged_file), "--against", "main", "--json"]) == 0
        document = json.loads(capsys.readouterr().out)
        assert (document["test"]["better"], document["test"]["worse"], len(document["changed"])) == (11, 16, 27)

    def test_unusable_input_is_three(self, capsys, judged_file, committed) -> None:
        assert main(["diff", str(committed), "--db", str(judged_file), "--against=-x"]) == 3
        assert "cannot begin with '-'" in capsys.readouterr().err
        assert main(["diff", str(committed), "--db", str(committed.parent / "none.duckdb")]) == 3

    def test_in_a_process_of_its_own(self, judged_file, committed) -> None:
        code = "import sys; from check_workbench.cli import main; sys.exit(main())"
        words = [sys.executable, "-c", code, "diff", str(committed), "--db", str(judged_file)]
        done = subprocess.run(words, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr  # a slow machine tells there how far it is
        assert "McNemar p = 0.442" in done.stdout
