from __future__ import annotations

import gzip
import json
from datetime import UTC, datetime, timedelta, timezone
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from check_workbench.decisions import FORMATS, Note, Rejected, read
from check_workbench.errors import InputError
from check_workbench.records import DECISIONS, Decision, columns

if TYPE_CHECKING:
    from pathlib import Path

FULL: dict[str, Any] = {
    "run_id": "r-1",
    "decision": "problem",
    "check_id": "loop",
    "question": 0,
    "step_id": "s",
    "span_id": "#3",
    "attempt": 2,
    "answer": "high",
    "decided_by": "Ada",
    "decided_at": "2026-03-01T10:00:00Z",
    "verdict_seen": False,
    "provenance": "blind",
    "probability_sampled": 0.25,
    "project": "p",
    "note": "said \"no\"; 'quoted', x",
}


def write_csv(path: Path, rows: list[dict[str, Any]]) -> None:
    import pandas as pd

    pd.DataFrame(rows).to_csv(path, index=False)


def write_jsonl(path: Path, rows: list[dict[str, Any]]) -> None:
    path.write_text("\n".join(map(json.dumps, rows)))


def write_parquet(path: Path, rows: list[dict[str, Any]]) -> None:
    import pyarrow as pa
    from pyarrow import parquet

    parquet.write_table(pa.Table.from_pylist(rows), path)


WRITERS = {"csv": write_csv, "jsonl": write_jsonl, "parquet": write_parquet}
formats = pytest.mark.parametrize("kind", WRITERS)


def told(path: Path) -> tuple[list[Decision], list[tuple[int, str]], list[str]]:
    found = list(read(path))
    return (
        [record for record in found if isinstance(record, Decision)],
        [(record.line, record.reason) for record in found if isinstance(record, Rejected)],
        [record.text for record in found if isinstance(record, Note)],
    )


def csv_of(tmp_path: Path, text: str | bytes) -> Path:
    path = tmp_path / "d.csv"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def one(tmp_path: Path, **fields: Any) -> Decision | str:
    """Return the one decision of a JSON line, or why it was rejected."""
    write_jsonl(tmp_path / "d.jsonl", [{"run_id": "r", "decision": "approved", **fields}])
    decisions, rejected, _ = told(tmp_path / "d.jsonl")
    return decisions[0] if decisions else rejected[0][1]


def test_every_format_has_a_writer_here() -> None:
    assert set(FORMATS) == set(WRITERS)
    assert set(FULL) == {column.name for column in columns(Decision)}


@formats
def test_a_full_row_means_the_same_in_every_format(tmp_path: Path, kind: str) -> None:
    WRITERS[kind](tmp_path / "d", [FULL])
    decisions, rejected, notes = told(tmp_path / "d")
    assert (rejected, notes) == ([], [])
    assert decisions == [Decision(**{**FULL, "decided_at": datetime(2026, 3, 1, 10, tzinfo=UTC)})]


@formats
def test_what_is_missing_is_none_and_two_annotators_stay_two(tmp_path: Path, kind: str) -> None:
    rows = [
        {"run_id": "r", "decision": "approved", "decided_by": by, "attempt": at} for by, at in [("a", 1), ("b", None)]
    ]
    WRITERS[kind](tmp_path / "d", rows)
    decisions, rejected, _ = told(tmp_path / "d")
    assert not rejected
    assert [(d.decided_by, d.attempt, d.verdict_seen, d.question) for d in decisions] == [
        ("a", 1, None, None),
        ("b", None, None, None),
    ]


@formats
@pytest.mark.parametrize("decision", DECISIONS)
def test_every_decision_word(tmp_path: Path, kind: str, decision: str) -> None:
    WRITERS[kind](tmp_path / "d", [{"run_id": "r", "decision": decision}])
    assert [d.decision for d in told(tmp_path / "d")[0]] == [decision]


