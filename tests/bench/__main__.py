"""Run benchmarks by name and print their rows."""

from __future__ import annotations

import argparse
import importlib
import json
from typing import TYPE_CHECKING

from tests.bench import reference_text

if TYPE_CHECKING:
    from collections.abc import Sequence

BENCHES = {name: f"tests.bench.{name}" for name in ("certify", "evaluate", "load", "rules")}
"""Name to module; each has `rows(*, runs) -> list[Row]`."""


def main(argv: Sequence[str] | None = None) -> None:
    """Run the benchmarks that were named."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench", description=__doc__)
    parser.add_argument("name", choices=sorted(BENCHES))
    parser.add_argument("--json", action="store_true", help="print one JSON document")
    parser.add_argument("--runs", type=int, default=reference_text.RUNS, help="runs of the reference text")
    given = parser.parse_args(argv)
    rows = importlib.import_module(BENCHES[given.name]).rows(runs=given.runs)
    if given.json:
        print(json.dumps({"rows": [row.to_json() for row in rows]}))
        return
    for row in rows:
        print(
            f"{row.ratio:8.2f} x (at most {row.limit:g}) {row.cpu_s:8.2f} s {row.peak_bytes / 1e6:8.0f} MB  {row.work}"
        )


if __name__ == "__main__":
    main()
