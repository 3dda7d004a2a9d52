"""The sheet that people fill in: which rows it has, and how it is written."""

from __future__ import annotations

import csv
import hashlib
import io
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from check_workbench.calibration.units import digest, records
from check_workbench.decisions import sheets
from check_workbench.errors import InputError
from check_workbench.labelling.shown import evidence, questions

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from check_workbench.labelling.drawing import Drawn
    from check_workbench.store import Store

Unit = tuple[str, str, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Paper:
    """The rows of a sheet, in an order that tells nothing."""

    name: str
    """A digest of all that was drawn, and of what was asked."""
    columns: tuple[str, ...]
    """The column of each check, in the order of the draws."""
    rows: Mapping[Unit, str]
    """The row id of each unit."""

    def recorded(self, place: int, of: Drawn) -> dict[str, Any]:
        """Return what the ledger keeps of the draw for one check.

        Parameters
        ----------
        place
            The place of the draw among all.
        of
            The draw.
        """
        whole = of.check.step_id is None
        rows = [
            [
                self.rows[row["run_id"], row["step_id"], row["attempt"]],
                row["run_id"],
                None if whole else row["step_id"],
                None if whole else row["attempt"],
                row["probability"],
            ]
            for row in records(of.units)
        ]
        column = self.columns[place]
        return {"sheet": self.name, "purpose": of.purpose, "column": column, "rows": rows, "strata": of.strata}


def paper(draws: Sequence[Drawn]) -> Paper:
    """Put the draws of several checks on one sheet: a unit that serves several of them is read once.

    Parameters
    ----------
    draws
        One per check.
    """
    told = [[draw.check.id, draw.check.asked, draw.purpose, records(draw.units)] for draw in draws]
    name = digest(told)[:8]
    ids = [draw.check.id for draw in draws]
    columns = (sheets.DECISION,) if len(ids) == 1 else tuple(f"{sheets.DECISION}: {check}" for check in ids)
    units = {(row["run_id"], row["step_id"], row["attempt"]) for draw in draws for row in records(draw.units)}
    asked = digest([draw.check.asked for draw in draws])
    ids_of = {unit: f"{name}-{digest([name, *unit, asked])[:12]}" for unit in units}
    rows = dict(sorted(ids_of.items(), key=lambda pair: hashlib.sha256(pair[1].encode()).digest()))
    return Paper(name=name, columns=columns, rows=rows)


def written(made: Paper, draws: Sequence[Drawn], store: Store) -> bytes:
    """Return the sheet as CSV, UTF-8 with a mark at its start, so that Excel reads it.

    Parameters
    ----------
    made
        Its rows.
    draws
        One per check.
    store
        Where the work is.
    """
    shown: dict[Unit, dict[str, str]] = {}
    for draw in draws:
        for row, cells in zip(records(draw.units), evidence(draw.check, draw.units, store), strict=True):
            shown[row["run_id"], row["step_id"], row["attempt"]] = cells
    of_check = [{(row["run_id"], row["step_id"], row["attempt"]) for row in records(draw.units)} for draw in draws]
    table = io.StringIO(newline="")
    writer = csv.writer(table)
    writer.writerow([*made.columns, "note", "decided_by", *sheets.SHOWN, "run_id", "step_id", sheets.ROW])
    for unit, row_id in made.rows.items():
        asked = [unit in units for units in of_check]
        text = questions(draw.check for draw, hit in zip(draws, asked, strict=True) if hit)
        told = [text, *(shown[unit][name] for name in sheets.SHOWN[1:])]
        run_id, step_id, _ = unit
        writer.writerow(
            [
                *("" if hit else sheets.NOT_ASKED for hit in asked),
                "",
                "",
                *map(sheets.escaped, told),
                *(sheets.escaped(name, is_id=True) for name in (run_id, step_id)),
                row_id,
            ]
        )
    return b"\xef\xbb\xbf" + table.getvalue().encode()


def keep_other(path: Path, content: bytes) -> None:
    """Refuse to write over anything but the same sheet, which somebody may have begun to fill in.

    Raises
    ------
    InputError
        If the file holds something else, or there is no folder for it.
    """
    if path.is_dir() or not path.parent.is_dir():
        raise InputError(f"{path}: the sheet cannot be written: there is no folder {path.parent} for such a file")
    if path.exists() and path.read_bytes() != content:
        raise InputError(f"{path} holds something else, perhaps decisions; choose another name for the sheet")