@pytest.mark.parametrize(
    ("provenance", "seen", "means"),
    [
        ("blind", None, False),
        ("blind", False, False),
        ("saw_verdict", None, True),
        ("saw_verdict", True, True),
        ("prefilled", None, None),
        ("imported", True, True),
        (None, None, None),
    ],
)
def test_what_provenance_says_of_the_verdict(tmp_path: Path, provenance: Any, seen: Any, means: Any) -> None:
    found = one(tmp_path, provenance=provenance, verdict_seen=seen)
    assert isinstance(found, Decision)
    assert found.verdict_seen is means


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"decision": "aproved"}, "Did you mean 'approved'"),
        ({"decision": "Approved"}, "Did you mean 'approved'"),
        ({"decision": 5}, "decision must be a known word, got 5"),
        ({"decision": ["approved"]}, "decision must be a known word"),
        ({"decision": None}, "decision must be there"),
        ({"run_id": None}, "run_id must be there"),
        ({"run_id": ""}, "run_id must be there"),
        ({"run_id": {"a": 1}}, "run_id must be text"),
        ({"run_id": True}, "run_id must be text"),
        ({"provenance": "blind", "verdict_seen": True}, "provenance blind contradicts verdict_seen"),
        ({"provenance": "saw_verdict", "verdict_seen": False}, "provenance saw_verdict contradicts"),
        ({"provenance": "blnd"}, "Did you mean 'blind'"),
        ({"verdict_seen": "maybe"}, "verdict_seen must be true or false, got 'maybe'"),
        ({"verdict_seen": 2}, "verdict_seen must be true or false"),
        ({"probability_sampled": 0}, "above 0 and up to 1, got 0"),
        ({"probability_sampled": 1.5}, "between 0 and 1"),
        ({"probability_sampled": -0.1}, "between 0 and 1"),
        ({"probability_sampled": "nan"}, "must be a number, got 'nan'"),
        ({"probability_sampled": "inf"}, "must be a number"),
        ({"probability_sampled": "0,5"}, "with a point, not a comma"),
        ({"probability_sampled": True}, "must be a number"),
        ({"question": -1}, "question must be a whole number from 0 on"),
        ({"question": 1.5}, "question must be a whole number"),
        ({"question": "first"}, "question must be a whole number"),
        ({"attempt": 0}, "attempt must be a whole number from 1 on"),
        ({"attempt": 10**400}, "got a huge number"),
        ({"attempt": False}, "attempt must be a whole number"),
        ({"decided_at": "yesterday"}, "ISO 8601"),
        ({"decided_at": "0001-01-01T00:00:00+14:00"}, "between 2000 and 2200"),
        ({"decided_at": "9999-12-31T23:59:59-14:00"}, "between 2000 and 2200"),
        ({"decided_at": "1970-01-01"}, "between 2000 and 2200"),
        ({"decided_at": 1_700_000_000_000}, "seconds since 1970"),
        ({"decided_at": 10**300}, "seconds since 1970"),
        ({"decided_at": "01/02/2026"}, "ISO 8601"),
        ({"decided_at": []}, "ISO 8601"),
        ({"answer": {"a": 1}}, "answer must be text"),
        ({"note": [1]}, "note must be text"),
    ],
)
def test_what_cannot_be_used_says_why(tmp_path: Path, fields: dict[str, Any], reason: str) -> None:
    assert reason in str(one(tmp_path, **fields))


@pytest.mark.parametrize(
    ("written", "hours", "naive"),
    [
        ("2026-03-01T10:00:00", 10, True),
        ("2026-03-01 10:00", 10, True),
        ("2026-03-01", 0, True),
        ("2026-03-01T10:00:00+02:00", 8, False),
        ("2026-03-01T10:00:00.123456789Z", 10, False),
        (1772359200, 10, False),
        ("1772359200.0", 10, False),
    ],
)
def test_times(tmp_path: Path, written: Any, hours: int, *, naive: bool) -> None:
    write_jsonl(tmp_path / "d.jsonl", [{"run_id": "r", "decision": "approved", "decided_at": written}] * 3)
    decisions, _, notes = told(tmp_path / "d.jsonl")
    assert decisions[0].decided_at is not None
    assert decisions[0].decided_at.replace(microsecond=0) == datetime(2026, 3, 1, hours, tzinfo=UTC)
    assert notes == (["decided_at has no time zone in 3 rows; they count as UTC"] if naive else [])


