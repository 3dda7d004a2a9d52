"""InterCode results: one object keyed by task, an array, or lines; one interactive coding task each.

| record | run |
|---|---|
| its key, else its place from 1 | `run_id`, behind the path relative to the PATH, without suffixes, and `#` |
| `environment` | `workflow`; without `ic_` the name of the tool: `sql`, `bash`, `python`, `ctf` |
| `query` | `input` |
| each of `actions` (or `trajectory`) | a `tool` span, the whole command in `input`, what came back in `output` |
| an action that is or starts with `submit` | the same, but the tool's name is `submit` |
| `valid_action` false, or an observation that starts with `Error` | `error` and `status` of the call |
| each of `thoughts` | an `llm` span before its action, text in `output` |
| `rewards`, `valid_action` and other lists | `attributes` of the call, by turn |
| the last observation that is not empty | `final_output` |
| `turns_taken` reached `turns_max`, reward below 1, nothing submitted | `status` `interrupted` |
| else | `status` `ok` with a final output, `no_output` without one |
| `summary.max_reward`, `summary.turns_taken`, `reward` | `metrics`; the whole `summary` in `attributes` |
| everything else: `dataset`, `task_id`, `gold`, `hardness`, `info`, … | `attributes` |

`task_id` names no run: another model's file has the same ones.
"""

from __future__ import annotations

import re
from functools import partial
from typing import TYPE_CHECKING, Any

from check_workbench.errors import InputError
from check_workbench.records import Run
from check_workbench.sources.building import rest
from check_workbench.sources.format import Format, Rejected
from check_workbench.sources.json_items import BROKEN_GZIP, items, members, opened
from check_workbench.sources.json_window import CHUNK
from check_workbench.sources.messages import text_of
from check_workbench.sources.spans import span

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path

    from check_workbench.records import Span
    from check_workbench.sources.format import Head, Origin

    _Record = tuple[str | int, Any, Callable[[], int]]
    """Key or place of a record, its value, and what finds its line."""

_KEYED = re.compile(rb'[\xef\xbb\xbf\s]*\{\s*"([^"\\]*)"\s*:\s*\{')
_PARTS = frozenset({"turn_history", "summary", "info"})
"""Members of a record that are objects, so that they do not look like records."""
_USED = frozenset({"environment", "query", "turn_history", "trajectory"})
_NAMED = frozenset({"actions", "observations", "thoughts"})
_METRICS = ("max_reward", "turns_taken", "reward")


def _detect(head: Head) -> str | None:
    first = head.first
    if _is_record(first):
        return "its first record has an environment, a query and its turns"
    if any(_is_record(value) for value in list(first.values())[:1]):
        return "the record under its first key has an environment, a query and its turns"
    return None


def _is_record(value: Any) -> bool:
    if not isinstance(value, dict) or not {"environment", "query"} <= value.keys():
        return False
    return isinstance(value.get("turn_history"), dict) or ("gold" in value and "trajectory" in value)


def _read(path: Path, origin: Origin) -> Iterator[Run | Rejected]:
    with opened(path) as stream:
        for found in _records(stream, origin.file):
            yield found if isinstance(found, Rejected) else _built(*found, origin)


def _records(stream: Any, file: str) -> Iterator[_Record | Rejected]:
    try:
        keyed = _KEYED.match(stream.peek(CHUNK))
    except BROKEN_GZIP as error:
        yield Rejected(file=file, line=1, reason=f"the compressed file is broken: {error}")
        return
    if keyed is None or keyed[1].decode("utf-8", "replace") in _PARTS:
        for item in items(stream, file):
            yield item if isinstance(item, Rejected) else (item.place, item.value, item.locate)
        return
    for member in members(stream, file, spread=_nothing):
        yield member if isinstance(member, Rejected) else (member.key, member.value, partial(int, member.line))


def _nothing(_key: str) -> bool:
    return False


def _built(key: str | int, record: Any, locate: Callable[[], int], origin: Origin) -> Run | Rejected:
    try:
        return _run(record, f"{origin.stem}#{key}")
    except ValueError as error:
        return Rejected(file=origin.file, line=locate(), reason=str(error))


