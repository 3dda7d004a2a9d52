from __future__ import annotations

import csv
import io
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pytest

from tests.scenario import Scenario

if TYPE_CHECKING:
    from pathlib import Path


@dataclass
class Desk:
    """Somebody who fills in sheets with a spreadsheet."""

    folder: Path
    sheets: int = 0

    def read(self, path: Path) -> list[dict[str, str]]:
        text = path.read_bytes().decode("utf-8-sig")
        return list(csv.DictReader(io.StringIO(text, newline="")))

    def save(self, rows: list[dict[str, str]], *, delimiter: str = ",", columns: Any = None) -> Path:
        self.sheets += 1
        path = self.folder / f"filled-{self.sheets}.csv"
        with path.open("w", newline="", encoding="utf-8-sig") as stream:
            writer = csv.DictWriter(stream, columns or list(rows[0]), delimiter=delimiter)
            writer.writeheader()
            writer.writerows(rows)
        return path

    def fill(self, path: Path, say: Any) -> Path:
        """Fill in every decision: `say` maps a row to a word."""
        rows = self.read(path)
        return self.save([{**row, "decision": say(row)} for row in rows])


@pytest.fixture
def team(tmp_path: Path) -> Scenario:
    return Scenario(folder=tmp_path)


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path)
