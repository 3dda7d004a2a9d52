"""An audit computed once more from the tables of the store, without the code of the workbench."""

from __future__ import annotations

import hashlib
import json
import math
import os
import random
from datetime import UTC, timedelta, timezone
from typing import TYPE_CHECKING, Any

import pytest

from check_workbench.cli import main
from tests.monitoring.conftest import STORE
from tests.monitoring.watched import CHANGED, Watched, unit

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

A_WEEK = timedelta(days=7)


def drawn_again(watched: Watched, digest: str, cut: float) -> set[str]:
    """Draw what a document of 10 % or five a week says: the smallest hashes of each week that is over."""
    rows = watched.store.sql(
        "select run_id, started_at, probability from runs join answers using (run_id) where started_at > ? "
        "and coalesce(mode, 'live') <> 'test' and probability < ? order by run_id",
        [CHANGED, cut],
    ).to_dict("records")
    times = watched.store.sql(
        "select greatest(max(started_at), max(decided_at)) as t from runs, decisions "
        "where coalesce(mode, 'live') <> 'test'"
    )["t"]
    weeks: dict[int, list[tuple[float, str]]] = {}
    for row in rows:
        key = json.dumps([digest, row["run_id"], "", 1]).encode()
        share = int(hashlib.sha256(key).hexdigest()[:12], 16) / 16**12
        weeks.setdefault((row["started_at"] - CHANGED) // A_WEEK, []).append((share, row["run_id"]))
    hit: set[str] = set()
    for week, pieces in weeks.items():
        tenth = [run for share, run in sorted(pieces) if share < 0.1]
        over = times[0].to_pydatetime() >= CHANGED + (week + 1) * A_WEEK
        hit |= set([run for _, run in sorted(pieces)][: max(5, len(tenth))]) if over else set(tenth)
    return hit


def wealth_again(wrong: Iterable[bool], alpha: float) -> list[float]:
    """Bet as written down: the mean over five odds of the product of 1 + odds (x - alpha)."""
    odds = [min(one, 0.95 / alpha) for one in (0.5, 1, 2, 4, 8)]
    products, path = [1.0] * 5, []
    for x in wrong:
        products = [p * (1 + one * (x - alpha)) for p, one in zip(products, odds, strict=True)]
        path.append(math.fsum(products) / 5)
    return path


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_draws_labels_and_evidence_come_out_the_same(watched: Watched, seed: int) -> None:
    rng = random.Random(seed)  # noqa: S311 - made-up work
    units = [
        unit(f"{rng.choice('acd')}-{place}", rng.expovariate(1 / 9), p=rng.choice([0.1, 0.2, 0.9]))
        | ({"mode": "test"} if rng.random() < 0.1 else {})
        for place in range(260)
    ]
    watched.team.load(watched.store, units)
    before = watched.audit()
    assert before.certificate is not None
    hit = drawn_again(watched, before.certificate.digest, 0.5)
    assert set(before.due["run_id"]) == hit
    asked = rng.sample(sorted(hit), len(hit) * 2 // 3)
    bad = {run: rng.random() < 0.3 for run in asked}
    for run in asked:
        watched.decide([run], bad=bad[run])
    found = watched.audit()
    (first,) = found.strata
    hit = drawn_again(watched, before.certificate.digest, 0.5)
    assert set(found.due["run_id"]) == hit - set(asked)
    path = wealth_again((bad[run] for run in asked), 0.1)
    assert first.wealth == pytest.approx(path)
    reached = next((place for place, wealth in enumerate(path, start=1) if wealth >= 20), None)
    assert (first.reached, first.errors, first.limit) == (reached, sum(bad.values()), 20)
    assert found.outcome == ("alarm" if reached else "clear")


def test_times_with_any_offset_are_the_same_moments(watched: Watched, with_work: tuple[Path, list[str]]) -> None:
    """The other store has the same work with times in UTC."""
    units = []
    for place in range(40):
        began = (CHANGED + timedelta(days=place + 0.5)).replace(tzinfo=UTC)
        here = began.astimezone(timezone(timedelta(hours=place % 26 - 12, minutes=30)))
        units.append({**unit(f"a-{place:03d}", 0), "started_at": here.isoformat()})
    watched.team.load(watched.store, units)
    assert list(watched.audit().due["run_id"]) == with_work[1]


def test_a_week_ends_at_the_moment_of_the_certificate(watched: Watched) -> None:
    units = [unit(f"a-{place}", 7 - 1e-6) for place in range(6)] + [unit(f"b-{place}", 7) for place in range(6)]
    watched.team.load(watched.store, [*units, unit("later", 14)])
    certificate = watched.audit().certificate
    assert certificate is not None
    due = set(watched.audit().due["run_id"])
    assert due == drawn_again(watched, certificate.digest, 0.5)
    assert {name: sum(run.startswith(name) for run in due) for name in ("a", "b")} == {"a": 5, "b": 5}


@pytest.mark.parametrize("whose", ["work", "decision"])
def test_a_clock_that_was_wrong_is_told(watched: Watched, whose: str) -> None:
    watched.work(40, days=0.1)
    assert not [note for note in watched.audit().notes if "the last time recorded" in note]
    if whose == "decision":
        watched.team.decide(watched.store, [{"run": "a-000", "bad": False, "decided_at": "2099-01-01"}])
    else:
        watched.team.load(watched.store, [{**unit("z", 0), "started_at": "2099-01-01T00:00:00Z"}])
    words = "the last time recorded is 2099-01-01, the one before it 2026-05-08: weeks count as over up to the last one"
    assert words in watched.audit().notes


def test_a_check_whose_file_moved_keeps_its_certificate(worked: Watched) -> None:
    before = worked.audit().to_json()
    moved = worked.team.folder / "other folder" / "renamed.check.yaml"
    moved.parent.mkdir()
    worked.team.check.rename(moved)
    worked.team.check = moved
    assert worked.audit().to_json() == before


def test_the_command_audits_a_store_that_cannot_be_written(
    with_work: tuple[Path, list[str]], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, due = with_work
    before = (folder / STORE).read_bytes()
    monkeypatch.setattr(os, "access", lambda *_: False)
    words: list[Any] = ["audit", folder / "failed.check.yaml", "--db", folder / STORE]
    assert main([*map(str, words), "--json"]) == 0
    assert [row["run_id"] for row in json.loads(capsys.readouterr().out)["due"]] == due
    assert main([*map(str, words), "--sheet", str(folder / "sheet.csv")]) == 3
    assert "the store is open to read only" in capsys.readouterr().err
    assert (folder / STORE).read_bytes() == before
    assert not (folder / "sheet.csv").exists()
