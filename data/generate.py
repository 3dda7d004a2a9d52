#!/usr/bin/env python3
"""Write the sample data again: `python data/generate.py [FOLDER]`; the same seed gives the same bytes."""

from __future__ import annotations

import csv
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import audit_runs
import refund_runs
import ticket_runs
import vendor_runs

if TYPE_CHECKING:
    from collections.abc import Iterable

SEED = 11


def write_lines(path: Path, records: Iterable[dict[str, Any]]) -> None:
    """Write one JSON document a line."""
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = (json.dumps(record, ensure_ascii=False, separators=(",", ":")) for record in records)
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8", newline="\n")


def write_table(path: Path, rows: list[dict[str, Any]]) -> None:
    """Write a CSV file with the columns of the first row."""
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


def write_tabbed(path: Path, rows: list[dict[str, str]]) -> None:
    """Write a tab-separated file without quotes: backslash, tab and line break are escaped with a backslash."""
    escapes = str.maketrans({"\\": "\\\\", "\t": "\\t", "\n": "\\n"})
    lines = [list(rows[0]), *(list(row.values()) for row in rows)]
    text = "".join("\t".join(cell.translate(escapes) for cell in line) + "\n" for line in lines)
    path.write_text(text, encoding="utf-8", newline="\n")


def generate(folder: Path, seed: int = SEED) -> None:
    """Write runs, answers, labels, decisions and tickets below the folder.

    Parameters
    ----------
    folder
        Where `refunds/`, `vendors/`, `vendors-after/` and `tickets/` are written.
    seed
        The seed of all draws.
    """
    told = list(refund_runs.runs(seed))
    write_lines(folder / "refunds" / "runs.jsonl", [run for _, run in told])
    write_lines(folder / "refunds" / "answers.jsonl", refund_runs.answers(seed, told))
    write_table(folder / "refunds" / "labels.csv", list(refund_runs.labels(seed, told)))
    screened = list(vendor_runs.screenings(seed))
    write_lines(folder / "vendors" / "runs.jsonl", [run for run, _ in screened])
    write_table(folder / "vendors" / "decisions.csv", [row for _, rows in screened for row in rows])
    audited = list(audit_runs.screenings(seed))
    write_lines(folder / "vendors-after" / "runs.jsonl", [run for run, _ in audited])
    write_table(folder / "vendors-after" / "labels.csv", [row for _, rows in audited for row in rows])
    handled = list(ticket_runs.tickets(seed))
    write_lines(folder / "tickets" / "trace.jsonl", ticket_runs.traces(handled))
    write_tabbed(folder / "tickets" / "tickets.tsv", [ticket.row for ticket in handled])
    write_table(folder / "tickets" / "reviews.csv", ticket_runs.reviews(seed, handled))
    write_table(folder / "tickets" / "screen.csv", list(ticket_runs.scores(seed, handled)))


if __name__ == "__main__":
    generate(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent)
