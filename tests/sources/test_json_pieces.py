"""Large objects of known outline, piece by piece."""

from __future__ import annotations

import gzip
import io
import json

import pytest

from check_workbench.sources.format import Rejected
from check_workbench.sources.json_pieces import Piece, pieces


def walk(data: bytes | str) -> list[tuple[str, str, object] | str]:
    stream = io.BytesIO(data.encode() if isinstance(data, str) else data)
    found = pieces(stream, "f", into={"blocks", "trace"}, each={"spans"})
    return [(one.what, one.key, one.value) if isinstance(one, Piece) else one.reason for one in found]


def test_it_steps_into_what_it_is_told_to_and_decodes_the_rest_whole() -> None:
    document = {"a": {"blocks": [1]}, "blocks": [{"spans": [{"spans": [2]}, 3], "z": None}, 4], "spans": {"x": 1}}
    assert walk(json.dumps(document)) == [
        ("begin", "", None),
        ("value", "a", {"blocks": [1]}),
        ("begin", "blocks", None),
        ("value", "spans", {"spans": [2]}),
        ("value", "spans", 3),
        ("value", "z", None),
        ("end", "blocks", None),
        ("value", "blocks", 4),
        ("value", "spans", {"x": 1}),
        ("end", "", None),
    ]


def test_an_object_is_stepped_into_as_well() -> None:
    assert walk('{"trace": {"spans": []}}') == [
        ("begin", "", None),
        ("begin", "trace", None),
        ("end", "trace", None),
        ("end", "", None),
    ]


def test_several_objects_and_what_is_none() -> None:
    assert walk('[{}, 5, {"a": 1}]') == [
        ("begin", "", None),
        ("end", "", None),
        ("value", "", 5),
        ("begin", "", None),
        ("value", "a", 1),
        ("end", "", None),
    ]


def test_a_broken_element_is_rejected_and_the_next_one_read() -> None:
    found = walk('{"spans": [{"a": 1},\n {"a": nope},\n {"a": 3}]}')
    assert found[1] == ("value", "spans", {"a": 1})
    assert "not valid JSON" in str(found[2])
    assert found[3] == ("value", "spans", {"a": 3})


@pytest.mark.parametrize("rest", ["\n}}", '{"a": "never closed', "{{{", '"x'])
def test_a_broken_object_is_left_at_the_next_line_that_starts_one(rest: str) -> None:
    found = walk('{"spans": [1,' + rest + '\n{"spans": [2]}\n')
    assert ("value", "spans", 1) in found
    assert ("value", "spans", 2) in found
    assert any(isinstance(one, str) for one in found)


@pytest.mark.parametrize(
    "cut", ['{"spans": [1, ', '{"spans": [1, {"a": "b', '{"spans": [1', '{"spans": [1], "x"', '[{"spans": [1]}']
)
def test_a_cut_file_gives_what_was_whole(cut: str) -> None:
    found = walk(cut)
    assert ("value", "spans", 1) in found
    assert isinstance(found[-1], str)


def test_a_cut_compressed_file_says_so() -> None:
    packed = gzip.compress(b'{"spans": [' + b"1, " * 900_000 + b"2]}", mtime=0)
    stream = io.BufferedReader(gzip.GzipFile(fileobj=io.BytesIO(packed[:-200])))
    *whole, last = pieces(stream, "f", into=set(), each={"spans"})
    assert isinstance(last, Rejected)
    assert "compressed file is broken" in last.reason
    assert all(isinstance(one, Piece) for one in whole)


def test_lines_are_told() -> None:
    stream = io.BytesIO(b'{\n "spans": [\n  1,\n  2\n ]\n}')
    found = pieces(stream, "f", into=set(), each={"spans"})
    assert [one.locate() for one in found if isinstance(one, Piece) and one.what == "value"] == [3, 4]


def test_bottomless_nesting_takes_no_stack() -> None:
    deep = '{"blocks": [' * 5_000 + "]}" * 5_000
    assert len(walk(deep)) == 10_000
