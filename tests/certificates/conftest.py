from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.scenario import Scenario

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def team(tmp_path: Path) -> Scenario:
    return Scenario(folder=tmp_path)
