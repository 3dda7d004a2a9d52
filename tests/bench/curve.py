"""How the cost of loading and of the rules grows: the reference text at 0.1, 1 and 10 million spans.

The largest text takes 11 GB of disk and its making some minutes, so this bench is run by hand.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

import duckdb

from tests.bench import reference_text
from tests.bench.load import load
from tests.bench.measuring import Point, cost
from tests.bench.rules import measure_and_find

RUNS = 500_000
SHARES = (100, 10, 1)
"""One in so many of the runs."""
WORKS = {"load our JSONL": load, "all nine rule types with findings": measure_and_find}


def rows(*, runs: int = RUNS) -> list[Point]:
    """Measure loading our own JSON lines and the rules over what was loaded, at three sizes.

    Parameters
    ----------
    runs
        Runs of the largest reference text; each has 20 spans on average.
    """
    points = []
    for share in SHARES:
        with tempfile.TemporaryDirectory() as folder:
            lines = reference_text.write(Path(folder) / "runs.jsonl", runs=max(1, runs // share))
            database = Path(folder) / "reference.duckdb"
            loaded = cost(load, lines, database)
            lines.unlink()
            found = cost(measure_and_find, database)
            spans = _spans(database)
        points += [Point.of(work, spans, spent) for work, spent in zip(WORKS, (loaded, found), strict=True)]
    return points


def _spans(database: Path) -> int:
    with duckdb.connect(str(database), read_only=True) as connection:
        return int(connection.execute("select count(*) from spans").fetchall()[0][0])
