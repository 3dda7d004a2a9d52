from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.monitoring.watched import Watched
from tests.scenario import Scenario

if TYPE_CHECKING:
    from pathlib import Path

    from check_workbench.store import Store


@pytest.fixture
def watched(store: Store, tmp_path: Path) -> Watched:
    """Return a check that was certified to replace an approval, at 10 % bad work among what passes."""
    made = Watched(store=store, team=Scenario(folder=tmp_path))
    made.certify()
    return made