def test_parquet_keeps_its_own_types(tmp_path: Path) -> None:
    import decimal

    import pyarrow as pa
    from pyarrow import parquet

    berlin = timezone(timedelta(hours=1))
    table = pa.table(
        {
            "run_id": pa.array([1, 2, 3], pa.int64()),
            "decision": pa.array(["approved"] * 3).dictionary_encode(),
            "decided_at": pa.array(
                [datetime(2026, 3, 1, 10, tzinfo=berlin), None, None], pa.timestamp("ns", "Europe/Berlin")
            ),
            "probability_sampled": pa.array([decimal.Decimal("0.5"), None, None], pa.decimal128(4, 2)),
            "attempt": pa.array([1.0, None, 2.0], pa.float64()),
        },
    )
    parquet.write_table(table, tmp_path / "d.parquet")
    decisions, rejected, notes = told(tmp_path / "d.parquet")
    assert (rejected, notes) == ([], [])
    assert [d.run_id for d in decisions] == ["1", "2", "3"]
    assert decisions[0].decided_at == datetime(2026, 3, 1, 9, tzinfo=UTC)
    assert (decisions[0].probability_sampled, decisions[2].attempt) == (0.5, 2)


def test_absurd_parquet_times_reject_their_row(tmp_path: Path) -> None:
    import pyarrow as pa
    from pyarrow import parquet

    times = pa.array([2**62, 1772359200_000_000], pa.int64()).cast(pa.timestamp("us"))
    parquet.write_table(
        pa.table({"run_id": ["a", "b"], "decision": ["approved"] * 2, "decided_at": times}), tmp_path / "d"
    )
    decisions, rejected, notes = told(tmp_path / "d")
    assert [d.run_id for d in decisions] == ["b"]
    assert rejected[0][0] == 1
    assert "no time zone in 1 row; it counts as UTC" in notes[0]


def test_unknown_columns_are_told_once_with_a_hint(tmp_path: Path) -> None:
    path = csv_of(tmp_path, "run_id,decision,desided_at,colour\na,approved,x,red\nb,approved,y,blue\n")
    decisions, rejected, notes = told(path)
    assert (len(decisions), rejected) == (2, [])
    assert notes == [
        "the column 'desided_at' is not known and was not read. Did you mean 'decided_at' or 'decided_by'?",
        "the column 'colour' is not known and was not read.",
    ]


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ('run_id,decision,note\na,approved,"one\ntwo"\nb,nonsense,\n', [4]),
        ("run_id,decision\n\n a , approved \nb,nonsense\n", [4]),
        ("run_id,decision\r\na,approved\r\nb,approved,c\r\nc\r\n", [3, 4]),
        ("\ufeffrun_id,decision\na,approved\nb,nonsense\n", [3]),
        ('run_id,decision,note\na,approved,\nb,approved,"x"y\n', [3]),
    ],
)
def test_lines_count_from_the_header(tmp_path: Path, text: str, lines: list[int]) -> None:
    decisions, rejected, _ = told(csv_of(tmp_path, text))
    assert [d.run_id for d in decisions] == ["a"]
    assert [line for line, _ in rejected] == lines


def test_excel_semicolons_are_read_and_told(tmp_path: Path) -> None:
    path = csv_of(tmp_path, '\ufeffrun_id;decision;note\r\na;approved;"1,5; well"\r\n')
    decisions, rejected, notes = told(path)
    assert (decisions[0].note, rejected, notes) == ("1,5; well", [], ["the cells are separated by semicolons"])


