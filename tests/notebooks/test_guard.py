"""Saved notebooks: executed once in order, without errors, and without a trace of the machine."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

FOLDER = Path(__file__).parents[2] / "notebooks"
NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))
MACHINE = re.compile(r"(?<![\w.:/])/[a-z]+/[\w.-]+|[A-Z]:\\\\|0x[0-9a-f]{6,}|\x1b\[")
KERNEL = {"display_name": "Python 3", "language": "python", "name": "python3"}


def read(path: Path) -> dict[str, Any]:
    notebook: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return notebook


def code(path: Path) -> list[dict[str, Any]]:
    return [cell for cell in read(path)["cells"] if cell["cell_type"] == "code"]


def shown(output: dict[str, Any]) -> str:
    data = {k: v for k, v in output.get("data", {}).items() if not k.startswith("image/")}
    return json.dumps([data, output.get("text", "")], ensure_ascii=False).replace("\\n", "\n")


def test_there_are_notebooks() -> None:
    assert [p.name for p in NOTEBOOKS][:2] == ["01_load.ipynb", "02_rules.ipynb"]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda p: p.stem)
def test_cells_ran_once_in_order(path: Path) -> None:
    cells = code(path)
    assert [cell["execution_count"] for cell in cells] == list(range(1, len(cells) + 1))


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda p: p.stem)
def test_no_cell_failed_or_wrote_to_stderr(path: Path) -> None:
    outputs = [output for cell in code(path) for output in cell["outputs"]]
    assert [o for o in outputs if o["output_type"] == "error" or o.get("name") == "stderr"] == []


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda p: p.stem)
def test_outputs_say_nothing_of_the_machine(path: Path) -> None:
    found = [m.group() for cell in code(path) for o in cell["outputs"] for m in MACHINE.finditer(shown(o))]
    assert found == []


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda p: p.stem)
def test_metadata_is_stripped(path: Path) -> None:
    notebook = read(path)
    assert notebook["metadata"] == {"kernelspec": KERNEL, "language_info": {"name": "python"}}
    assert [cell["metadata"] for cell in notebook["cells"]] == [{}] * len(notebook["cells"])
    assert [cell["id"] for cell in notebook["cells"]] == [f"cell-{n:02d}" for n in range(1, len(notebook["cells"]) + 1)]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda p: p.stem)
def test_it_is_a_lesson(path: Path) -> None:
    cells = read(path)["cells"]
    assert "".join(cells[0]["source"]).startswith("# ")
    assert sum(cell["cell_type"] == "markdown" for cell in cells) >= len(cells) / 3
    assert all(cell["outputs"] for cell in code(path)[1:]), "a cell without output teaches nothing"


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda p: p.stem)
def test_stores_are_in_memory(path: Path) -> None:
    sources = "".join("".join(cell["source"]) for cell in code(path))
    assert ".duckdb" not in sources
    assert "cw.open()" in sources
