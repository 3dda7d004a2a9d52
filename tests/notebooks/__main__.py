"""Write the compared outputs anew, of the notebooks and of the README's cell: `python -m tests.notebooks [NAME...]`."""

from __future__ import annotations

import ast
import re
import sys
from pathlib import Path
from typing import Any

import nbformat
from nbclient import NotebookClient

from check_workbench.dialects.reference import tables
from check_workbench.sources import READERS
from check_workbench.sources.mapping.converting import RECORDS, names_of, required_of

ROOT = Path(__file__).parents[2]
FOLDER, README = ROOT / "notebooks", ROOT / "README.md"
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


def shown_by(code: str) -> str:
    """Run Python code and return what its last expression shows."""
    tree = ast.parse(code)
    last = tree.body.pop()
    assert isinstance(last, ast.Expr)
    names: dict[str, object] = {}
    exec(compile(tree, "README.md", "exec"), names)  # noqa: S102 - it is our own README
    return repr(eval(compile(ast.Expression(last.value), "README.md", "eval"), names))  # noqa: S307 - as above


def block(text: str, language: str) -> re.Match[str]:
    """Find the first fenced block of a language."""
    found = re.search(rf"(?<=^```{language}\n).*?(?=^```$)", text, re.MULTILINE | re.DOTALL)
    assert found
    return found


def between(text: str, name: str) -> re.Match[str]:
    """Find what stands between the marks of a table that is written here: `keys`, `formats` or `fields` of mappings."""
    found = re.search(rf"(?<=<!-- {name} -->\n\n).*?(?=\n\n<!-- end of {name} -->)", text, re.DOTALL)
    assert found
    return found


def formats() -> str:
    """Return the formats of recorded runs as a table."""
    rows = [f"| `{one.name}` | {one.summary} |" for one in READERS.values()]
    return "\n".join(["| format | what is read |", "|---|---|", *rows])


def mapped_fields() -> str:
    """Return the fields that a mapping may give as a table, required ones in bold."""
    rows = []
    for kind in RECORDS:
        names = (
            f"**`{name}`**" if name in required_of(kind) and (name != "run_id" or kind == "run") else f"`{name}`"
            for name in names_of(kind)
        )
        rows.append(f"| `{kind}` | {' '.join(names)} |")
    return "\n".join(["| fields of | **required**, and others |", "|---|---|", *rows])


def refresh_readme() -> None:
    """Put what the README's cell shows under it, and the tables of keys, formats and fields where they belong."""
    text = README.read_text(encoding="utf-8")
    for name, written in (("keys", tables()), ("formats", formats()), ("fields", mapped_fields())):
        place = between(text, name)
        text = f"{text[: place.start()]}{written}{text[place.end() :]}"
    output = block(text, "text")
    shown = shown_by(block(text, "python").group())
    README.write_text(f"{text[: output.start()]}{shown}\n{text[output.end() :]}", encoding="utf-8")


if __name__ == "__main__":
    refresh_readme()
    for notebook in sorted(FOLDER.glob("*.ipynb")):
        if not sys.argv[1:] or notebook.stem in sys.argv[1:]:
            save(notebook)
