"""Notebook cells run in their order, one notebook after the other, whatever else is shuffled."""

from __future__ import annotations

import importlib.util
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pathlib import Path

NO_KERNEL = "the notebooks need a kernel: ipykernel is not installed (pip install -e '.[test]')"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Gather the cells of each notebook at the place of its first cell, in their order."""
    cells = [item for item in items if item.path.suffix == ".ipynb"]
    if not cells:
        return
    if importlib.util.find_spec("ipykernel") is None:
        for cell in cells:
            cell.add_marker(pytest.mark.skip(reason=NO_KERNEL))
    by_notebook: dict[Path, list[pytest.Item]] = {}
    for cell in cells:
        by_notebook.setdefault(cell.path, []).append(cell)
    for own in by_notebook.values():
        own.sort(key=lambda cell: int(getattr(cell, "cell_num", 0)))
    first = next(place for place, item in enumerate(items) if item.path.suffix == ".ipynb")
    rest = [item for item in items if item.path.suffix != ".ipynb"]
    items[:] = [*rest[:first], *(cell for own in by_notebook.values() for cell in own), *rest[first:]]
