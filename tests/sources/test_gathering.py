"""Parts of groups that lie anywhere, in memory and on disk."""

from __future__ import annotations

import tempfile
from itertools import count
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from check_workbench.sources.gathering import Group, Part, gather

if TYPE_CHECKING:
    from pathlib import Path

PARTS = st.lists(st.tuples(st.sampled_from(["a", "b", "", "é\0"]), st.integers() | st.text(max_size=3)))


def expected(parts: list[tuple[str, Any]]) -> list[Group]:
    groups: dict[str, list[Any]] = {}
    for key, value in parts:
        groups.setdefault(key, []).append(value)
    return [Group(key, values) for key, values in groups.items()]


@given(parts=PARTS, held=st.integers(0, 12))
def test_groups_are_the_same_in_memory_and_on_disk(parts: list[tuple[str, Any]], held: int) -> None:
    records = [Part(*part) for part in parts]
    assert list(gather(records, lambda: 0)) == expected(parts)
    assert list(gather(records, count().__next__, held=held)) == expected(parts)


def test_everything_else_is_passed_on_at_once() -> None:
    seen: list[Any] = []

    def records():
        yield Part("a", 1)
        yield "first"
        seen.append("read on")
        yield Part("a", 2)

    gathered = gather(records(), lambda: 0)
    assert next(gathered) == "first"
    assert not seen
    assert list(gathered) == [Group("a", [1, 2])]


def test_a_tuple_may_come_back_as_a_list() -> None:
    [group] = gather([Part("a", (1, None, {"x": "é"}))] * 2, count().__next__, held=0)
    assert group == Group("a", [[1, None, {"x": "é"}]] * 2)


def test_the_temporary_file_goes_however_it_ends(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))

    def broken():
        yield Part("a", 1)
        yield Part("b", 2)
        yield "here"
        raise OSError("the disk is gone")

    gathered = gather(broken(), count().__next__, held=0)
    assert next(gathered) == "here"
    assert list(tmp_path.iterdir())
    with pytest.raises(OSError, match="the disk is gone"):
        next(gathered)
    assert not list(tmp_path.iterdir())

    gathered = gather([Part("a", 1), Part("b", 2)], count().__next__, held=0)
    assert next(gathered) == Group("a", [1])
    assert list(tmp_path.iterdir())
    gathered.close()
    assert not list(tmp_path.iterdir())
    assert len(list(gather([Part("a", 1), Part("b", 2)], count().__next__, held=0))) == 2
    assert not list(tmp_path.iterdir())
