from __future__ import annotations

import gzip
import hashlib
import io
import json
import tracemalloc
from typing import IO, Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from check_workbench.sources import json_window
from check_workbench.sources.format import Rejected
from check_workbench.sources.json_items import Item, items, members


def unpacked(data: bytes) -> IO[bytes]:
    return cast("IO[bytes]", gzip.GzipFile(fileobj=io.BytesIO(data)))


def told(data: bytes | str) -> tuple[list[Any], list[tuple[int, str]]]:
    stream = io.BytesIO(data.encode() if isinstance(data, str) else data)
    found = list(items(stream, "f"))
    values = [item.value for item in found if isinstance(item, Item)]
    return values, [(item.line, item.reason) for item in found if isinstance(item, Rejected)]


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ('{"a": 1}\n\n{"b": 2}', [{"a": 1}, {"b": 2}]),
        ('\ufeff{"a": 1}\r\n{"b": 2}\r\n', [{"a": 1}, {"b": 2}]),
        ('[{"a": 1}, {"b": 2}]\n', [{"a": 1}, {"b": 2}]),
        ('\ufeff [\n{"a": 1},\n{"b": 2}\n]', [{"a": 1}, {"b": 2}]),
        ('{\n "a": 1\n}', [{"a": 1}]),
        ('{\n "a": 1\n}\n{\n "b": 2\n}', [{"a": 1}, {"b": 2}]),
        ("[]", []),
        ("", []),
        (" \n", []),
    ],
)
def test_every_layout_is_read(text: str, values: list[Any]) -> None:
    assert told(text) == (values, [])


@pytest.mark.parametrize(
    ("text", "good", "line", "reason"),
    [
        ('{"a": 1}\n{"b": \n{"c": 3}\n', 2, 2, "not valid JSON"),
        ('{"a": 1}\n{"b": NaN}\n{"c": 3}\n', 2, 2, "NaN is not a JSON number"),
        ('{"a": 1}\n{"b": 1e999}\n{"c": 3}\n', 2, 2, "too large"),
        ('{"a": 1}\n' + "[" * 100_000 + '\n{"c": 3}\n', 2, 2, "nested too deeply"),
        ('{"a": 1}\n{"b": ' + "9" * 5000 + '}\n{"c": 3}\n', 2, 2, "digit"),
        ('[{"a": 1},\n{"b": NaN},\n{"c": "}"}]', 2, 2, "NaN is not a JSON number"),
        ('[{"a": 1},\n{"b" 2},\n{"c": 3}]', 2, 2, "delimiter"),
        ('[{"a": 1},\n{"b": ' + "[" * 100_000 + "]" * 100_000 + '},\n{"c": 3}]', 2, 2, "nested too deeply"),
        ('[{"a": 1},\n{"b": "cut sh', 1, 2, "nothing after it could be read"),
        ('[{"a": 1},\n{"b": 2}', 2, 2, "not closed"),
        ('[{"a": 1}]\n{"b": 2}', 1, 2, "behind the array"),
        ('[{"a": 1},\nnope,\n{"c": 3}]', 2, 2, "Expecting value"),
        ('{\n"a": 1\n}\n}\n{\n"c": 3\n}', 2, 4, "Expecting value"),
        ('{\n"a": 1', 0, 1, "nothing after it could be read"),
    ],
)
def test_a_broken_record_is_rejected_and_the_others_are_read(text: str, good: int, line: int, reason: str) -> None:
    values, rejected = told(text)
    assert len(values) == good
    assert [at for at, _ in rejected] == [line]
    assert reason in rejected[0][1]


@pytest.mark.parametrize("layout", ["{}\n", "[{}]"])
def test_a_fault_is_named_before_its_place(layout: str) -> None:
    reasons = told(layout.replace("{}", '{"a": "b\x01"}'))[1]
    assert reasons[0][1].startswith("not valid JSON: Invalid control character at character 9")


@pytest.mark.parametrize("layout", [b'{"a": 1}\n{"b": "%s"}\n{"c": 3}\n', b'[{"a": 1},\n{"b": "%s"},\n{"c": 3}]'])
def test_bytes_that_are_no_utf8_reject_their_record_only(layout: bytes) -> None:
    values, rejected = told(layout % "Zürich".encode("latin-1"))
    assert values == [{"a": 1}, {"c": 3}]
    assert rejected[0][0] == 2
    assert "UTF-8" in rejected[0][1]


@pytest.mark.parametrize("layout", ['{"a": 1}\n%s\n', '[{"a": 1},\n%s]'])
@pytest.mark.parametrize("depth", [100, 400, 700, 950, 2000])
def test_any_depth_is_read_or_rejected(layout: str, depth: int) -> None:
    values, rejected = told(layout % ("[" * depth + r'"\ud83d"' + "]" * depth))
    assert len(values) + len(rejected) == 2
    assert [line for line, _ in rejected] == [2] * len(rejected)


