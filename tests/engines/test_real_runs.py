"""All real runs that load: Spark's measurements and findings are DuckDB's."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pandas as pd
import pytest

import check_workbench as cw
from check_workbench.store import open_store
from tests.engines.tables import assert_same, show

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from check_workbench.store import Store

pytestmark = [
    pytest.mark.spark,
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore:unclosed <socket:ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]
NAMES = "select name from spans where name is not null group by name order by count(*) desc, name limit 2"


@pytest.fixture(scope="module")
def real(session: Any, realdata: Path) -> Iterator[Store]:
    """Yield a store of whatever loads, which Spark knows as `real_spans` and `real_runs`, and as records."""
    with open_store() as store:
        for folder in sorted(path for path in realdata.iterdir() if path.is_dir()):
            store.load(folder)
        show(session, store, "real")
        yield store


def test_measurements_and_findings_are_the_same(real: Store, backend: Any) -> None:
    required, requiring = real.sql(NAMES)["name"]
    with cw.connect(backend, spans="real_spans", runs="real_runs") as connected:
        settings = assert_same(real, connected, required=required, requiring=requiring)
    counts = real.sql("select count(*) as runs, sum(span_count)::bigint as spans from runs").iloc[0]
    found = len(real.sql("select 1 from measurements"))
    print(f"{counts['runs']:,} runs, {counts['spans']:,} spans, {settings} settings, {found:,} measurements")  # noqa: T201
    assert counts["runs"] > 1_700


def test_records_get_the_digests_that_loading_gives(real: Store, backend: Any) -> None:
    with cw.connect(backend, spans="real_records_spans", runs="real_records_runs") as connected:
        without_steps = "run_key not in (select run_key from steps)"
        digests = f"select run_id, digest, span_count from runs where {without_steps} order by run_id"
        expected = real.sql(digests)
        own = connected.sql("select run_id, digest, span_count from runs order by run_id")
        pd.testing.assert_frame_equal(own[own["run_id"].isin(expected["run_id"])].reset_index(drop=True), expected)
        pd.testing.assert_frame_equal(_derived(connected), _derived(real))


def _derived(store: Store) -> pd.DataFrame:
    columns = "mcp_text", "failed", "input_digest", "output_digest", "duration_ms"
    spans, runs = store.table("spans"), store.table("runs")
    named = runs.select("run_id", own="run_key").inner_join(spans, [("own", "run_key")])
    return store.execute(named.select("run_id", "seq", "span_id", *columns).order_by("run_id", "seq"))
