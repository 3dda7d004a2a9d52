"""Records with something odd in them, and what a reader makes of records."""

from __future__ import annotations

import copy
import json
import tempfile
from pathlib import Path
from typing import Any

from hypothesis import assume
from hypothesis import strategies as st

from check_workbench.records import RUN_STATUSES, Run
from check_workbench.sources import READERS, Note, Origin, Rejected
from check_workbench.store.validity import problem_of

JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-9, 10**30)
    | st.sampled_from([10**400, -1.5e308])
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=6),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=4), inner, max_size=2),
    max_leaves=4,
)


def read_text(name: str, text: str, stem: str = "may/f") -> list[Any]:
    """Read a file with this text."""
    reader = READERS[name].read
    assert reader is not None
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "f.jsonl")
        path.write_text(text, encoding="utf-8")
        return list(reader(path, Origin(file="f.jsonl", stem=stem)))


def read_lines(name: str, *records: Any, stem: str = "may/f") -> list[Any]:
    """Read records, one a line."""
    return read_text(name, "\n".join(map(json.dumps, records)), stem)


def one_run(name: str, *records: Any, stem: str = "may/f") -> Run:
    """Read records that are one run and nothing else."""
    [run] = read_lines(name, *records, stem=stem)
    assert isinstance(run, Run), run
    assert problem_of(run) is None
    return run


@st.composite
def spoiled(draw: st.DrawFn, value: Any, least: int = 1) -> Any:
    """Draw a value in which one to three places, so many steps inside or more, hold something else."""
    odd = copy.deepcopy(value)
    for _ in range(draw(st.integers(1, 3))):
        *way, last = draw(st.sampled_from([place for place in _places(odd) if len(place) >= least]))
        inner = odd
        for key in way:
            inner = inner[key]
        inner[last] = draw(JSON)
    assume(odd != [[]])  # the text of an array that is empty: there is nothing to account for
    return odd


def assert_accounted(found: list[Any]) -> None:
    """Assert that something came of a file, and that every run has a form that a store can judge."""
    assert found
    assert all(isinstance(one, Run | Rejected | Note) for one in found)
    for run in found:
        if isinstance(run, Run):
            assert run.status is None or run.status in RUN_STATUSES
            assert all(isinstance(span.type, str) and span.type for span in run.spans)
            ids = [span.span_id for span in run.spans if span.span_id is not None]
            assert len(ids) == len(set(ids))


def _places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [path, *(place for key, item in inner for place in _places(item, (*path, key)))]
