"""Execute the notebooks and save them as they are compared: `python -m tests.notebooks [NAME...]`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import nbformat
from nbclient import NotebookClient

FOLDER = Path(__file__).parents[2] / "notebooks"
METADATA = {
    "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
    "language_info": {"name": "python"},
}


def stripped(notebook: Any) -> Any:
    """Return the notebook with cell ids by place and without what differs from machine to machine."""
    notebook.metadata = nbformat.from_dict(METADATA)
    for place, cell in enumerate(notebook.cells, start=1):
        cell.id, cell.metadata = f"cell-{place:02d}", nbformat.from_dict({})
        if cell.cell_type == "code":
            cell.outputs = [output for output in cell.outputs if output.get("name") != "stderr"]
    return notebook


def save(path: Path) -> None:
    """Execute one notebook with the running Python, and write it back."""
    notebook = nbformat.read(path, as_version=4)
    NotebookClient(notebook, kernel_name="python3", resources={"metadata": {"path": str(path.parent)}}).execute()
    nbformat.write(stripped(notebook), path)


if __name__ == "__main__":
    for notebook in sorted(FOLDER.glob("*.ipynb")):
        if not sys.argv[1:] or notebook.stem in sys.argv[1:]:
            save(notebook)
