"""Read small files through small mappings."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING, Any

from check_workbench.records import Decision, Run
from check_workbench.results import Answer
from check_workbench.sources import Note, Rejected, read
from check_workbench.sources.mapping import read_mapping
from check_workbench.store.files import find

if TYPE_CHECKING:
    from pathlib import Path


class Found:
    """What a mapping made of some files."""

    def __init__(self, records: list[Any], skipped: list[str]) -> None:
        self.runs = [r for r in records if isinstance(r, Run)]
        self.decisions = [r for r in records if isinstance(r, Decision)]
        self.answers = [r for r in records if isinstance(r, Answer)]
        self.rejected = [r for r in records if isinstance(r, Rejected)]
        self.notes = [r.text for r in records if isinstance(r, Note)]
        self.skipped = skipped

    @property
    def run(self) -> Run:
        [run] = self.runs
        return run

    @property
    def reason(self) -> str:
        [rejected] = self.rejected
        return rejected.reason


def write(folder: Path, files: dict[str, str | bytes]) -> Path:
    """Write files under `data/` and return that folder."""
    data = folder / "data"
    for name, content in files.items():
        path = data / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return data


def mapping_file(folder: Path, text: str) -> Path:
    """Write a mapping and return its file."""
    path = folder / "own.yaml"
    path.write_text(textwrap.dedent(text), "utf-8")
    return path


def through(folder: Path, text: str, files: dict[str, str | bytes] | None = None) -> Found:
    """Read files under `data/` through a mapping."""
    root = write(folder, files or {})
    mapping = read_mapping(mapping_file(folder, text))
    found, _ = find(root)
    records: list[Any] = []
    skipped = []
    for item in found:
        recognised = mapping.recognise(item.path, item.root)
        if recognised is None:
            skipped.append(item.path.name)
        else:
            records += read(item.path, recognised, root=item.root)
    return Found(records, skipped)