def test_a_row_in_another_encoding_is_rejected_alone(tmp_path: Path) -> None:
    path = csv_of(tmp_path, b"run_id,decision,note\na,approved,caf\xe9\nb,approved,ok\n")
    decisions, rejected, _ = told(path)
    assert [d.run_id for d in decisions] == ["b"]
    assert rejected == [(2, "the text must be UTF-8; save the table as CSV UTF-8")]


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ("run_id,decision\na,approved\n".encode("utf-16"), "must be UTF-8, but is UTF-16"),
        (b"run,decision\na,approved\n", "the column run_id must be there"),
        (b"run_id,desicion\na,approved\n", "Did you mean 'desicion'"),
        (b"run,decision\na,approved\n", "Did you mean 'run'"),
        (b"Run ID,decision\na,approved\n", "Did you mean 'Run ID'"),
        (
            b'{"run_id": "r", "check_id": "c", "probability": 0.5}',
            "look like recorded answers; load them with --answers",
        ),
        (b'{"run_id": "r", "spans": []}', "look like recorded runs; give the file as a PATH"),
        (b"run_id,decision,note,note\na,approved,,\n", "note is there twice"),
        (b"PAR1 but not really", "must be Parquet"),
        (gzip.compress(b"run_id,decision\n" * 99, mtime=0)[:30], "compressed file is broken"),
        (b'"run_id,decision\n', "header must be a line of column names"),
    ],
)
def test_a_file_that_cannot_be_used_at_all_is_an_error(tmp_path: Path, data: bytes, message: str) -> None:
    with pytest.raises(InputError, match=message):
        list(read(csv_of(tmp_path, data)))


def test_folders_and_missing_files_are_errors(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="is a folder"):
        list(read(tmp_path))
    with pytest.raises(InputError, match="cannot be read: No such file"):
        list(read(tmp_path / "none.csv"))


@pytest.mark.parametrize("data", [b"", b"\xef\xbb\xbf\n"])
def test_an_empty_file_is_no_error_but_told(tmp_path: Path, data: bytes) -> None:
    assert told(csv_of(tmp_path, data)) == ([], [], ["the file is empty"])


def test_gzip_is_seen_through(tmp_path: Path) -> None:
    assert len(told(csv_of(tmp_path, gzip.compress(b"run_id,decision\na,approved\n", mtime=0)))[0]) == 1


def test_broken_lines_leave_the_others(tmp_path: Path) -> None:
    good = '{"run_id": "r", "decision": "approved"}'
    bad = ['{"run_id": "r"', "[1]", '{"run_id": NaN}', "[" * 50_000, "7"]
    (tmp_path / "d.jsonl").write_text("\n".join([good, *bad, good]))
    decisions, rejected, _ = told(tmp_path / "d.jsonl")
    assert len(decisions) == 2
    assert [line for line, _ in rejected] == [2, 3, 4, 5, 6]


def test_quotes_and_sql_are_only_text(tmp_path: Path) -> None:
    hostile = "r'; drop table runs; --\"\u202e\x00"
    found = one(tmp_path, run_id=hostile, decided_by=hostile)
    assert isinstance(found, Decision)
    assert (found.run_id, found.decided_by) == (hostile, hostile)


VALUES = (
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=9) | st.lists(st.integers(), max_size=2)
)
NAMES = st.sampled_from([*FULL, "other"])
quick = settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])


@quick
@given(rows=st.lists(st.dictionaries(NAMES, VALUES, max_size=6), max_size=4))
def test_mutated_lines_are_decisions_or_rejected(tmp_path: Path, rows: list[dict[str, Any]]) -> None:
    write_jsonl(tmp_path / "d.jsonl", [{**FULL, **row} for row in rows])
    decisions, rejected, _ = told(tmp_path / "d.jsonl")
    assert len(decisions) + len(rejected) == len(rows)
    for decision in decisions:
        assert decision.decision in DECISIONS
        assert decision.probability_sampled is None or 0 < decision.probability_sampled <= 1


@quick
@given(st.binary(max_size=120) | st.text(alphabet='run_id,decision;\n"approved', max_size=120).map(str.encode))
def test_no_bytes_break_the_reader(tmp_path: Path, data: bytes) -> None:
    for head in (b"", b"run_id,decision,note\n", b"PAR1"):
        path = csv_of(tmp_path, head + data)
        try:
            told(path)
        except InputError:
            continue
