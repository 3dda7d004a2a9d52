"""No two formats fit one file."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from check_workbench.sources import READERS, Rejected
from check_workbench.sources.heads import look

if TYPE_CHECKING:
    from pathlib import Path

FOLDERS = ("coding_agent_sessions", "tau_bench_airline", "otel_traces", "langsmith_runs", "online_mind2web_webjudge")


@pytest.mark.parametrize("folder", FOLDERS)
def test_at_most_one_format_fits_a_real_file(realdata: Path, folder: str) -> None:
    paths = [path for path in sorted((realdata / folder).rglob("*")) if path.is_file()]
    assert paths
    for path in paths:
        head = look(path)
        fitting = [] if isinstance(head, Rejected) else [name for name in READERS if READERS[name].detect(head)]
        assert len(fitting) <= 1, (path, fitting)
