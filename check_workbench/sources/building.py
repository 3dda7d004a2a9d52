"""Turn the records of a JSON file into runs, rejecting the ones that do not fit."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, TypeGuard

from check_workbench.errors import InputError
from check_workbench.sources.format import Rejected
from check_workbench.sources.json_items import items, opened

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from pathlib import Path

    from check_workbench.records import Run
    from check_workbench.sources.format import Origin
    from check_workbench.sources.json_items import Item

    Build = Callable[[Mapping[str, Any], Origin, int], Run]
    BuildSome = Callable[[Mapping[str, Any], Origin, int], Sequence[Run]]

LISTS = ("traj", "messages")
"""Where a record has its messages."""
METRICS = ("total_tokens", "prompt_tokens", "completion_tokens", "duration_ms", "total_cost", "user_cost", "steps")
"""Numbers of a record that describe the whole run."""


def runs(path: Path, origin: Origin, build: Build) -> Iterator[Run | Rejected]:
    """Build a run of every record.

    Parameters
    ----------
    path
        A JSON file.
    origin
        Where it comes from.
    build
        Makes a run of a record, its origin and its place in the file from 1; a ValueError rejects the record.
    """
    return runs_of(path, origin, partial(_alone, build))


def runs_of(path: Path, origin: Origin, build: BuildSome) -> Iterator[Run | Rejected]:
    """Build the runs of every record, of which one may hold several.

    Parameters
    ----------
    path, origin
        As for `runs`.
    build
        As for `runs`, but it makes all the runs of a record.
    """
    with opened(path) as stream:
        for item in items(stream, origin.file):
            if isinstance(item, Rejected):
                yield item
            else:
                yield from _built(item, origin, build)


def is_message(value: Any) -> bool:
    """Say whether a record is a chat message that stands by itself."""
    return isinstance(value, dict) and "role" in value and not any(key in value for key in LISTS)


def conversations(
    path: Path, origin: Origin, build: Build, *, alone: Callable[[Any], bool] = is_message
) -> Iterator[Run | Rejected]:
    """Build a run of every record that holds messages.

    Messages that stand by themselves, in an array or one a line, are one record together; an array among the records is
    one of its own.

    Parameters
    ----------
    path, origin, build
        As for `runs`; a list of messages becomes the record `{"messages": …}`.
    alone
        Says whether a record is only one of the messages.
    """
    said: list[Any] = []
    first: Item | None = None
    made = partial(_alone, build)
    with opened(path) as stream:
        for item in items(stream, origin.file):
            if isinstance(item, Rejected):
                yield item
            elif alone(item.value):
                first = first or item._replace(locate=partial(int, item.line))
                said.append(item.value)
            elif isinstance(item.value, list) and item.value and alone(item.value[0]):
                yield from _built(item._replace(value={"messages": item.value}), origin, made)
            else:
                yield from _built(item, origin, made)
    if first is not None:
        yield from _built(first._replace(value={"messages": said}), origin, made)


def refusal(take: Callable[[dict[str, Any]], None], record: Any) -> str | None:
    """Let a run take one of its lines, and return the reason why it cannot, if there is one.

    Parameters
    ----------
    take
        Takes the line; a ValueError refuses it.
    record
        The line's value.
    """
    try:
        if not isinstance(record, dict):
            raise InputError(f"a line must be an object, got {type(record).__name__}")
        take(record)
    except ValueError as error:
        return str(error)
    except RecursionError:
        return "it is nested too deeply"
    return None


def _alone(build: Build, record: Mapping[str, Any], origin: Origin, place: int) -> tuple[Run]:
    return (build(record, origin, place),)


def _built(item: Item, origin: Origin, build: BuildSome) -> Sequence[Run | Rejected]:
    try:
        return build(_record(item.value), origin, item.place)
    except ValueError as error:
        return (Rejected(file=origin.file, line=item.line, reason=str(error)),)
    except RecursionError:
        return (Rejected(file=origin.file, line=item.line, reason="it is nested too deeply"),)


def metrics(record: Mapping[str, Any]) -> dict[str, float] | None:
    """Collect the numbers of a record; `duration` in seconds becomes `duration_ms`.

    Examples
    --------
    >>> metrics({"total_tokens": 120, "duration": 1.5, "utility": True})
    {'total_tokens': 120, 'duration_ms': 1500.0}
    """
    found = {name: record[name] for name in METRICS if _is_number(record.get(name))}
    duration = record.get("duration")
    if "duration_ms" not in found and _is_number(duration) and abs(duration) < 1e300:
        found["duration_ms"] = duration * 1000.0
    return found or None


def rest(record: Mapping[str, Any], used: frozenset[str]) -> dict[str, Any] | None:
    """Return what no field of a run took: neither `used` nor null."""
    return {k: v for k, v in record.items() if k not in used and v is not None} or None


def _record(value: Any) -> Mapping[str, Any]:
    if not isinstance(value, dict):
        raise InputError(f"a run must be an object, got {type(value).__name__}")
    return value


def _is_number(value: Any) -> TypeGuard[float]:
    return isinstance(value, int | float) and not isinstance(value, bool)
