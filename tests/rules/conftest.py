"""Real runs, loaded once."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from check_workbench.store import open_store

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from check_workbench.store import Store


@pytest.fixture(scope="session")
def airline(realdata: Path) -> Iterator[Store]:
    with open_store() as store:
        store.load(realdata / "tau_bench_airline")
        yield store


@pytest.fixture(scope="session")
def dojo(realdata: Path) -> Iterator[Store]:
    with open_store() as store:
        store.load(sorted((realdata / "agentdojo_drift_runs").glob("*.jsonl.gz")))
        yield store
