"""How an audit shows itself, and the command."""

from __future__ import annotations

import csv
import json
import shutil
from typing import TYPE_CHECKING, Any

import pytest

import check_workbench as cw
from check_workbench.calibration.outcome import MIME
from check_workbench.cli import main
from check_workbench.errors import InputError
from check_workbench.samples import sample_data
from tests.monitoring.conftest import STORE
from tests.scenario import Scenario

if TYPE_CHECKING:
    from pathlib import Path

    from tests.monitoring.watched import Watched

DATA = sample_data()
SCREENING = f"{DATA / 'vendors' / 'PROCESS.md'}#vendor-check/check_vendor"


def test_text_html_and_json_say_the_same(watched: Watched) -> None:
    watched.work(60)
    watched.decide(list(watched.audit().due["run_id"])[:8], bad=True)
    found = watched.audit()
    shown = found._repr_mimebundle_()
    assert shown["text/plain"] == repr(found)
    assert repr(found).splitlines()[0] == "failed: alarm"
    assert "<h3>failed: alarm</h3>" in shown["text/html"]
    assert found.reasons[0] in shown["text/html"].replace("&#x27;", "'")
    document = json.loads(json.dumps(shown[MIME], allow_nan=False))
    assert (document["outcome"], document["strata"][0]["alarm"]) == ("alarm", True)
    assert document["strata"][0]["wealth"][-1] == found.strata[0].evidence
    assert [row["run_id"] for row in document["due"]] == list(found.due["run_id"])


def test_every_outcome_can_be_shown(watched: Watched) -> None:
    for flag_at in (0.5, 0.6):
        watched.team.write(flag_at)
        assert json.dumps(watched.audit()._repr_mimebundle_(), allow_nan=False)
    with cw.open() as empty:
        assert json.dumps(cw.audit(watched.team.check, empty)._repr_mimebundle_(), allow_nan=False)


def test_the_picture_shows_the_path_and_the_line(worked: Watched) -> None:
    worked.decide(worked.due[:3])
    lines = worked.audit().plot().axes[0].get_lines()
    assert [len(line.get_xdata()) for line in lines] == [4, 2]  # type: ignore[arg-type]


def test_without_evidence_there_is_no_picture(watched: Watched) -> None:
    watched.team.write(0.6)
    with pytest.raises(InputError, match="there is nothing to draw: void"):
        watched.audit().plot()


def test_names_of_due_work_are_escaped(watched: Watched) -> None:
    watched.work(8, name="<script>")
    assert "<script>" not in watched.audit()._repr_html_()


def run(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, dict[str, Any]]:
    code = main([*words, "--json"])
    return code, json.loads(capsys.readouterr().out)


