"""From a file of recorded spans to its runs: what every export of OpenTelemetry shares."""

from __future__ import annotations

from collections import Counter
from contextlib import closing
from typing import IO, TYPE_CHECKING, Any

from check_workbench.sources.format import Note, Rejected
from check_workbench.sources.gathering import Group, gather
from check_workbench.sources.json_items import opened
from check_workbench.sources.otel.contexts import Contexts
from check_workbench.sources.otel.recorded import Recorded, recorded
from check_workbench.sources.otel.runs import run_of

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterator, Mapping
    from pathlib import Path

    from check_workbench.records import Run
    from check_workbench.sources.format import Origin
    from check_workbench.sources.gathering import Part

    Gathered = Generator[Group | Rejected | Note]
    Told = Part | Rejected | Note
    Tell = Callable[[IO[bytes], str, Contexts], Iterator[Told]]


def runs_of_spans(path: Path, origin: Origin, tell: Tell) -> Iterator[Run | Rejected | Note]:
    """Make one run of each trace in a file.

    Parameters
    ----------
    path
        The file; gzip is seen through.
    origin
        Where it comes from.
    tell
        Reads the spans of a stream, the file's name and the contexts that it fills; a span's key is its trace.

    Yields
    ------
    Run, Rejected or Note
        What is rejected first, then the runs in the order of their first spans, then what was repaired.
    """
    contexts = Contexts()
    repairs: Counter[str] = Counter()
    with opened(path) as stream:
        records: Gathered = gather(tell(stream, origin.file, contexts), stream.tell)
        with closing(records):
            for record in records:
                if isinstance(record, Group):
                    yield run_of(record.key, [Recorded(*told) for told in record.values], contexts, repairs)
                else:
                    yield record
    yield from repaired(repairs, origin.file)


def repaired(repairs: Counter[str], file: str) -> Iterator[Note]:
    """Yield what had to be repaired in the spans of a file.

    Parameters
    ----------
    repairs
        How many spans, by what was done.
    file
        The file's name in reports.
    """
    for words, count in repairs.items():
        if count:
            yield Note(file=file, text=f"{count:,} {'span' if count == 1 else 'spans'} {words}")


def one_span(value: Any, context: int, file: str, locate: Callable[[], int]) -> Part | Rejected:
    """Read one span, or reject it with its line.

    Parameters
    ----------
    value
        As recorded.
    context
        The place of its context.
    file
        The file's name in rejected records.
    locate
        Finds its line.
    """
    try:
        return recorded(value, context)
    except ValueError as error:
        return Rejected(file=file, line=locate(), reason=str(error))
    except RecursionError:
        return Rejected(file=file, line=locate(), reason="a span is nested too deeply")


def objects(value: Any) -> Mapping[str, Any]:
    """Return an object, an empty one for anything else."""
    return value if isinstance(value, dict) else {}