@pytest.mark.parametrize("layout", ['{"a": "x%s"}\n', '[{"a": "x%s"}]'])
def test_half_a_surrogate_pair_is_replaced(layout: str) -> None:
    assert told(layout % r"\ud83d") == ([{"a": "x\ufffd"}], [])
    assert told(layout % r"\uD83D\uDE00") == ([{"a": "x😀"}], [])


def test_a_cut_gzip_file_yields_what_could_be_read() -> None:
    lines = [json.dumps({"n": n, "noise": hashlib.sha256(b"%d" % n).hexdigest()}) for n in range(40_000)]
    packed = gzip.compress("\n".join(lines).encode(), mtime=0)
    found = list(items(unpacked(packed[: len(packed) // 2]), "f"))
    assert len(found) > 10_000
    last = found[-1]
    assert isinstance(last, Rejected)
    assert "compressed file is broken" in last.reason


@given(
    records=st.lists(st.dictionaries(st.text(), st.integers() | st.text() | st.lists(st.booleans())), max_size=8),
    indent=st.sampled_from([None, 1]),
    chunk=st.integers(1, 40),
)
def test_any_array_is_read_whatever_the_window(records: list[Any], indent: int | None, chunk: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(json_window, "CHUNK", chunk)
        assert told(json.dumps(records, indent=indent)) == (records, [])


@given(st.binary(max_size=200) | st.text(alphabet='[]{}",:\\ \n1aNu', max_size=80).map(str.encode))
def test_no_bytes_break_the_reader(data: bytes) -> None:
    told(data)


def test_memory_is_bounded_by_a_record() -> None:
    record = b'{"a": "' + b"x" * 100_000 + b'"}'
    packed = gzip.compress(b"[" + b",".join([record] * 400) + b"]", 1, mtime=0)
    tracemalloc.start()
    count = len([item is None for item in items(unpacked(packed), "f")])
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert count == 400
    assert peak < 16 << 20


def spread(text: str, *keys: str) -> list[tuple[Any, ...]]:
    found = members(io.BytesIO(text.encode()), "f.json", frozenset(keys).__contains__)
    return [
        (one.line, one.reason) if isinstance(one, Rejected) else (one.place, one.key, one.name, one.value, one.line)
        for one in found
    ]


def test_members_one_by_one() -> None:
    text = '{"meta": {"v": 1},\n "spans": [{"id": 1},\n {"id": 2}],\n "by": {"0": [], "1": 5}}\n{"spans": 7}'
    assert spread(text, "spans", "by") == [
        (1, "meta", None, {"v": 1}, 1),
        (1, "spans", None, {"id": 1}, 2),
        (1, "spans", None, {"id": 2}, 3),
        (1, "by", "0", [], 4),
        (1, "by", "1", 5, 4),
        (2, "spans", None, 7, 5),
    ]


def test_members_of_an_array_of_objects() -> None:
    assert spread('[{"a": [1]}, 5, {"a": [2]}]', "a") == [
        (1, "a", None, 1, 1),
        (1, "a record must be an object, got int"),
        (3, "a", None, 2, 1),
    ]


def test_a_broken_element_is_rejected_and_the_next_one_read() -> None:
    found = spread('{"a": [{"b": 1},\n{"b": nonsense},\n{"b": 3}]}', "a")
    assert [one for one in found if len(one) == 5] == [(1, "a", None, {"b": 1}, 1), (1, "a", None, {"b": 3}, 3)]
    [(line, reason)] = [one for one in found if len(one) == 2]
    assert line == 2
    assert "not valid JSON" in reason


def test_a_broken_line_ends_at_the_next_object() -> None:
    found = spread('{"a": 1, "b"\n{"a": 2}\n')
    assert found[0] == (1, "a", None, 1, 1)
    assert "a colon must follow" in found[1][1]
    assert found[2] == (2, "a", None, 2, 2)


@pytest.mark.parametrize("text", ['{"a": [1, 2', '{"a": [1,2]', '{"a": [1,2], "b', '{"a": [1,2], "b":', '{"a":[1,2,"x'])
def test_a_cut_file_says_so(text: str) -> None:
    found = spread(text, "a")
    assert [one[3] for one in found if len(one) == 5] == [1, 2]
    assert "nothing after it could be read" in found[-1][1]


@given(st.binary(max_size=60), st.integers(0, 60))
def test_members_of_anything_end(junk: bytes, at: int) -> None:
    text = b'{"a": [{"b": 1}, {"b": 2}], "c": {"d": 1}}'
    found = list(members(io.BytesIO(text[:at] + junk + text[at:]), "f", {"a", "c"}.__contains__))
    assert found
