"""The sheet: what it shows, what it hides, and what comes back."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import check_workbench as cw
from check_workbench.decisions.sheets import Place, Wanted, escaped, meant, returned
from check_workbench.errors import InputError
from check_workbench.labels import labels_for
from check_workbench.sources import Note
from check_workbench.store import open_store
from tests.scenario import Scenario, uniform
from tests.workshop import loop, put_runs, question, run, screening, submission, vendor

if TYPE_CHECKING:
    from pathlib import Path

    from check_workbench.store import Store
    from tests.labelling.conftest import Desk

IDS = (
    "=cmd|' /C calc'!A0",
    "+1",
    "-x",
    "@sum",
    "0012",
    "1-2",
    'a "quoted", id',
    "two\nlines",
    "tab\there",
    "'q",
    "ümläut;x",
)


def passed(n: int = 30) -> list[dict[str, Any]]:
    return [u | {"p": 0.1} for u in uniform(n, labelled=0, risk=lambda _: 0.0)]


@pytest.fixture
def sheet(store: Store, team: Scenario, tmp_path: Path) -> Path:
    team.load(store, passed())
    cw.label_next(team.check, store, n=10, sheet=tmp_path / "blind.csv")
    return tmp_path / "blind.csv"


def held(store: Store) -> list[tuple[Any, ...]]:
    rows = store.sql("select run_id, decision, verdict_seen, provenance, check_id from decisions order by run_id")
    return [tuple(row) for row in rows.itertuples(index=False)]


def reasons(report: Any) -> list[str]:
    return [one.reason for one in report.rejected]


def test_the_sheet_is_made_for_a_spreadsheet_and_comes_back_whole(store: Store, sheet: Path, desk: Desk) -> None:
    assert sheet.read_bytes().startswith(b"\xef\xbb\xbfdecision,note,decided_by,question,input,work,output,run_id,")
    assert sheet.read_bytes().count(b"\r\n") == 11
    report = store.load_decisions(desk.fill(sheet, lambda _: "no_problem"))
    assert (report.decisions, report.rejected) == (10, ())
    assert {row[1:] for row in held(store)} == {("no_problem", False, "blind", "failed")}
    drawn = store.sql("select distinct probability_sampled as p, asked from decisions")
    assert drawn["p"].tolist() == [10 / 30]
    assert drawn["asked"].tolist() == [cw.read_checks(sheet.parent / "failed.check.yaml")[0].asked]


def test_nothing_on_the_sheet_tells_the_verdict(store: Store, team: Scenario, desk: Desk, tmp_path: Path) -> None:
    """Row order, names and texts are the same whatever the check found, and no number of it is there."""
    team.load(store, uniform(300, labelled=0, risk=lambda _: 0.0))
    both = cw.plan(change="enforce", max_false_pass=0.1)
    made = cw.label_next(team.check, store, n=120, plan=both, sheet=tmp_path / "both.csv")
    verdict = {row["run_id"]: row["verdict"] for _, row in made.draws[0].units.iterrows()}
    rows = desk.read(tmp_path / "both.csv")
    flags = [verdict[row["run_id"]] == "fail" for row in rows]
    assert 0 < sum(flags) < 120
    half = sum(flags[:60]) / 60 - sum(flags[60:]) / 60
    assert abs(half) < 0.3
    assert {row["decision"] for row in rows} == {""}
    assert not {"verdict", "score", "probability", "stratum"} & set(rows[0])
    for row in rows:
        assert row["row_id"].split("-")[0] == made.name
        assert not any(word in row["work"] + row["question"] for word in ("0.", "fail)", "pass"))


def test_recorded_verdicts_in_a_run_are_not_shown(store: Store, desk: Desk, tmp_path: Path) -> None:
    judged = {"type": "evaluator", "name": "judge", "output": "PASS 0.97"}
    put_runs(store, *({**run(f"r-{i}", input=f"task {i}"), "spans": [judged, {"type": "tool"}]} for i in range(5)))
    cw.label_next(loop(), store, n=5, sheet=tmp_path / "a.csv")
    steps = [vendor(f"v-{i}", submission(0.97, attempt=1), input=f"vendor {i}") for i in range(5)]
    put_runs(store, *steps)
    cw.label_next(screening(), store, n=5, sheet=tmp_path / "b.csv")
    rows = desk.read(tmp_path / "a.csv") + desk.read(tmp_path / "b.csv")
    assert [row for row in rows if "0.97" in "".join(row.values()) or "judge" in "".join(row.values())] == []
    assert {row["work"].split("\n")[0] for row in rows} == {"1. tool", "Instructions:"}


def test_half_a_sheet_comes_back_and_the_rest_later(store: Store, sheet: Path, desk: Desk) -> None:
    rows = desk.read(sheet)
    for row in rows[:4]:
        row["decision"] = "problem"
    report = store.load_decisions(desk.save(rows))
    assert (report.decisions, report.already, report.rejected) == (4, 0, ())
    assert any("6 decisions are left empty: they are skipped" in note for note in report.notes)
    for row in rows[4:]:
        row["decision"] = "no_problem"
    report = store.load_decisions(desk.save(rows))
    assert (report.decisions, report.already) == (6, 4)
    report = store.load_decisions(desk.save(rows))
    assert (report.decisions, report.already) == (0, 10)
    assert len(held(store)) == 10


@pytest.mark.parametrize(
    ("written", "decision"),
    [
        ("problem", "problem"),
        (" Problem ", "problem"),
        ("No Problem", "no_problem"),
        ("no-problem", "no_problem"),
        ("UNCLEAR", "unclear"),
        ("Approved", "approved"),
        ("rejected", "rejected"),
    ],
)
def test_words_are_taken_whatever_their_case(
    store: Store, sheet: Path, desk: Desk, written: str, decision: str
) -> None:
    report = store.load_decisions(desk.fill(sheet, lambda _: written))
    assert report.rejected == ()
    assert {row[1] for row in held(store)} == {decision}


def test_a_sheet_for_decisions_about_work_can_be_corrected(
    store: Store, team: Scenario, desk: Desk, tmp_path: Path
) -> None:
    """Its rows name the check for which they were drawn, whatever the word."""
    team.load(store, passed())
    plan = cw.plan("replace_approval", max_false_pass=0.1, labels="work")
    cw.label_next(team.check, store, n=10, plan=plan, sheet=tmp_path / "work.csv")
    for word in ("rejected", "approved"):
        rows = [{**row, "decided_by": "ann", "decision": word} for row in desk.read(tmp_path / "work.csv")]
        report = store.load_decisions(desk.save(rows))
        assert (report.decisions, report.rejected) == (10, ())
    assert any("10 decisions replace earlier ones of the same person" in note for note in report.notes)
    labels = labels_for(cw.read_checks(team.check)[0], store, kind="work")
    assert (len(labels), int(labels.frame["positive"].sum()), labels.excluded) == (10, 0, {"superseded": 10})


@pytest.mark.parametrize("word", ["yes", "No", "ja", "1", "TRUE"])
def test_a_plain_yes_could_mean_either(store: Store, sheet: Path, desk: Desk, word: str) -> None:
    report = store.load_decisions(desk.fill(sheet, lambda _: word))
    assert report.decisions == 0
    assert (
        reasons(report)
        == [f"decision must say what the person found, got {word!r}; write problem, no_problem or unclear"] * 10
    )
    assert report.rejected[0].line == 2


def test_a_wrong_word_is_rejected_with_those_that_would_work(store: Store, sheet: Path, desk: Desk) -> None:
    report = store.load_decisions(desk.fill(sheet, lambda row: "problen" if row["run_id"] < "r-0010" else "problem"))
    assert "Did you mean 'problem' or 'no_problem'?" in reasons(report)[0]
    assert report.decisions + len(report.rejected) == 10


def test_ids_are_checked(store: Store, sheet: Path, desk: Desk) -> None:
    rows = [{**row, "decision": "problem"} for row in desk.read(sheet)]
    rows[0]["run_id"] = "r-9999"
    rows[1]["row_id"] = rows[2]["row_id"]
    rows[1]["run_id"] = rows[2]["run_id"]
    rows[3]["row_id"] = rows[3]["row_id"][:-1] + "?"
    rows[4]["row_id"] = "ffffffff-000000000000"
    rows[5]["row_id"] = ""
    rows[6]["run_id"] = ""
    rows[7]["step_id"] = "screen"
    report = store.load_decisions(desk.save(rows))
    told = reasons(report)
    assert report.decisions == 3
    assert [one.line for one in report.rejected] == [2, 4, 5, 6, 7, 8, 9]
    assert "run_id must be" in told[0]
    assert "'r-9999'" in told[0]
    assert "came before in this file" in told[1]
    assert "has no such row" in told[2]
    assert "no such sheet was drawn from this store" in told[3]
    assert "row_id must be there" in told[4]
    assert "was changed to None" in told[5]
    assert "step_id must be None" in told[6]


def test_a_sheet_of_another_store_is_rejected_row_by_row(store: Store, sheet: Path, desk: Desk, team: Scenario) -> None:
    with open_store() as other:
        team.load(other, passed())
        report = other.load_decisions(desk.fill(sheet, lambda _: "problem"))
        assert report.decisions == 0
        assert len(report.rejected) == 10
        assert "no such sheet was drawn from this store" in reasons(report)[0]
        assert not any("'decision'" in str(note) for note in report.notes)
        other.merge(_exported(store, sheet.parent / "out"))
        assert other.load_decisions(desk.fill(sheet, lambda _: "problem")).decisions == 10


def _exported(store: Store, folder: Path) -> Path:
    store.export(folder)
    return folder


@pytest.mark.parametrize("delimiter", [";", "\t"])
def test_a_spreadsheet_may_part_cells_otherwise_and_move_columns(
    store: Store, sheet: Path, desk: Desk, delimiter: str
) -> None:
    rows = [{**row, "decision": "problem", "extra": "x"} for row in desk.read(sheet)]
    saved = desk.save(rows, delimiter=delimiter, columns=[*reversed(rows[0])])
    report = store.load_decisions(saved)
    assert (report.decisions, report.rejected) == (10, ())
    assert any("'extra' is not known" in note for note in report.notes)


def test_only_the_columns_that_count_need_come_back(store: Store, sheet: Path, desk: Desk) -> None:
    rows = [{name: row[name] for name in ("run_id", "row_id")} | {"decision": "problem"} for row in desk.read(sheet)]
    assert store.load_decisions(desk.save(rows)).decisions == 10


def test_a_cut_sheet_keeps_its_whole_rows(store: Store, sheet: Path, desk: Desk) -> None:
    whole = desk.fill(sheet, lambda _: "problem").read_bytes()
    cut = sheet.with_name("cut.csv")
    cut.write_bytes(whole[: int(len(whole) * 0.55)])
    report = store.load_decisions(cut)
    lines = cut.read_bytes().count(b"\n")
    assert report.decisions + len(report.rejected) == lines
    assert len(report.rejected) == 1
    assert report.rejected[0].line == lines + 1


def test_a_sheet_saved_on_windows_comes_back(store: Store, sheet: Path, desk: Desk) -> None:
    rows = [{**row, "decision": "problem", "note": "Gebühr"} for row in desk.read(sheet)]
    saved = desk.save(rows, delimiter=";")
    saved.write_bytes(saved.read_bytes().decode("utf-8-sig").encode("cp1252"))
    report = store.load_decisions(saved)
    assert (report.decisions, report.rejected) == (10, ())
    assert any("the text is not UTF-8" in note for note in report.notes)
    assert store.sql("select distinct note from decisions")["note"].tolist() == ["Gebühr"]


def test_a_sheet_without_its_row_ids_is_refused_as_a_whole(store: Store, sheet: Path, desk: Desk) -> None:
    rows = [{name: cell for name, cell in row.items() if name != "row_id"} for row in desk.read(sheet)]
    with pytest.raises(InputError, match="the column row_id must be there"):
        store.load_decisions(desk.save(rows))
    assert held(store) == []


@given(st.lists(st.tuples(st.integers(0, 5), st.sampled_from(["", "problem", "No problem", "yes", "=1", "x"]))))
def test_nothing_that_comes_back_vanishes(tmp_path_factory: pytest.TempPathFactory, said: Any) -> None:
    """Each row is a decision, a rejected record, or counted as empty."""
    wanted = {"decision": Wanted(check_id="c", asked="a", probability=0.5)}
    drawn = {f"s-{i}": Place(run_id=f"r{i}", step_id=None, attempt=None, wanted=wanted) for i in range(5)}
    path = tmp_path_factory.mktemp("sheet") / "a.csv"
    lines = [f"{word},r{row},s-{row}" for row, word in said]
    path.write_text("\n".join(["decision,run_id,row_id", *lines]), encoding="utf-8")
    found = list(returned(path, drawn, {}, datetime(2026, 1, 1, tzinfo=UTC)))
    notes = [one.text for one in found if isinstance(one, Note)]
    empty = sum(int(note.split(" ")[0]) for note in notes if "left empty" in note)
    assert len(found) - len(notes) + empty == len(said)


def test_two_sheets_in_one_file_both_count(
    store: Store, sheet: Path, desk: Desk, team: Scenario, tmp_path: Path
) -> None:
    cw.label_next(team.check, store, n=14, sheet=tmp_path / "more.csv")
    rows = desk.read(sheet) + desk.read(tmp_path / "more.csv")
    report = store.load_decisions(desk.save([{**row, "decision": "problem"} for row in rows]))
    assert report.rejected == ()
    assert len({row[0] for row in held(store)}) == len(held(store)) == 14
    assert any("10 decisions are there on two sheets: each counts once" in note for note in report.notes)


def test_a_second_person_counts_and_a_corrected_sheet_replaces_what_was_loaded(
    store: Store, sheet: Path, desk: Desk, team: Scenario
) -> None:
    rows = [{**row, "decision": "problem", "decided_by": "ann"} for row in desk.read(sheet)]
    assert store.load_decisions(desk.save(rows)).decisions == 10
    other = [{**row, "decision": "problem", "decided_by": "ben"} for row in rows]
    assert store.load_decisions(desk.save(other)).decisions == 10
    rows[0] |= {"decision": "no_problem", "note": "after all", "decided_by": "Ann "}
    rows[1] |= {"decision": "unclear"}
    for _ in range(2):
        report = store.load_decisions(desk.save(rows))
    assert (report.decisions, report.already, report.rejected) == (0, 10, ())
    check = cw.read_checks(team.check)[0]
    labels = labels_for(check, store)
    assert labels.excluded == {"annotators_disagree": 2, "superseded": 2, "unclear": 1}
    noted = [{**row, "note": "so it is"} for row in rows]
    report = store.load_decisions(desk.save(noted))
    assert (report.decisions, report.already) == (0, 10)
    assert any("the first note stays" in note for note in report.notes)


def test_loading_a_corrected_sheet_says_what_it_replaces_however_often(
    store: Store, sheet: Path, desk: Desk, team: Scenario
) -> None:
    """Within a second as well: a correction comes after what it corrects."""
    rows = [{**row, "decision": "problem", "decided_by": "ann"} for row in desk.read(sheet)]
    store.load_decisions(desk.save(rows))
    check = cw.read_checks(team.check)[0]
    for times, word in enumerate(("no_problem", "problem", "no_problem"), start=1):
        for row in rows[:2]:
            row["decision"] = word
        report = store.load_decisions(desk.save(rows))
        assert (report.decisions, report.already) == (2, 8)
        assert "2 decisions replace earlier ones of the same person" in report.notes[-1]
        labels = labels_for(check, store)
        assert labels.excluded == {"superseded": 2 * times}
        assert int(labels.frame["positive"].sum()) == (10 if word == "problem" else 8)


def test_a_decision_of_nobody_is_not_corrected(store: Store, sheet: Path, desk: Desk) -> None:
    store.load_decisions(desk.fill(sheet, lambda _: "problem"))
    report = store.load_decisions(desk.fill(sheet, lambda _: "no_problem"))
    assert (report.decisions, len(report.rejected)) == (0, 10)
    assert "must stay 'problem', as it was loaded before" in reasons(report)[0]
    assert "only who is named in decided_by can correct a decision" in reasons(report)[0]


def test_two_sheets_in_one_file_may_not_contradict_each_other(
    store: Store, sheet: Path, desk: Desk, team: Scenario, tmp_path: Path
) -> None:
    cw.label_next(team.check, store, n=14, sheet=tmp_path / "more.csv")
    mine = [{**row, "decision": "problem", "decided_by": "ann"} for row in desk.read(sheet)]
    more = [{**row, "decision": "no_problem", "decided_by": "Ann"} for row in desk.read(tmp_path / "more.csv")]
    report = store.load_decisions(desk.save(mine + more))
    assert (report.decisions, len(report.rejected)) == (14, 10)
    assert "must stay 'problem', on another sheet in this file" in reasons(report)[0]


def test_labels_of_a_question_that_was_reworded_are_kept_for_the_old_text(
    store: Store, sheet: Path, desk: Desk, team: Scenario
) -> None:
    team.write(0.5, ask="Did it fail at all?")
    cw.evaluate(team.check, store)
    report = store.load_decisions(desk.fill(sheet, lambda _: "problem"))
    assert report.decisions == 10
    assert any("failed was reworded after it was drawn: 10 decisions" in note for note in report.notes)
    [cert] = cw.trust(team.check, store, plan=cw.plan(change="replace_approval"))
    assert cert.excluded == {"other_version": 10}


def test_ids_that_a_spreadsheet_would_spoil_come_back(store: Store, desk: Desk, tmp_path: Path) -> None:
    put_runs(store, *(run(name, input=f"task {name}") for name in IDS))
    made = cw.label_next(loop(), store, n=50, sheet=tmp_path / "a.csv")
    assert made.readings == len(IDS)
    rows = desk.read(tmp_path / "a.csv")
    assert [row["run_id"] for row in rows if row["run_id"][0] in "=+-@" or row["run_id"][0].isdigit()] == []
    report = store.load_decisions(desk.fill(tmp_path / "a.csv", lambda _: "no problem"))
    assert report.rejected == ()
    assert {row[0] for row in held(store)} == set(IDS)


def test_no_cell_begins_like_a_formula(store: Store, desk: Desk, tmp_path: Path) -> None:
    evil = ("=1+1", "+1", "-1", "@x", "\t=1", "\r=1", "ok\x00\x1b[31m\ud800")
    put_runs(store, *(run(f"r-{i}", input=text + f" {i}", final_output=text) for i, text in enumerate(evil)))
    cw.label_next(loop(), store, n=50, sheet=tmp_path / "a.csv")
    cells = [cell for row in desk.read(tmp_path / "a.csv") for cell in row.values()]
    assert [cell for cell in cells if cell.startswith(("=", "+", "-", "@", "\t", "\r"))] == []
    assert not any("\x00" in cell or "\x1b" in cell for cell in cells)


@given(st.text())
def test_escaping_can_be_undone(text: str) -> None:
    for is_id in (True, False):
        assert not escaped(text, is_id=is_id).startswith(("=", "+", "-", "@", "\t", "\r"))
    assert meant(escaped(text, is_id=True)) == text


def test_long_work_is_cut_and_says_so(store: Store, desk: Desk, tmp_path: Path) -> None:
    spans = [{"type": "tool", "name": f"t{i}", "input": "x" * 5000, "output": "y" * 5000} for i in range(200)]
    put_runs(store, {"run_id": "long", "input": "z" * 90_000, "spans": spans})
    cw.label_next(loop(), store, n=5, sheet=tmp_path / "a.csv")
    [row] = desk.read(tmp_path / "a.csv")
    assert row["input"].endswith("[… 84,000 characters more]")
    assert len(row["work"]) <= 6100
    assert row["work"].startswith("1. tool t0")
    assert "\n200. tool t199" in row["work"]
    assert "steps left out …]" in row["work"]


def test_several_checks_share_one_reading(store: Store, desk: Desk, tmp_path: Path) -> None:
    """Both samples are the first of one order, so they overlap as far as equal probability allows."""
    put_runs(store, *(run(f"r-{i}", 1 + i % 4, input=f"task {i}") for i in range(120)))
    checks = [loop(3), loop(4, id="long loop"), loop(2, id="any")]
    made = cw.label_next(checks, store, n=20, sheet=tmp_path / "a.csv")
    alone = [set(cw.label_next(check, store, n=20).units["run_id"]) for check in checks]
    for check, one in zip(checks, alone, strict=True):
        assert set(made.units.loc[made.units["check"] == check.id, "run_id"]) == one
    assert made.labels == 60
    assert made.readings == len(set().union(*alone)) < 45
    assert f"60 labels in {made.readings} readings: {60 - made.readings} readings fewer" in repr(made)
    rows = desk.read(tmp_path / "a.csv")
    columns = [f"decision: {check.id}" for check in checks]
    assert list(rows[0])[:3] == columns
    assert sum(row[name] == "not asked" for row in rows for name in columns) == 3 * made.readings - 60
    for row in rows:
        row |= {name: "no problem" for name in columns if row[name] != "not asked"}
    report = store.load_decisions(desk.save(rows))
    assert (report.decisions, report.rejected) == (60, ())


def test_an_answer_that_was_not_asked_for_is_rejected(store: Store, desk: Desk, tmp_path: Path) -> None:
    put_runs(store, *(run(f"r-{i}", 1 + i % 4, input=f"task {i}") for i in range(60)))
    made = cw.label_next([loop(3), loop(2, id="any")], store, n=20, sheet=tmp_path / "a.csv")
    rows = desk.read(tmp_path / "a.csv")
    extra = sum(row[name] == "not asked" for row in rows for name in ("decision: loop", "decision: any"))
    filled = [{**row, "decision: loop": "problem", "decision: any": "problem"} for row in rows]
    report = store.load_decisions(desk.save(filled))
    assert (report.decisions, len(report.rejected)) == (made.labels, extra)
    assert "was not asked of this work" in reasons(report)[0]


def test_a_sheet_is_never_written_over_another(store: Store, sheet: Path, desk: Desk, team: Scenario) -> None:
    before = sheet.read_bytes()
    cw.label_next(team.check, store, n=10, sheet=sheet)
    assert sheet.read_bytes() == before
    assert store.sql("select count(*) as n from looks where call = 'label_next'")["n"].tolist() == [1]
    desk.fill(sheet, lambda _: "problem").replace(sheet)
    with pytest.raises(InputError, match="holds something else, perhaps decisions"):
        cw.label_next(team.check, store, n=10, sheet=sheet)
    with pytest.raises(InputError, match="there is no folder"):
        cw.label_next(team.check, store, n=10, sheet=sheet.parent / "no" / "a.csv")


def test_a_store_that_is_read_only_keeps_no_draw(team: Scenario, tmp_path: Path) -> None:
    with cw.open(tmp_path / "s.duckdb") as store:
        team.load(store, passed())
        cw.evaluate(team.check, store)
    with cw.open(tmp_path / "s.duckdb", read_only=True) as store:
        assert cw.label_next(team.check, store, n=5).readings == 5
        with pytest.raises(InputError, match="open to read only"):
            cw.label_next(team.check, store, n=5, sheet=tmp_path / "a.csv")
    assert not (tmp_path / "a.csv").exists()


def test_nothing_to_draw_writes_no_sheet(store: Store, tmp_path: Path) -> None:
    made = cw.label_next(question(), store, n=5, sheet=tmp_path / "a.csv")
    assert made.file is None
    assert not (tmp_path / "a.csv").exists()


def test_a_result_shows_itself_without_the_verdict_of_any_run(store: Store, team: Scenario) -> None:
    team.load(store, uniform(60, labelled=0, risk=lambda _: 0.0))
    made = cw.label_next(team.check, store, n=10)
    bundle = made._repr_mimebundle_()
    assert bundle["application/vnd.check-workbench+json"] == made.to_json()
    assert bundle["text/plain"] == repr(made)
    assert "Work to label, 10 of 10" in bundle["text/html"]
    assert list(made.units.columns) == ["check", "run_id", "step_id", "attempt", "probability"]


def test_one_is_said_as_one(store: Store) -> None:
    """One reading that is saved is one reading, and one probability no range."""
    put_runs(store, *(run(f"r-{i}", 4, input=f"task {i}") for i in range(6)))
    made = cw.label_next([loop(3), loop(3, id="again")], store, n=1, purpose="recall")
    assert "2 labels in 1 reading: 1 reading fewer than check by check" in repr(made)
    assert "1 that it fails; each with a probability of 16.7 %, which its label carries" in repr(made)
