from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import pytest

import check_workbench as cw
from tests.monitoring.watched import Watched
from tests.scenario import Scenario

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

STORE = "certified.duckdb"


@pytest.fixture(scope="session")
def certified(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with a store in which a check was certified to replace an approval, at 10 % bad among passed."""
    folder = tmp_path_factory.mktemp("certified")
    with cw.open(folder / STORE) as store:
        Watched(store=store, team=Scenario(folder=folder)).certify()
    return folder


@pytest.fixture(scope="session")
def with_work(certified: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[str]]:
    """Return a folder with that store and 40 pieces of work since, and which of these are due."""
    folder = tmp_path_factory.mktemp("with_work")
    shutil.copyfile(certified / STORE, folder / STORE)
    with cw.open(folder / STORE) as store:
        made = Watched(store=store, team=Scenario(folder=folder, loads=9))
        made.work(40)
        return folder, list(made.audit().due["run_id"])


@pytest.fixture
def worked(with_work: tuple[Path, list[str]], tmp_path: Path) -> Iterator[Watched]:
    """Yield a store of its own with that certificate and that work."""
    folder, due = with_work
    shutil.copyfile(folder / STORE, tmp_path / STORE)
    with cw.open(tmp_path / STORE) as store, store.hold():
        yield Watched(store=store, team=Scenario(folder=tmp_path, loads=19), due=list(due))


@pytest.fixture
def watched(certified: Path, tmp_path: Path) -> Iterator[Watched]:
    """Yield a store of its own with that certificate."""
    shutil.copyfile(certified / STORE, tmp_path / STORE)
    with cw.open(tmp_path / STORE) as store, store.hold():
        yield Watched(store=store, team=Scenario(folder=tmp_path, loads=9))