def answered(due: list[dict[str, Any]], path: Path, *, until: str) -> Path:
    """Write what the auditors said of due work up to a day."""
    with (DATA / "vendors-after" / "labels.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    wanted = {(row["run_id"], str(row["attempt"])) for row in due}
    said = [row for row in rows if (row["run_id"], row["attempt"]) in wanted and row["decided_at"] < until]
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(said)
    return path


def test_the_shipped_work_goes_from_clear_to_alarm(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    db = str(tmp_path / "v.duckdb")
    vendors, after = DATA / "vendors", DATA / "vendors-after"
    load = ("load", str(vendors / "runs.jsonl"), "--decisions", str(vendors / "decisions.csv"), "--db", db)
    assert run(capsys, *load)[0] == 0
    audit = ("audit", SCREENING, "--db", db)
    code, found = run(capsys, *audit)
    assert (code, found["outcome"]) == (0, "no_certificate")
    trust = ("trust", SCREENING, "--db", db, "--change", "replace_approval", "--max-false-pass", "0.1")
    assert run(capsys, *trust)[0] == 0
    assert run(capsys, "load", str(after / "runs.jsonl"), "--db", db)[0] == 0
    code, found = run(capsys, *audit)
    assert (code, found["outcome"], len(found["strata"])) == (0, "unlabelled", 2)
    outcomes = []
    for until in ("2026-04-10", "2026-07-15"):
        sheet = answered(found["due"], tmp_path / f"{until}.csv", until=until)
        assert run(capsys, "load", "--db", db, "--decisions", str(sheet))[0] == 0
        code, found = run(capsys, *audit)
        outcomes.append((code, found["outcome"]))
    assert outcomes == [(0, "clear"), (1, "alarm")]
    first, again = found["strata"]
    assert (first["alarm"], again["alarm"]) == (False, True)
    assert again["risk"] > 0.2


def test_the_command_in_words(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    db = tmp_path / "v.duckdb"
    with cw.open(db) as store:
        store.load(DATA / "vendors" / "runs.jsonl")
    assert main(["audit", SCREENING, "--db", str(db)]) == 0
    out = capsys.readouterr().out
    assert out.startswith("vendor-check/check_vendor: no_certificate\n  no trust decision in this store")


@pytest.mark.parametrize("words", [["audit"], ["audit", SCREENING], ["audit", SCREENING, "b", "--db", "x"]])
def test_the_command_needs_one_check_and_a_store(words: list[str]) -> None:
    assert main(words) == 2


def test_a_store_that_is_not_there_is_told(tmp_path: Path) -> None:
    assert main(["audit", SCREENING, "--db", str(tmp_path / "none.duckdb")]) == 3


def filled(sheet: Path, back: Path, *, bad: bool) -> Path:
    """Fill every row of a sheet as a person would."""
    with sheet.open(encoding="utf-8-sig", newline="") as file:
        rows = list(csv.DictReader(file))
    with back.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows({**row, "decision": "problem" if bad else "no_problem"} for row in rows)
    return back


def test_a_sheet_of_due_work_comes_back_as_blind_labels(worked: Watched, tmp_path: Path) -> None:
    sheet = tmp_path / "due.csv"
    due = cw.audit(worked.team.check, worked.store, sheet=sheet).due
    assert "pass" not in sheet.read_text("utf-8-sig").lower()
    report = worked.store.load_decisions(filled(sheet, tmp_path / "back.csv", bad=False))
    assert (report.decisions, report.rejected) == (len(due), ())
    (first,) = worked.audit().strata
    assert first.labels == len(due)
    assert worked.store.sql("select count(*) as n from decisions where probability_sampled is not null")["n"][0] == 0


def test_the_same_due_work_gives_the_same_sheet(worked: Watched, tmp_path: Path) -> None:
    sheet = tmp_path / "due.csv"
    cw.audit(worked.team.check, worked.store, sheet=sheet)
    before = sheet.read_bytes()
    cw.audit(worked.team.check, worked.store, sheet=sheet)
    assert sheet.read_bytes() == before


def test_a_sheet_draws_nothing_for_trust(worked: Watched, tmp_path: Path) -> None:
    before = [list(draw.units["run_id"]) for draw in cw.label_next(worked.team.check, worked.store, n=5).draws]
    cw.audit(worked.team.check, worked.store, sheet=tmp_path / "due.csv")
    after = [list(draw.units["run_id"]) for draw in cw.label_next(worked.team.check, worked.store, n=5).draws]
    assert after == before


def test_a_sheet_is_refused_where_it_could_not_come_back(watched: Watched, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="there is no work to label"):
        cw.audit(watched.team.check, watched.store, sheet=tmp_path / "due.csv")
    watched.work(40)
    (tmp_path / "mine.csv").write_text("mine")
    with pytest.raises(InputError, match="holds something else"):
        cw.audit(watched.team.check, watched.store, sheet=tmp_path / "mine.csv")


def test_the_command_writes_the_sheet(
    with_work: tuple[Path, list[str]], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    db = shutil.copyfile(with_work[0] / STORE, tmp_path / STORE)
    sheet = tmp_path / "due.csv"
    check = Scenario(folder=tmp_path).check
    assert main(["audit", str(check), "--db", str(db), "--sheet", str(sheet)]) == 0
    assert capsys.readouterr().out.rstrip().endswith(f"wrote {sheet}")
    assert sheet.is_file()


def test_the_promoted_document_stands_on_its_certificate(tmp_path: Path) -> None:
    """The approval goes out of the file, and the audit of the changed file goes on."""
    process = tmp_path / "PROCESS.md"
    process.write_bytes((DATA / "vendors" / "PROCESS.md").read_bytes())
    check = f"{process}#vendor-check/check_vendor"
    with cw.open() as store:
        store.load(DATA / "vendors" / "runs.jsonl")
        store.load_decisions(DATA / "vendors" / "decisions.csv")
        made = cw.trust(check, store, plan=cw.plan(change="replace_approval", max_false_pass=0.1))
        before = cw.audit(check, store)
        made.apply()
        found = cw.audit(check, store)
    assert "advisory: true" in (DATA / "vendors" / "PROCESS.md").read_text(encoding="utf-8")
    assert (before.outcome, found.outcome) == ("unlabelled", "unlabelled")
    assert [any("still says advisory" in note for note in one.notes) for one in (before, found)] == [True, False]