def _run(record: Any, run_id: str) -> Run:
    if not isinstance(record, dict):
        raise InputError(f"a run must be an object, got {type(record).__name__}")
    environment = record.get("environment")
    if not isinstance(environment, str) or not environment:
        raise InputError(f"environment must be text, got {environment!r:.80}")
    turns = _turns(record)
    spans = tuple(_spans(turns, environment.removeprefix("ic_")))
    numbers = _numbers(record)
    observed = next((o for o in reversed(turns.get("observations") or ()) if o not in (None, "")), None)
    return Run(
        run_id=run_id,
        workflow=environment,
        status="interrupted" if _ran_out(numbers, spans) else "no_output" if observed is None else "ok",
        input=record.get("query"),
        final_output=observed,
        metrics={key: numbers[key] for key in _METRICS if key in numbers} or None,
        attributes=rest(record, _USED),
        spans=spans,
    )


def _turns(record: Mapping[str, Any]) -> dict[str, list[Any]]:
    """Return the lists of a record's turns, all of one length."""
    if "turn_history" not in record:
        return _walked(record.get("trajectory"))
    history = record["turn_history"]
    if not isinstance(history, dict) or not all(isinstance(one, list) for one in history.values()):
        raise InputError("turn_history must be an object of lists")
    lengths = {key: len(one) for key, one in history.items()}
    if "actions" not in lengths or len(set(lengths.values())) > 1:
        raise InputError(f"turn_history must have actions and lists of one length, got {lengths}")
    return history


def _walked(steps: Any) -> dict[str, list[Any]]:
    if not isinstance(steps, list) or not all(isinstance(one, dict) and "action" in one for one in steps):
        raise InputError("a run must have its turns in turn_history, or in trajectory as objects with an action")
    keys = dict.fromkeys(key for one in steps for key in one)
    names = {"action": "actions", "observation": "observations", "thought": "thoughts", "reward": "rewards"}
    return {names.get(key, key): [one.get(key) for one in steps] for key in keys}


def _spans(turns: Mapping[str, list[Any]], tool: str) -> Iterator[Span]:
    count = len(turns.get("actions", ()))
    nothing = [None] * count
    observations, thoughts = turns.get("observations", nothing), turns.get("thoughts", nothing)
    beside = [(_one(key), values) for key, values in turns.items() if key not in _NAMED]
    for place, (action, observed, thought) in enumerate(
        zip(turns.get("actions", ()), observations, thoughts, strict=True)
    ):
        if thought is not None:
            yield span(type="llm", output=thought)
        extras = {key: values[place] for key, values in beside if values[place] is not None}
        failed = extras.get("valid_action") is False or (isinstance(observed, str) and observed.startswith("Error"))
        yield span(
            type="tool",
            name="submit" if _submits(action) else tool,
            input=action,
            output=observed,
            status="error" if failed else "ok",
            error=(text_of(observed) or "the action was not valid") if failed else None,
            attributes=extras or None,
        )


def _one(key: str) -> str:
    return "reward" if key == "rewards" else key


def _submits(action: Any) -> bool:
    return isinstance(action, str) and action[:6] == "submit" and action[6:7] in ("", " ", "[", ";")


def _ran_out(numbers: Mapping[str, float], spans: tuple[Span, ...]) -> bool:
    taken, most, reward = (numbers.get(key) for key in ("turns_taken", "turns_max", "max_reward"))
    if taken is None or most is None or reward is None:
        return False
    return taken >= most and reward < 1 and not (spans and spans[-1].name == "submit")


def _numbers(record: Mapping[str, Any]) -> dict[str, float]:
    summary = record.get("summary")
    both = {**record, **summary} if isinstance(summary, dict) else record
    return {key: value for key, value in both.items() if isinstance(value, int | float) and not isinstance(value, bool)}


FORMAT = Format(
    name="intercode",
    summary="InterCode results: one object keyed by task, an array, or lines",
    detect=_detect,
    read=_read,
)
