"""Cells of one notebook run in their order although everything else is shuffled."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture
def hooks() -> ModuleType:
    spec = importlib.util.spec_from_file_location("root_conftest", ROOT / "conftest.py")
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def item(name: str, place: int = 0) -> Any:
    markers: list[Any] = []
    made = SimpleNamespace(path=Path(name), cell_num=place, parent=None, markers=markers)
    made.add_marker = markers.append
    return made


def names(items: list[Any]) -> list[tuple[str, int]]:
    return [(str(one.path), one.cell_num) for one in items]


def test_cells_are_gathered_where_the_first_one_stood(hooks: ModuleType) -> None:
    items = [item("t.py"), item("b.ipynb", 1), item("u.py"), item("a.ipynb", 1), item("b.ipynb", 0), item("a.ipynb", 0)]
    hooks.pytest_collection_modifyitems(items)
    assert names(items) == [("t.py", 0), ("b.ipynb", 0), ("b.ipynb", 1), ("a.ipynb", 0), ("a.ipynb", 1), ("u.py", 0)]


def test_without_a_kernel_cells_are_skipped_with_a_reason(hooks: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda _: None)
    items = [item("t.py"), item("a.ipynb")]
    hooks.pytest_collection_modifyitems(items)
    assert items[0].markers == []
    assert "ipykernel" in items[1].markers[0].kwargs["reason"]


def test_without_notebooks_nothing_moves(hooks: ModuleType) -> None:
    items = [item("b.py"), item("a.py")]
    hooks.pytest_collection_modifyitems(items)
    assert names(items) == [("b.py", 0), ("a.py", 0)]
