"""SQLite files of other programs are read as they are, damaged or not, and left as they are."""

from __future__ import annotations

import contextlib
import json
import shutil
import sqlite3
from typing import TYPE_CHECKING

import pytest

from check_workbench.records import Run
from check_workbench.sources import Recognised, recognise
from tests.sources.adk_database import add_event, whole
from tests.sources.reading import one_run, only, read

if TYPE_CHECKING:
    from pathlib import Path

    from check_workbench.store import Store


@pytest.fixture
def database(tmp_path: Path) -> Path:
    return whole(tmp_path / "session.db")


def test_the_file_and_its_folder_stay_as_they_are(database: Path) -> None:
    before = database.read_bytes()
    database.chmod(0o444)
    database.parent.chmod(0o555)
    try:
        recognised = recognise(database)
        read("adk", database)
    finally:
        database.parent.chmod(0o755)
    assert isinstance(recognised, Recognised)
    assert recognised.format.name == "adk"
    assert database.read_bytes() == before
    assert [path.name for path in database.parent.iterdir()] == ["session.db"]


def test_what_lies_in_a_write_ahead_log_counts(database: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    copy.mkdir()
    with contextlib.closing(sqlite3.connect(database)) as made:
        made.execute("pragma journal_mode = wal")
        add_event(made, 8, json.dumps({"author": "a", "content": {"parts": [{"text": "From the log."}]}}))
        made.commit()
        for path in tmp_path.glob("session.db*"):
            shutil.copy(path, copy)
    assert one_run(read("adk", copy / "session.db")).final_output == "From the log."
    assert {path.name for path in copy.iterdir()} <= {"session.db", "session.db-wal", "session.db-shm"}


@pytest.mark.parametrize(("keep", "junk"), [(1.0, True), (0.5, False), (0.01, False)])
def test_a_damaged_database_is_rejected(database: Path, store: Store, *, keep: float, junk: bool) -> None:
    data = bytearray(database.read_bytes())
    data = data[: max(20, int(len(data) * keep))]
    if junk:
        data[4096:] = b"\xff" * (len(data) - 4096)
    database.write_bytes(data)
    report = store.load(database)
    assert report.runs == 0
    assert [r.reason.startswith("the SQLite file is damaged") for r in report.rejected] == [True]


def test_a_table_whose_name_is_no_text_harms_nobody(database: Path) -> None:
    database.write_bytes(database.read_bytes().replace(b"user_states", b"user\xffstates"))
    assert isinstance(recognise(database), Recognised)
    assert only(read("adk", database), Run)


def test_other_sqlite_files_are_not_taken(tmp_path: Path) -> None:
    with contextlib.closing(sqlite3.connect(tmp_path / "a.db")) as made:
        made.executescript("create table sessions (id); create table events (id)")
    assert recognise(tmp_path / "a.db") is None
