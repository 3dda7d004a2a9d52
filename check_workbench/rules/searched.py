"""`match` rules whose pattern runs in Python: the same measurements and findings, fetched some runs at a time."""

from __future__ import annotations

from typing import TYPE_CHECKING

from check_workbench.engines import Connected
from check_workbench.engines.sessions import arrow_schema
from check_workbench.rules import match, shape
from check_workbench.rules.limited import PATIENCE, Searcher

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import pandas as pd
    import pyarrow as pa
    from ibis.expr.types import Table

    from check_workbench.checks import Match
    from check_workbench.store import Store

AT_ONCE = 2_000
"""Runs fetched at once."""
FOUND = {"run_key": "BIGINT", "seq": "INTEGER", "span_id": "VARCHAR", "words": "VARCHAR", "skipped": "BOOLEAN"}
"""What a worker of another engine tells of a span that is hit, or out of time."""
TOO_SLOW = "the pattern took longer than 50 ms on a span"
SKIPPED = f"the pattern was skipped after {PATIENCE} spans on which it took longer than 50 ms"


def measure_into(store: Store, rule: Match, asked: str, recorded: shape.Recorded) -> int:
    """Measure the given runs; a run where the time ran out and nothing was hit has a reason instead of a value."""
    import pandas as pd

    keys = store.execute(recorded.runs.select("run_key"))["run_key"]
    values = pd.DataFrame({"asked": asked, "run_key": keys, "value": 0.0, "reason": None}).set_index("run_key")
    values["reason"] = values["reason"].astype(object)
    for spans, skipping in _searched(store, rule, recorded):
        hits = spans["words"].map(lambda words: isinstance(words, str)).groupby(spans["run_key"]).sum()
        late = spans["words"].isna().groupby(spans["run_key"]).any()
        values.loc[hits.index, "value"] = hits.astype(float)
        unknown = late.index[late & (hits == 0)]
        values.loc[unknown, "value"] = None
        values.loc[unknown, "reason"] = SKIPPED if skipping else TOO_SLOW
    return store.insert("measurements", values.reset_index())


def findings(store: Store, rule: Match, recorded: shape.Recorded) -> pd.DataFrame:
    """Fetch each span that is hit."""
    import pandas as pd

    columns = ["run_id", "key", "value", "spans", "quote", "resolved"]
    known = store.execute(recorded.runs.select("run_key", "run_id"))
    names = dict(zip(known["run_key"], known["run_id"], strict=True))
    rows = [
        [names[row.run_key], row.span_id, 1.0, [row.span_id], row.words[: shape.QUOTED], False]
        for spans, _ in _searched(store, rule, recorded)
        for row in spans.itertuples()
        if isinstance(row.words, str)
    ]
    return pd.DataFrame(rows, columns=columns)


def _searched(store: Store, rule: Match, recorded: shape.Recorded) -> Iterator[tuple[pd.DataFrame, bool]]:
    """Yield the matching spans of some runs with the column `words`, and whether the pattern was skipped by then."""
    read = match.columns(rule)
    spans = shape.matching(recorded.spans, rule.span).select(*dict.fromkeys(["run_key", "seq", "span_id", *read]))
    if isinstance(store, Connected):
        yield _in_workers(store, rule, spans)
        return
    keys = store.execute(recorded.runs.select("run_key").order_by("run_key"))["run_key"].tolist()
    with Searcher(rule.pattern, ignore_case=rule.ignore_case) as searcher:
        for start in range(0, len(keys), AT_ONCE):
            some = keys[start : start + AT_ONCE]
            frame = store.execute(spans.filter(spans.run_key.between(some[0], some[-1])).order_by("run_key", "seq"))
            yield _with_words(searcher, frame, read), searcher.out_of_time >= PATIENCE


def _with_words(searcher: Searcher, frame: pd.DataFrame, read: Sequence[str]) -> pd.DataFrame:
    import pandas as pd

    texts = [[text for text in row if isinstance(text, str)] for row in frame[list(read)].itertuples(index=False)]
    frame["words"] = pd.Series(searcher.search(texts), dtype=object, index=frame.index)
    return frame


def _in_workers(store: Connected, rule: Match, spans: Table) -> tuple[pd.DataFrame, bool]:
    """Search in Spark's workers, each with its own patience; only spans that are hit, or out of time, come back."""
    read = match.columns(rule)

    def work(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        import pyarrow as pa

        schema = arrow_schema(FOUND)
        with Searcher(rule.pattern, ignore_case=rule.ignore_case) as searcher:
            for batch in batches:
                frame = _with_words(searcher, batch.to_pandas(), read)
                told = frame[frame["words"].map(lambda words: words is not False)]
                found = told[["run_key", "seq", "span_id", "words"]].assign(skipped=searcher.out_of_time >= PATIENCE)
                yield pa.RecordBatch.from_pandas(found, schema=schema, preserve_index=False)

    rows = store.over_rows(spans, work, FOUND)
    frame = rows.sort_by([("run_key", "ascending"), ("seq", "ascending")]).to_pandas()
    frame["words"] = frame["words"].astype(object).where(frame["words"].notna(), None)
    return frame, bool(frame["skipped"].any())
