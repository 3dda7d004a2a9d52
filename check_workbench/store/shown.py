"""The first records of a load, shortened for the eye."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    import pyarrow as pa

FIRST = 3
"""How many runs, decisions and answers are shown."""
FIRST_SPANS = 3
LONGEST = 80
"""Characters of a value that are shown."""
_HIDDEN = (
    "stale",
    "run_digest",
    "asserted_blind",
    "item",
    "row",
    "source",
    "line",
    "seq",
    "digest",
    "file_place",
    "odd",
    "naive",
    "step_count",
    "input_digest",
    "output_digest",
)


def first_records(runs: pa.Table, spans: pa.Table, *, most: int) -> list[dict[str, Any]]:
    """Return the first runs with what they have, and their first spans.

    Parameters
    ----------
    runs, spans
        Staged rows, numbered by `row`.
    most
        How many runs.
    """
    import pyarrow.compute as pc

    found = []
    for run in runs.sort_by("row").slice(0, most).to_pylist():
        own = spans.filter(pc.equal(spans["row"], run["row"])).sort_by("seq").slice(0, FIRST_SPANS)
        found.append({**present(run), "spans": [present(span) for span in own.to_pylist()]})
    return found


def shortened(value: Any) -> str:
    """Return a value in at most 80 characters.

    Examples
    --------
    >>> shortened("a" * 100)[-4:], shortened(3)
    ('aaa…', '3')
    """
    text = str(value)
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}\N{HORIZONTAL ELLIPSIS}"


def lines_of(record: Mapping[str, Any]) -> Iterator[str]:
    """Yield a run with its first spans, a decision or an answer as lines of text.

    Examples
    --------
    >>> list(lines_of({"run_id": "r", "spans": [{"type": "tool", "name": "get"}]}))
    ["run_id='r'", "  type='tool' name='get'"]
    """
    own = {name: value for name, value in record.items() if name != "spans"}
    yield from (
        f"{indent}{_line(row)}" for indent, row in [("", own), *(("  ", span) for span in record.get("spans", ()))]
    )


def _line(row: Mapping[str, Any]) -> str:
    return " ".join(f"{name}={value!r}" for name, value in row.items())


def present(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a row of a table has, shortened, without what the store adds.

    Examples
    --------
    >>> present({"decision_key": 7, "run_id": "r", "decision": "approved", "note": None})
    {'run_id': 'r', 'decision': 'approved'}
    """
    return {
        name: value if isinstance(value, bool | int | float) else shortened(value)
        for name, value in row.items()
        if value is not None and name not in _HIDDEN and not name.endswith("_key")
    }
