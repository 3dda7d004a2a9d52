from __future__ import annotations

import pytest

from check_workbench.store import open_store
from check_workbench.store.progress import Progress


@pytest.mark.parametrize(("terminal", "lines"), [(True, 19), (False, 2)])
def test_a_log_gets_at_most_one_line_in_ten_seconds(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], *, terminal: bool, lines: int
) -> None:
    now = [0.0]
    monkeypatch.setattr("time.monotonic", lambda: now[0])
    monkeypatch.setattr("sys.stderr.isatty", lambda: terminal)
    say = Progress("loading")
    for tick in range(21):
        now[0] = float(tick)
        say("runs.jsonl", tick / 20)
    told = capsys.readouterr().err.splitlines()
    assert len(told) == lines
    assert told[0] == "loading  10 % runs.jsonl"


def test_sql_says_that_it_can_destroy_and_what_is_safe() -> None:
    text = type(open_store()).sql.__doc__ or ""
    assert "can change or destroy the store" in text
    assert "read_only=True" in text
