"""A repository with a check in two versions, and the web-agent runs that people judged."""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING

import pytest

from check_workbench.store import open_store
from tests import web_agent_runs
from tests.scenario import Scenario

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from check_workbench.store import Store

LOOP = "id: {id}\nkind: rule\ntitle: A loop\nrule:\n  type: repeat\n  at_least: {at_least:g}\n"


def write_loop(path: Path, at_least: float, id_: str = "looping") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(LOOP.format(id=id_, at_least=at_least), encoding="utf-8")
    return path


@pytest.fixture
def git(tmp_path: Path) -> Callable[..., str]:
    """Return a function that runs git in a fresh repository."""

    def run(*words: str) -> str:
        who = ("-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false")
        done = subprocess.run(["git", *who, *words], cwd=tmp_path, capture_output=True, text=True, check=True)
        return done.stdout.strip()

    run("init", "-q", "-b", "main")
    return run


@pytest.fixture
def committed(git: Callable[..., str], tmp_path: Path) -> Path:
    """Return the file of a check which was committed with 3 and now says 5."""
    path = write_loop(tmp_path / "checks" / "loop.check.yaml", 3)
    git("add", ".")
    git("commit", "-qm", "first")
    return write_loop(path, 5)


@pytest.fixture(scope="session")
def judged_file(realdata: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a store with 456 web-agent runs, of which 245 loop, as people say."""
    folder = tmp_path_factory.mktemp("judged")
    runs, decisions = web_agent_runs.write(realdata, folder)
    with open_store(folder / "judged.duckdb") as store:
        store.load(runs)
        store.load_decisions(decisions)
    return folder / "judged.duckdb"


@pytest.fixture
def judged(judged_file: Path) -> Iterator[Store]:
    with open_store(judged_file, read_only=True) as store:
        yield store


@pytest.fixture
def team(tmp_path: Path) -> Scenario:
    return Scenario(folder=tmp_path)
