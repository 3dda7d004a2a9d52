from __future__ import annotations

from typing import Any

import pytest

from check_workbench.sources.mapping.paths import PathError, parse, walk

RECORD: dict[str, Any] = {
    "goal": "book",
    "info": {"model": "m", "swap = False": {"winner": "1"}, "a.b": 7},
    "history": [{"role": "user"}, {"role": "tool"}, {"role": None}],
    "Q0": 3,
    "Q12": 4,
    "Q": 5,
    "DQQ1": 6,
    "text": '{"inner": [1, 2]}',
    "empty": "",
    "null": None,
}


@pytest.mark.parametrize(
    ("path", "values"),
    [
        ("goal", ["book"]),
        ("info.model", ["m"]),
        ("info.swap = False.winner", ["1"]),
        ('info."swap = False".winner', ["1"]),
        ('info."a.b"', [7]),
        ("history[0].role", ["user"]),
        ("history[-2].role", ["tool"]),
        ("history[].role", ["user", "tool"]),
        ("history[7].role", []),
        ("history.role", []),
        ("info.*", ["m", {"winner": "1"}, 7]),
        ("info.*.winner", ["1"]),
        ("text.inner[]", [1, 2]),
        ("goal.inner", []),
        ("empty", [""]),
        ("null", []),
        ("nowhere.at.all", []),
        (".", [RECORD]),
    ],
)
def test_what_a_path_finds(path: str, values: list[Any]) -> None:
    assert [hit.value for hit in walk(RECORD, parse(path).steps)] == values


@pytest.mark.parametrize(
    ("path", "kept"),
    [
        ("Q{question}", [{"question": "0"}, {"question": "12"}]),
        ("history[{n}].role", [{"n": 0}, {"n": 1}]),
        ("info.{key}.{inner}", [{"key": "swap = False", "inner": "winner"}]),
        ("{name}Q1", [{"name": "DQ"}]),
    ],
)
def test_what_a_path_keeps(path: str, kept: list[dict[str, Any]]) -> None:
    assert [dict(hit.kept) for hit in walk(RECORD, parse(path).steps)] == kept


def test_variables_and_what_lies_around() -> None:
    assert (parse("$order.task_id").variable, len(parse("$order.task_id").steps)) == ("order", 1)
    assert (parse("^^task").up, parse("^.").up, parse("^").steps) == (2, 1, ())


@pytest.mark.parametrize(
    ("path", "at"),
    [
        ("", 0),
        ("a..b", 2),
        ("a.", 2),
        (".a", 0),
        ("a[", 1),
        ("a[x]", 1),
        ("a[{x y}]", 1),
        ("a.[0]", 2),
        ("a{b}{c}", 4),
        ('a."b', 2),
        ("^$order.x", 0),
        ("$order.", 7),
        ("a[12345678901]", 1),
        ("x" * 1001, 0),
        ("a" + ".a" * 40, 0),
    ],
)
def test_what_is_no_path_says_where(path: str, at: int) -> None:
    with pytest.raises(PathError) as caught:
        parse(path)
    assert caught.value.at == at


def test_a_path_into_deep_or_huge_text_ends() -> None:
    assert list(walk({"t": "[" * 100_000}, parse("t[0][0]").steps)) == []
    assert list(walk({"t": "{" + "x" * 1_000_000}, parse("t.x").steps)) == []
