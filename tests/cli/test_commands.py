"""Each command on the sample data, as text and as the JSON document that others rely on."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING, Any

import pytest

from check_workbench.samples import sample_data

if TYPE_CHECKING:
    from pathlib import Path

DATA = sample_data()
REFUNDS, VENDORS = DATA / "refunds", DATA / "vendors"
LOAD = (
    *(REFUNDS / "runs.jsonl", VENDORS / "runs.jsonl", "--decisions", REFUNDS / "labels.csv"),
    *("--decisions", VENDORS / "decisions.csv", "--answers", REFUNDS / "answers.jsonl"),
)
TRUST = {"check", "change", "outcome", "reasons", "n", "errors", "bound", "coverage", "labels_needed", "excluded"}
FINDING = {"id", "check", "run", "step", "spans", "status", "value", "quote", "message"}


@pytest.fixture(scope="module")
def loaded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    import check_workbench as cw

    path = tmp_path_factory.mktemp("store") / "sample.duckdb"
    with cw.open(path) as store:
        store.load([REFUNDS / "runs.jsonl", VENDORS / "runs.jsonl"])
        store.load_decisions(REFUNDS / "labels.csv")
        store.load_decisions(VENDORS / "decisions.csv")
        store.load_answers(REFUNDS / "answers.jsonl")
    return path


@pytest.fixture
def db(loaded: Path, tmp_path: Path) -> Path:
    path = tmp_path / "sample.duckdb"
    shutil.copy(loaded, path)
    return path


@pytest.fixture
def checks(tmp_path: Path) -> Path:
    return shutil.copytree(REFUNDS / "checks", tmp_path / "checks")


def test_formats_lists_every_reader(cli: Any) -> None:
    from check_workbench.decisions import FORMATS
    from check_workbench.sources import READERS

    listed = cli("formats", "--json").document["formats"]
    assert {row["name"] for row in listed if row["of"] == "runs"} == set(READERS)
    assert {row["name"] for row in listed if row["of"] == "decisions"} == set(FORMATS)
    assert all(name in cli("formats").out for name in READERS)


def test_load_counts_what_is_new(cli: Any, tmp_path: Path) -> None:
    db = tmp_path / "new.duckdb"
    first = cli("load", *LOAD, "--db", db, "--json")
    assert first.code == 0
    assert {k: first.document[k] for k in ("runs", "spans", "decisions", "answers", "already", "replaced")} == {
        "runs": 500,
        "spans": 1669,
        "decisions": 814,
        "answers": 198,
        "already": 0,
        "replaced": 0,
    }
    assert first.document["unmatched"] == {"decisions": 0, "answers": 0, "near": []}
    again = cli("load", *LOAD, "--db", db, "--json").document
    assert (again["runs"], again["decisions"], again["answers"]) == (0, 0, 0)
    assert again["already"] == 500 + 814 + 198


def test_load_says_in_words_what_came_in(cli: Any, tmp_path: Path) -> None:
    ran = cli("load", *LOAD, "--db", tmp_path / "new.duckdb")
    assert ran.code == 0
    assert ran.out.startswith("Loaded 500 runs, 1,669 spans")
    assert "This supports" in ran.out


def test_a_missing_file_leaves_no_store_behind(cli: Any, tmp_path: Path) -> None:
    db = tmp_path / "new.duckdb"
    ran = cli("load", REFUNDS / "runs.jsonl", "--decisions", tmp_path / "nothing.csv", "--db", db)
    assert ran.code == 3
    assert "nothing.csv" in ran.err
    assert not db.exists()


def test_a_file_given_as_something_else_says_how_it_is_loaded(cli: Any, tmp_path: Path) -> None:
    db = tmp_path / "s.duckdb"
    labels, answers = REFUNDS / "labels.csv", REFUNDS / "answers.jsonl"
    ran = cli("load", labels, "--db", db)
    assert ran.code == 0
    assert f"{labels}: these look like decisions; load them with --decisions" in ran.out
    chat = cli("load", labels, "--db", db, "--format", "chat", "--json").document
    assert [r["line"] for r in chat["rejected"]] == [1]
    wrong = cli("load", "--db", db, "--decisions", answers)
    assert wrong.code == 3
    assert "these look like recorded answers; load them with --answers" in wrong.err


def test_a_plan_that_is_not_there_says_how_one_is_made(cli: Any, tmp_path: Path) -> None:
    ran = cli("trust", VENDORS / "PROCESS.md", "--db", tmp_path / "s.duckdb", "--plan", tmp_path / "nope.yaml")
    assert ran.code == 3
    assert "nope.yaml does not exist; a plan is made by check-workbench plan --change enforce -o FILE" in ran.err


def test_rejected_records_are_a_result(cli: Any, tmp_path: Path) -> None:
    bad = tmp_path / "bad.jsonl"
    bad.write_text('{"run_id": "a", "spans": []}\n{"run_id": \nnot json\n', encoding="utf-8")
    ran = cli("load", bad, "--db", tmp_path / "s.duckdb", "--json")
    assert ran.code == 0
    assert [r["line"] for r in ran.document["rejected"]] == [2, 3]
    assert ran.document["runs"] == 1


def test_decisions_can_come_later_and_be_asserted_blind(cli: Any, tmp_path: Path) -> None:
    db, labels = tmp_path / "s.duckdb", tmp_path / "labels.csv"
    cli("load", REFUNDS / "runs.jsonl", "--db", db)
    labels.write_text("run_id,check_id,decision\nr-001,repeated-call,no_problem\nr-0002,repeated-call,problem\n")
    ran = cli("load", "--db", db, "--decisions", labels, "--blind", "--json")
    assert ran.code == 0
    assert ran.document["decisions"] == 2
    assert ran.document["unmatched"]["decisions"] == 1


@pytest.mark.parametrize("command", ["evaluate", "calibrate", "trust"])
def test_a_mistyped_store_is_not_created(cli: Any, tmp_path: Path, command: str) -> None:
    (tmp_path / "refunds.duckdb").touch()
    ran = cli(command, REFUNDS / "checks", "--db", tmp_path / "refund.duckdb")
    assert ran.code == 3
    assert "Did you mean 'refunds.duckdb'?" in ran.err
    assert not (tmp_path / "refund.duckdb").exists()


def test_what_is_no_store_is_refused(cli: Any, tmp_path: Path) -> None:
    (tmp_path / "text.duckdb").write_text("hello")
    for place in (tmp_path, tmp_path / "text.duckdb"):
        for words in (("load", REFUNDS / "runs.jsonl"), ("evaluate", REFUNDS / "checks")):
            ran = cli(*words, "--db", place)
            assert ran.code == 3, ran
            assert str(place) in ran.err
    assert (tmp_path / "text.duckdb").read_text() == "hello"


def test_a_database_of_another_program_is_left_alone(cli: Any, tmp_path: Path) -> None:
    import duckdb

    other = tmp_path / "other.duckdb"
    with duckdb.connect(str(other)) as connection:
        connection.execute("create table runs (mine integer)")
    before = other.read_bytes()
    for words in (("load", REFUNDS / "runs.jsonl"), ("evaluate", REFUNDS / "checks")):
        assert cli(*words, "--db", other).code == 3
    assert other.read_bytes() == before


def test_validate_is_one_where_there_is_an_error(cli: Any, checks: Path) -> None:
    fine = cli("validate", checks, VENDORS / "PROCESS.md", "--json")
    assert fine.code == 0
    assert sorted(len(file["checks"]) for file in fine.document["files"]) == [1, 1, 1, 2]
    file = checks / "repeated-call.check.yaml"
    file.write_text(file.read_text().replace("at_least: 3", "at_leest: 3").replace("kind: rule", "kind: ruel"))
    broken = cli("validate", checks, "--json")
    assert broken.code == 1
    problems = [p for f in broken.document["files"] for p in f["problems"] if p["severity"] == "error"]
    assert problems
    assert {"line", "column", "severity", "code", "message", "hint"} == set(problems[0])
    text = cli("validate", checks)
    assert text.code == 1
    assert f"{file}:" in text.out


def test_validate_counts_warnings_and_other_files_and_hides_no_check(cli: Any, checks: Path) -> None:
    (checks / "notes.txt").write_text("x")
    (checks / "old.yaml").write_text("apiVersion: v1\n")
    (checks / "extra.yaml").write_text("id: e\nkind: rule\nrule: {type: repeat, window: 5}\n")
    ran = cli("validate", checks)
    assert ran.code == 0
    assert ran.out.splitlines()[-1] == "4 check files, 4 checks, 0 errors, 1 warning, 2 other files"
    assert "note: at_least is not written, so 3 counts [default-cut]" in ran.out
    (checks / "lost.check.yaml").write_text("")
    lost = cli("validate", checks)
    assert lost.code == 1
    assert "lost.check.yaml:1:1: error: the file is empty [no-check]" in lost.out
    assert cli("evaluate", checks, "--db", checks / "none.duckdb").code == 3


def test_validate_takes_one_check_of_a_file(cli: Any) -> None:
    process = VENDORS / "PROCESS.md"
    ran = cli("validate", f"{process}#vendor-check/check_vendor")
    assert (ran.code, ran.out.splitlines()[-1]) == (0, "1 check file, 1 check, 0 errors")
    wrong = cli("validate", f"{process}#vendor-check/check_vendr")
    assert wrong.code == 3
    assert "Did you mean 'vendor-check/check_vendor'?" in wrong.err


@pytest.mark.parametrize("command", ["evaluate", "calibrate", "trust"])
def test_warnings_are_told_on_stderr_once_a_file(cli: Any, db: Path, tmp_path: Path, command: str) -> None:
    file = tmp_path / "w.yaml"
    rules = [f"- id: w{n}\n  kind: rule\n  rule: {{type: repeat, window: 5}}\n" for n in range(7)]
    file.write_text("".join(rules))
    ran = cli(command, file, "--db", db, "--json")
    told = [line for line in ran.err.splitlines() if "w.yaml" in line]
    assert told[0] == f"{file}:3:24: warning: rule has no key 'window' [unknown-key]"
    assert told[5:] == [f"{file}: 2 more warnings; check-workbench validate lists them"]
    assert ran.document


def test_validate_reports_one_id_in_two_files(cli: Any, checks: Path) -> None:
    shutil.copy(checks / "repeated-call.check.yaml", checks / "twin.check.yaml")
    ran = cli("validate", checks, "--json")
    assert ran.code == 1
    codes = [p["code"] for f in ran.document["files"] for p in f["problems"]]
    assert codes == ["id-clash"]


def test_evaluate_refuses_two_checks_of_one_id(cli: Any, checks: Path, db: Path) -> None:
    shutil.copy(checks / "repeated-call.check.yaml", checks / "twin.check.yaml")
    ran = cli("evaluate", checks, "--db", db)
    assert ran.code == 3
    assert "repeated-call.check.yaml" in ran.err
    assert "twin.check.yaml" in ran.err


def test_an_unknown_check_offers_the_near_one(cli: Any, db: Path) -> None:
    ran = cli("evaluate", f"{VENDORS / 'PROCESS.md'}#vendor-check/check_vendr", "--db", db)
    assert ran.code == 3
    assert "Did you mean 'vendor-check/check_vendor'?" in ran.err


def test_evaluate_gives_findings_verdicts_and_what_was_left_out(cli: Any, db: Path) -> None:
    ran = cli("evaluate", REFUNDS / "checks", VENDORS / "PROCESS.md", "--db", db, "--json")
    assert ran.code == 0
    document = ran.document
    assert {"findings", "verdicts", "left_out"} <= set(document)
    assert set(document["findings"][0]) >= FINDING
    assert {"check", "run", "step", "status"} <= set(document["verdicts"][0])
    fails = {v["run"] for v in document["verdicts"] if v["check"] == "repeated-call" and v["status"] == "fail"}
    raised = {f["run"] for f in document["findings"] if f["check"] == "repeated-call"}
    assert fails == raised
    assert len(fails) == 32
    assert {type(f["value"]) for f in document["findings"]} == {float}


def test_evaluate_in_words(cli: Any, db: Path) -> None:
    ran = cli("evaluate", REFUNDS / "checks" / "repeated-call.check.yaml", "--db", db)
    assert ran.code == 0
    assert "repeated-call: 32 fail" in ran.out
    assert "more findings" in ran.out


def test_answers_can_come_with_the_evaluation(cli: Any, tmp_path: Path) -> None:
    db, question = tmp_path / "s.duckdb", REFUNDS / "checks" / "refund-without-ownership.check.yaml"
    cli("load", REFUNDS / "runs.jsonl", "--db", db)
    without = cli("evaluate", question, "--db", db, "--json").document
    assert {v["status"] for v in without["verdicts"]} == {"not_checked"}
    ran = cli("evaluate", question, "--db", db, "--answers", REFUNDS / "answers.jsonl", "--json")
    assert sum(v["status"] in {"pass", "fail"} for v in ran.document["verdicts"]) > 180
    assert "198 answers" in ran.err


def test_an_evaluator_from_the_settings(cli: Any, db: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    question = REFUNDS / "checks" / "refund-without-ownership.check.yaml"
    assert cli("evaluate", question, "--db", db, "--evaluator", "main").code == 3
    (tmp_path / "check-workbench.toml").write_text('[evaluators.main]\ntype = "telepathy"\n')
    assert cli("evaluate", question, "--db", db, "--evaluator", "main").code == 3
    ran = cli("evaluate", question, "--db", db, "--evaluator", "mian")
    assert ran.code == 3
    assert "main" in ran.err


def test_preview_shows_both_kinds(cli: Any, db: Path) -> None:
    check = REFUNDS / "checks" / "repeated-call.check.yaml"
    verdicts = cli("evaluate", check, "--db", db, "--json").document["verdicts"]
    bad = [v["run"] for v in verdicts if v["status"] == "fail"][:2]
    good = next(v["run"] for v in verdicts if v["status"] == "pass")
    ran = cli("preview", check, "--db", db, "--problem", *bad, "--clean", good)
    assert ran.code == 0
    assert all(run in ran.out for run in (*bad, good))
    assert cli("preview", check, "--db", db, "--problem", bad[0], "--clean", good, "--json").document
    wrong = cli("preview", check, "--db", db, "--problem", "r-9999", "--clean", good)
    assert wrong.code == 3
    assert "r-9999" in wrong.err


def test_calibrate_chooses_and_applies_only_when_told(cli: Any, db: Path, checks: Path) -> None:
    file = checks / "repeated-call.check.yaml"
    before = file.read_bytes()
    ran = cli("calibrate", file, "--db", db, "--goal", "precision>=0.75", "--json")
    assert ran.code == 0
    (entry,) = ran.document["checks"]
    assert {"check", "n", "positives", "auc", "baseline_auc", "curve", "chosen", "left_out"} <= set(entry)
    assert {"at", "precision", "recall", "flagged"} <= set(entry["curve"][0])
    assert file.read_bytes() == before
    text = cli("calibrate", file, "--db", db, "--goal", "precision>=0.75")
    assert "+  at_least: " in text.out
    applied = cli("calibrate", file, "--db", db, "--goal", "precision>=0.75", "--apply")
    assert f"wrote {file}" in applied.out
    at = f"at_least: {entry['chosen']['at']:g}".encode()
    assert file.read_bytes() == before.replace(b"at_least: 3", at)


def test_calibrate_takes_a_goal_for_each_check(cli: Any, db: Path) -> None:
    files = [REFUNDS / "checks" / f"{name}.check.yaml" for name in ("repeated-call", "refund-without-ownership")]
    goals = ("--goal", "repeated-call: recall>=0.5", "--goal", "refund-without-ownership flag_at: cost 1: 5")
    wrong = cli("calibrate", *files, "--db", db, *goals)
    assert (wrong.code, "'5' is no goal" in wrong.err) == (3, True)
    ran = cli("calibrate", *files, "--db", db, *goals[:3], goals[3].replace("1: 5", "1:5"), "--json")
    assert {entry["check"]: entry["goal"] for entry in ran.document["checks"]} == {
        "repeated-call": "recall>=0.5",
        "refund-without-ownership": "cost 1:5",
    }
    assert cli("calibrate", *files, "--db", db, "--goal", "cost 1: 5").code == 0
    assert cli("calibrate", *files, "--db", db, "--goal", "cost 1:5", "--goal", "recall>=0.5").code == 2
    assert cli("calibrate", *files, "--db", db, *goals[:2]).code == 3


def test_calibrate_without_labels_proposes(cli: Any, tmp_path: Path) -> None:
    db = tmp_path / "s.duckdb"
    cli("load", REFUNDS / "runs.jsonl", "--db", db)
    ran = cli("calibrate", REFUNDS / "checks" / "repeated-call.check.yaml", "--db", db)
    assert ran.code == 0
    assert "label next" in ran.out


def test_a_goal_that_does_not_parse(cli: Any, db: Path) -> None:
    ran = cli("calibrate", REFUNDS / "checks", "--db", db, "--goal", "be good")
    assert ran.code == 3
    assert "precision>=" in ran.err


def test_plan_is_written_once(cli: Any, tmp_path: Path) -> None:
    file = tmp_path / "plan.yaml"
    words = ("plan", "--change", "enforce", "--max-false-fail", "0.1", "-o", file)
    assert cli(*words, "--json").document["max_false_fail"] == 0.1
    assert cli(*words).code == 0
    other = cli("plan", "--change", "enforce", "--max-false-fail", "0.2", "-o", file)
    assert other.code == 3
    assert "another plan" in other.err
    (tmp_path / "notes.txt").write_text("mine")
    assert cli("plan", "--change", "enforce", "-o", tmp_path / "notes.txt").code == 3
    assert (tmp_path / "notes.txt").read_text() == "mine"
    assert cli("plan", "--change", "enforce", "-o", tmp_path / "no" / "plan.yaml").code == 3


def test_trust_says_ready_and_writes_the_report(cli: Any, db: Path, tmp_path: Path) -> None:
    plan, report = tmp_path / "plan.yaml", tmp_path / "trust.html"
    cli("plan", "--change", "enforce", "--max-false-fail", "0.1", "--confidence", "0.9", "-o", plan)
    check = f"{VENDORS / 'PROCESS.md'}#vendor-check/check_vendor"
    ran = cli("trust", check, "--db", db, "--plan", plan, "--report", report, "--json")
    (entry,) = ran.document["checks"]
    assert {*TRUST, "plan_digest"} <= set(entry)
    assert (ran.code, entry["outcome"]) == (0, "ready")
    assert report.read_text(encoding="utf-8").lower().lstrip().startswith("<!doctype html")


def test_trust_takes_the_worst_of_several(cli: Any, db: Path) -> None:
    ran = cli("trust", VENDORS / "PROCESS.md", "--db", db, "--change", "enforce", "--max-false-fail", "0.1")
    assert ran.code == 10
    assert "need_labels" in ran.out


def test_a_share_out_of_range_is_refused_before_anything_is_read(cli: Any, tmp_path: Path) -> None:
    ran = cli("trust", "x", "--db", tmp_path / "s.duckdb", "--change", "enforce", "--max-false-fail", "10")
    assert ran.code == 3
    assert "between 0 and 1" in ran.err


@pytest.mark.parametrize("report", ["trust.pdf", "no/such/folder/trust.html", "."])
def test_a_report_that_cannot_be_written_is_refused_before_labels_are_read(cli: Any, db: Path, report: str) -> None:
    ran = cli("trust", VENDORS / "PROCESS.md", "--db", db, "--report", db.parent / report)
    assert ran.code == 3
    import check_workbench as cw

    with cw.open(db) as store:
        assert store.sql("select count(*) as n from looks")["n"].tolist() == [0]
