from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
import time
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import check_workbench as cw
from check_workbench.changes.lock import NAME, Lock, read_lock
from check_workbench.cli import main
from check_workbench.errors import InputError
from tests.changes.conftest import write_loop
from tests.workshop import put_decisions, put_runs, run

if TYPE_CHECKING:
    from pathlib import Path

PROGRAM = (sys.executable, "-c", "import sys; from check_workbench.cli import main; sys.exit(main())")
ENTRY = {
    "file": "loop.check.yaml",
    "asked": "a",
    "document": "d",
    "thresholds": [{"item": 0, "key": "at_least", "value": 3, "by": None}],
    "certified": [],
    "answered_by": ["rule"],
    "labels": {"blind": False, "digest": "x", "kind": "check", "n": 0},
    "numbers": {"bad among passed": {"k": 0, "n": 0}},
    "silent": {"k": 0, "n": 0},
}


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with a store and a folder of one calibrated check with its lock."""
    whole = tmp_path_factory.mktemp("prepared")
    with cw.open(whole / "store.duckdb") as store:
        put_runs(store, *(run(f"r-{n}", n % 6 + 1) for n in range(60)))
        labels = ("no_problem", "no_problem", "problem", "problem", "problem", "problem")
        put_decisions(
            store, *({"run_id": f"r-{n}", "check_id": "looping", "decision": labels[n % 6]} for n in range(60))
        )
        write_loop(whole / "checks" / "loop.check.yaml", 3)
        cw.calibrate(whole / "checks", store, goal="recall>=0.9")
        cw.gate(whole / "checks", store, update=True)
    return whole


@pytest.fixture
def folder(prepared: Path, tmp_path: Path) -> Path:
    """Return the folder of checks, the store beside it."""
    shutil.copytree(prepared, tmp_path, dirs_exist_ok=True)
    return tmp_path / "checks"


def gate(folder: Path, *words: str) -> int:
    return main(["gate", str(folder), "--db", str(folder.parent / "store.duckdb"), *words])


def test_the_lock_is_the_same_each_time_and_names_no_place_and_no_time(folder: Path) -> None:
    text = (folder / NAME).read_text(encoding="utf-8")
    stamp = (folder / NAME).stat().st_mtime_ns
    assert gate(folder, "--update") == 0
    assert ((folder / NAME).read_text(encoding="utf-8"), (folder / NAME).stat().st_mtime_ns) == (text, stamp)
    assert str(folder.parent) not in text
    assert not re.search(r"\d{4}-\d\d-\d\d|\d\d:\d\d", text)
    assert text == json.dumps(json.loads(text), indent=2, sort_keys=True, ensure_ascii=False) + "\n"
    assert [path.name for path in folder.iterdir() if path.name.endswith(".tmp")] == []


def test_a_lock_written_elsewhere_is_the_same(folder: Path, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere" / "deep"
    shutil.copytree(folder, elsewhere, ignore=shutil.ignore_patterns(NAME))
    with cw.open(tmp_path / "store.duckdb") as store:
        cw.gate([elsewhere / "loop.check.yaml"], store, update=True)
    assert (elsewhere / NAME).read_bytes() == (folder / NAME).read_bytes()


def test_what_is_written_is_read_back(tmp_path: Path) -> None:
    lock = Lock(path=tmp_path / NAME, entries={"Prüfung \u2028 'x'": ENTRY})
    lock.write()
    assert read_lock(tmp_path) == lock
    assert read_lock(tmp_path / "nowhere") is None


CUT = json.dumps({"version": 1, "checks": {"looping": ENTRY}}, indent=2)


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"", "ends in the middle"),
        (CUT[: len(CUT) // 2].encode(), "this is not JSON"),
        (b"{}", r"'version' is a required property|'checks' is a required property"),
        (b"[]", "is not of type 'object'"),
        (b"null", "is not of type 'object'"),
        (b'{"version": 2, "checks": {}}', "is of version 2, this check-workbench knows 1"),
        (b'{"version": "1", "checks": {}}', "is of version '1'"),
        (b'{"version": 1, "checks": []}', "is not of type 'object'"),
        (b'{"version": 1, "checks": {"looping": null}}', "is not of type 'object'"),
        (b'{"version": 1, "version": 1, "checks": {}}', "the key 'version' stands twice"),
        (b'{"version": 1, "checks": {"a": NaN}}', "this is not JSON"),
        (b'{"version": 1,\n<<<<<<< ours\n"checks": {}}', "marks of a merge: take either side"),
        (b"\xff\xfe{}", "UTF-16"),
        (b'{"version": "\xe9"}', "0xe9 is not UTF-8"),
        (b" " * 2_100_000, "larger than 2 MB"),
        (b"[" * 100_000, "deep|this is not JSON"),
        (b'{"version": 1, "checks": {}, "note": 1e999}', "holds a number that is too large"),
        (b"version: 1\nchecks: {}\n", "this is not JSON"),
    ],
)
def test_a_broken_lock_is_a_message_and_exit_three(folder: Path, capsys: Any, data: bytes, words: str) -> None:
    (folder / NAME).write_bytes(data)
    assert gate(folder) == 3
    said = capsys.readouterr().err
    assert re.search(words, said), said
    assert NAME in said
    assert "Traceback" not in said


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("file", 3),
        ("asked", None),
        ("document", []),
        ("thresholds", {}),
        ("thresholds", [{"item": -1, "key": "at_least", "value": 3, "by": None}]),
        ("thresholds", [{"item": 0, "key": "at_least", "value": "3", "by": None}]),
        ("certified", [{"side": "both", "target": 0.1}]),
        ("certified", [{"side": "false_pass"}]),
        ("certified", [{"side": "false_pass", "target": 1.5}]),
        ("certified", [{"side": "false_pass", "target": -0.1}]),
        ("answered_by", [1]),
        ("thresholds", [{"item": 0, "key": "at_least", "value": 3, "by": "me"}]),
        ("thresholds", [{"item": 0, "key": "at_least", "value": 3, "by": {"how": 1}}]),
        ("labels", {"blind": "no", "digest": "x", "kind": "check", "n": 0}),
        ("labels", {"blind": True, "digest": "x", "kind": "other", "n": 0}),
        ("numbers", {"bad among passed": 3}),
        ("numbers", {"bad among passed": {"k": 1.5, "n": 3}}),
        ("numbers", {"bad among passed": {"k": 1, "n": 10**30}}),
        ("silent", {"k": -1, "n": 3}),
    ],
)
def test_a_value_of_the_wrong_kind_is_named(tmp_path: Path, name: str, value: Any) -> None:
    document = {"version": 1, "checks": {"looping": {**ENTRY, name: value}}}
    (tmp_path / NAME).write_text(json.dumps(document), encoding="utf-8")
    with pytest.raises(InputError, match=rf"\$\.checks\.looping\.{name}.*gate --update"):
        read_lock(tmp_path)


def test_a_file_name_that_is_not_utf8_makes_no_lock_that_cannot_be_read(tmp_path: Path) -> None:
    Lock(path=tmp_path / NAME, entries={"a": {**ENTRY, "file": "caf\udce9.check.yaml"}}).write()
    found = read_lock(tmp_path)
    assert found is not None
    assert found.entries == {"a": {**ENTRY, "file": "caf?.check.yaml"}}


@pytest.mark.parametrize("name", sorted(ENTRY))
def test_a_missing_value_is_named(tmp_path: Path, name: str) -> None:
    entry = {key: value for key, value in ENTRY.items() if key != name}
    (tmp_path / NAME).write_text(json.dumps({"version": 1, "checks": {"looping": entry}}), encoding="utf-8")
    with pytest.raises(InputError, match=f"'{name}' is a required property"):
        read_lock(tmp_path)


def test_counts_that_cannot_be_are_a_message(folder: Path, capsys: Any) -> None:
    document = json.loads((folder / NAME).read_text(encoding="utf-8"))
    document["checks"]["looping"]["numbers"]["bad among passed"] = {"k": 9, "n": 2}
    (folder / NAME).write_text(json.dumps(document), encoding="utf-8")
    assert gate(folder) == 3
    assert "k 9 must be at most n 2" in capsys.readouterr().err


def test_an_edited_origin_is_shown_as_it_stands(folder: Path, tmp_path: Path) -> None:
    """The lock is reviewed like code; whatever stands in `by` is never run and never raises."""
    document = json.loads((folder / NAME).read_text(encoding="utf-8"))
    document["checks"]["looping"]["thresholds"][0]["by"] = {"how": ["<script>"]}
    (folder / NAME).write_text(json.dumps(document), encoding="utf-8")
    with cw.open() as fresh, pytest.raises(InputError, match="is not of type 'string'"):
        cw.gate(folder, fresh)
    document["checks"]["looping"]["thresholds"][0]["by"] = {"how": "chosen", "goal": "<script>", "labels": []}
    (folder / NAME).write_text(json.dumps(document), encoding="utf-8")
    with cw.open(tmp_path / "fresh.duckdb") as fresh:
        put_runs(fresh, run("a"))
        shown = cw.gate(folder, fresh)._repr_html_()
    assert "<script>" not in shown
    assert "chosen for &lt;script&gt;" in shown


NUMBERS = st.integers() | st.floats(allow_nan=False, allow_infinity=False)
FLAT = st.none() | st.booleans() | NUMBERS | st.text(max_size=5)
NAMED = st.dictionaries(st.text(max_size=5), FLAT | st.lists(FLAT, max_size=3), max_size=3)
JSON = FLAT | st.lists(FLAT | NAMED, max_size=3) | st.dictionaries(st.text(max_size=5), FLAT | NAMED, max_size=3)


@given(st.dictionaries(st.sampled_from(sorted(ENTRY)), JSON, min_size=1))
def test_no_lock_is_more_than_a_message(tmp_path_factory: pytest.TempPathFactory, changes: dict[str, Any]) -> None:
    folder = tmp_path_factory.mktemp("lock")
    document = {"version": 1, "checks": {"looping": {**ENTRY, **changes}}}
    (folder / NAME).write_text(json.dumps(document), encoding="utf-8")
    try:
        found = read_lock(folder)
    except InputError as error:
        assert NAME in str(error)  # noqa: PT017 - most locks are refused, some are fine
    else:
        assert found is not None
        assert set(found.entries) == {"looping"}


class TestCommand:
    def test_passed_failed_and_unusable(self, folder: Path, capsys: Any) -> None:
        assert gate(folder) == 0
        assert capsys.readouterr().out.startswith("gate passed: ")
        write_loop(folder / "loop.check.yaml", 2)
        assert gate(folder, "--json") == 1
        document = json.loads(capsys.readouterr().out)
        assert document["passed"] is False
        assert {case["condition"] for case in document["cases"] if case["state"] == "failed"} >= {
            "calibrated", "unchanged",
        }  # fmt: skip
        (folder / NAME).unlink()
        assert gate(folder) == 3
        assert "gate --update writes it" in capsys.readouterr().err

    def test_a_junit_file_that_cannot_be_written_is_told_before_labels_are_read(
        self, folder: Path, capsys: Any
    ) -> None:
        assert gate(folder, "--junit", str(folder / "nowhere" / "gate.xml")) == 3
        assert "there is no folder" in capsys.readouterr().err
        assert gate(folder, "--junit", str(folder)) == 3
        with cw.open(folder.parent / "store.duckdb") as store:
            assert store.sql("select call from looks")["call"].tolist() == ["calibrate", "gate"]

    def test_a_lock_that_cannot_be_written(self, folder: Path, capsys: Any) -> None:
        (folder / NAME).unlink()
        (folder / NAME).mkdir()
        assert gate(folder, "--update") == 3
        assert NAME in capsys.readouterr().err

    def test_a_lock_that_somebody_else_wrote_meanwhile_is_kept(self, folder: Path) -> None:
        one, other = read_lock(folder), read_lock(folder)
        assert one is not None
        assert other is not None
        Lock(path=other.path, held=other.held, entries={**other.entries, "theirs": ENTRY}).write()
        theirs = other.path.read_bytes()
        with pytest.raises(InputError, match="changed while it was written"):
            Lock(path=one.path, held=one.held, entries={"ours": ENTRY}).write()
        with pytest.raises(InputError, match="changed while it was written"):
            Lock(path=one.path, entries={"ours": ENTRY}).write()
        assert one.path.read_bytes() == theirs

    def test_two_at_once(self, folder: Path, capsys: Any) -> None:
        """Each passes, or was told that the other held the store for too long; the lock is whole in any case."""
        before = (folder / NAME).read_bytes()
        words = [*PROGRAM, "gate", str(folder), "--db", str(folder.parent / "store.duckdb"), "--update"]
        with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as other:
            while other.poll() is None:
                code = gate(folder, "--update")
                assert code == 0 or (code == 3 and "is in use" in capsys.readouterr().err)
                time.sleep(0.2)
            told = other.communicate(timeout=300)[1]
        assert other.returncode == 0 or (other.returncode == 3 and "is in use" in told)
        assert (folder / NAME).read_bytes() == before
