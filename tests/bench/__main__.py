"""Run benchmarks by name and print their rows."""

from __future__ import annotations

import argparse
import importlib
import json
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

BENCHES = {name: f"tests.bench.{name}" for name in ("certify", "curve", "evaluate", "label", "load", "rules")}
"""Name to module; each has `rows(*, runs)`, which returns rows or points; some have a `table()` beside."""


def main(argv: Sequence[str] | None = None) -> None:
    """Run the benchmarks that were named."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench", description=__doc__)
    parser.add_argument("name", choices=sorted(BENCHES))
    parser.add_argument("--json", action="store_true", help="print one JSON document")
    parser.add_argument("--runs", type=int, help="runs of the reference text, where it is not the usual number")
    given = parser.parse_args(argv)
    bench = importlib.import_module(BENCHES[given.name])
    rows = bench.rows() if given.runs is None else bench.rows(runs=given.runs)
    lines = bench.table() if hasattr(bench, "table") else []
    if given.json:
        beside = {"table": [line.to_json() for line in lines]} if lines else {}
        print(json.dumps({"rows": [row.to_json() for row in rows], **beside}))
        return
    for row in [*rows, *lines]:
        print(row.line())


if __name__ == "__main__":
    main()
