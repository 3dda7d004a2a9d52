"""`load` with dry runs, samples, and other stores."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING, Any

import pytest

import check_workbench as cw
from check_workbench.samples import sample_data

if TYPE_CHECKING:
    from pathlib import Path

DATA = sample_data()
REFUNDS = DATA / "refunds"
ALL = (REFUNDS / "runs.jsonl", "--decisions", REFUNDS / "labels.csv", "--answers", REFUNDS / "answers.jsonl")


@pytest.fixture(scope="module")
def hers(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("hers")
    with cw.open(folder / "hers.duckdb") as store:
        store.load(REFUNDS / "runs.jsonl")
        store.load_decisions(REFUNDS / "labels.csv")
        store.export(folder / "parquet")
    return folder


def test_a_dry_run_leaves_no_file(cli: Any, tmp_path: Path) -> None:
    db = tmp_path / "new.duckdb"
    dry = cli("load", *ALL, "--db", db, "--dry-run", "--json")
    assert (dry.code, list(tmp_path.iterdir())) == (0, [])
    assert dry.document.pop("dry_run") is True
    kinds = [next(k for k in ("spans", "decision", "check_id") if k in one) for one in dry.document["first"]]
    assert kinds == ["spans"] * 3 + ["decision"] * 3 + ["check_id"] * 3
    loaded = cli("load", *ALL, "--db", db, "--json").document
    assert {name: dry.document[name] for name in loaded} == loaded
    assert loaded["decisions"] > 0


def test_a_dry_run_counts_against_what_is_there(cli: Any, tmp_path: Path) -> None:
    db = tmp_path / "s.duckdb"
    cli("load", *ALL, "--db", db)
    before = db.read_bytes()
    ran = cli("load", *ALL, "--db", db, "--dry-run")
    assert ran.out.startswith("Would load nothing new. Nothing was written.")
    assert (ran.code, db.read_bytes()) == (0, before)
    assert [path.name for path in tmp_path.iterdir()] == ["s.duckdb"]


def test_a_dry_run_refuses_what_the_load_would_refuse(cli: Any, tmp_path: Path) -> None:
    assert cli("load", *ALL, "--db", tmp_path / "no" / "s.duckdb", "--dry-run").code == 3
    assert cli("load", tmp_path / "nothing", "--db", tmp_path / "s.duckdb", "--dry-run").code == 3
    (tmp_path / "s.duckdb").write_text("words")
    for more in ([], ["--dry-run"]):
        refused = cli("load", *ALL, "--db", tmp_path / "s.duckdb", *more)
        assert "s.duckdb must be the DuckDB file of a store, but is another file" in refused.err
        assert refused.code == 3
        assert (tmp_path / "s.duckdb").read_text() == "words"


@pytest.mark.parametrize("wrong", [["--mapping", "nope"], ["--mapping", "bad.yaml"], ["--format", "nope"]])
def test_a_load_that_cannot_begin_leaves_no_file(
    cli: Any, tmp_path: Path, wrong: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "bad.yaml").write_text("parts: [")
    assert cli("load", *ALL, "--db", tmp_path / "s.duckdb", *wrong).code == 3
    assert [path.name for path in tmp_path.iterdir()] == ["bad.yaml"]


def test_a_sample(cli: Any, tmp_path: Path) -> None:
    db = tmp_path / "s.duckdb"
    ran = cli("load", REFUNDS / "runs.jsonl", "--db", db, "--sample", "5", "--json")
    assert (ran.document["runs"], ran.document["sample"]["taken"]) == (5, 5)
    again = cli("load", REFUNDS / "runs.jsonl", "--db", db, "--sample", "5")
    assert "5 already there" in again.out
    assert "A sample: 5 of 100 runs seen, from 1 of 1 file; the rest was not read." in again.out
    dry = cli("load", REFUNDS / "runs.jsonl", "--db", db, "--sample", "7", "--dry-run", "--json").document
    assert (dry["runs"], dry["already"]) == (2, 5)


@pytest.mark.parametrize("wanted", ["0", "-3", "x", "1.5", ""])
def test_a_sample_is_a_number_of_runs(cli: Any, tmp_path: Path, wanted: str) -> None:
    ran = cli("load", REFUNDS / "runs.jsonl", "--db", tmp_path / "s.duckdb", f"--sample={wanted}")
    assert (ran.code, list(tmp_path.iterdir())) == (2, [])
    assert "must be a whole number from 1" in ran.err


def test_a_sample_is_of_runs(cli: Any, tmp_path: Path) -> None:
    ran = cli("load", "--decisions", REFUNDS / "labels.csv", "--db", tmp_path / "s.duckdb", "--sample", "3")
    assert ran.code == 2
    assert "--sample speaks of PATHs" in ran.err


@pytest.mark.parametrize("way", ["hers.duckdb", "parquet", "."])
def test_a_colleagues_store_is_merged(cli: Any, tmp_path: Path, hers: Path, way: str) -> None:
    db = tmp_path / "mine.duckdb"
    first = cli("load", hers / way, "--db", db, "--json").document
    assert (first["runs"], first["decisions"]) == (200, 277)
    again = cli("load", hers / way, "--db", db)
    assert "taken as store" in again.out
    assert again.out.startswith("Loaded nothing new.")


def test_an_exported_folder_comes_back_as_it_was(cli: Any, tmp_path: Path, hers: Path) -> None:
    assert cli("load", hers / "parquet", "--db", tmp_path / "new.duckdb").code == 0
    with cw.open(tmp_path / "new.duckdb") as store:
        store.export(tmp_path / "again")
    for path in (hers / "parquet").iterdir():
        assert path.read_bytes() == (tmp_path / "again" / path.name).read_bytes()


def test_the_own_file_among_the_paths_is_passed_over(cli: Any, tmp_path: Path) -> None:
    shutil.copy(REFUNDS / "runs.jsonl", tmp_path / "runs.jsonl")
    for flags in ([], ["--dry-run"]):
        ran = cli("load", tmp_path, "--db", tmp_path / "mine.duckdb", "--json", *flags)
        assert ran.code == 0
        assert ran.document["skipped"] == [str(tmp_path / "mine.duckdb")]


def test_a_store_that_cannot_be_merged_ends_with_a_message(cli: Any, tmp_path: Path, hers: Path) -> None:
    shutil.copytree(hers / "parquet", tmp_path / "cut")
    (tmp_path / "cut" / "spans.parquet").write_bytes(b"PAR1")
    ran = cli("load", tmp_path / "cut", "--db", tmp_path / "s.duckdb")
    assert ran.code == 3
    assert "was cut or changed since it was exported" in ran.err
