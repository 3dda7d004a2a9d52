"""Every benchmark can be started by its name."""

from __future__ import annotations

import importlib
import inspect

import pytest

from tests.bench.__main__ import BENCHES


@pytest.mark.parametrize("name", BENCHES)
def test_rows_and_the_table_beside_them_need_no_argument(name: str) -> None:
    bench = importlib.import_module(BENCHES[name])
    inspect.signature(bench.rows).bind()
    inspect.signature(bench.rows).bind(runs=1)
    if hasattr(bench, "table"):
        inspect.signature(bench.table).bind()
