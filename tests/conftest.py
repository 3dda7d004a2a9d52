"""Fixtures for every test."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, settings

from check_workbench.store import open_store

if TYPE_CHECKING:
    from collections.abc import Iterator

    from check_workbench.store import Store

REALDATA = "CHECK_WORKBENCH_REALDATA"

# Properties are checked for what they say, not for how fast a busy machine answers.
settings.register_profile("unhurried", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("unhurried")


@pytest.fixture(scope="session")
def realdata() -> Path:
    """Return the folder of recorded runs that are not part of the project, or skip."""
    root = Path(__file__).resolve().parents[1]
    places = [Path(os.environ[REALDATA])] if os.environ.get(REALDATA) else [root.parent / "shared" / "realdata"]
    for place in places:
        if place.is_dir():
            return place
    pytest.skip(f"real recorded runs are neither at ../shared/realdata nor where ${REALDATA} points")


@pytest.fixture
def store() -> Iterator[Store]:
    """Yield an empty store in memory."""
    with open_store() as opened:
        yield opened
