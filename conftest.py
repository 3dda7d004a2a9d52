"""Notebook cells run in their order, one notebook after the other, whatever else is shuffled."""

from __future__ import annotations

import importlib.util
import os
from pathlib import Path

import pytest

ROOT = Path(__file__).parent
NO_KERNEL = "the notebooks need a kernel: ipykernel is not installed (pip install -e '.[test]')"


def pytest_configure() -> None:
    """Let kernels and programs that tests start import this checkout, installed or not."""
    known = os.environ.get("PYTHONPATH", "").split(os.pathsep)
    os.environ["PYTHONPATH"] = os.pathsep.join([str(ROOT), *(place for place in known if place)])


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Gather the cells of each notebook at the place of its first cell, in their order.

    What they write to stderr is not compared: it tells a slow machine how far a load is.
    """
    cells = [item for item in items if item.path.suffix == ".ipynb"]
    if not cells:
        return
    if importlib.util.find_spec("ipykernel") is None:
        for cell in cells:
            cell.add_marker(pytest.mark.skip(reason=NO_KERNEL))
    by_notebook: dict[Path, list[pytest.Item]] = {}
    for cell in cells:
        by_notebook.setdefault(cell.path, []).append(cell)
        if cell.parent is not None and hasattr(cell.parent, "skip_compare"):
            cell.parent.skip_compare = (*cell.parent.skip_compare, "stderr")
    for own in by_notebook.values():
        own.sort(key=lambda cell: int(getattr(cell, "cell_num", 0)))
    first = next(place for place, item in enumerate(items) if item.path.suffix == ".ipynb")
    rest = [item for item in items if item.path.suffix != ".ipynb"]
    items[:] = [*rest[:first], *(cell for own in by_notebook.values() for cell in own), *rest[first:]]
