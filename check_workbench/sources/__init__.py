"""Recorded-run formats: one file or one package each, and the table that names them.

A new format is one module with a `FORMAT` and one entry in `READERS`; a format that needs no code is a mapping.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING

from check_workbench.errors import InputError, UnknownNameError
from check_workbench.sources import (
    adk,
    agentdojo,
    atif,
    chat,
    claude_code,
    exchanges,
    inspect,
    intercode,
    langfuse,
    langsmith,
    managed_agent,
    mini_swe_agent,
    mistaken,
    mlflow,
    phoenix,
    swe_agent,
    who_and_when,
    workbench,
)
from check_workbench.sources.codex import exec_events
from check_workbench.sources.codex import rollout as codex_rollout
from check_workbench.sources.format import Format, Head, Note, Origin, Recognised, Rejected, is_run_name
from check_workbench.sources.heads import look
from check_workbench.sources.json_items import opened
from check_workbench.sources.otel import flat_spans, jaeger, js_spans, neatlogs, otlp
from check_workbench.sources.sqlite_files import is_sqlite

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from check_workbench.sources.format import Record

__all__ = [
    "READERS",
    "Format",
    "Head",
    "Note",
    "Origin",
    "Recognised",
    "Rejected",
    "mistaken",
    "opened",
    "read",
    "recognise",
]

READERS: Mapping[str, Format] = MappingProxyType(
    {
        format_.name: format_
        for format_ in (
            workbench.FORMAT,
            chat.FORMAT,
            agentdojo.FORMAT,
            exchanges.FORMAT,
            exec_events.FORMAT,
            codex_rollout.FORMAT,
            atif.FORMAT,
            mini_swe_agent.FORMAT,
            swe_agent.FORMAT,
            claude_code.FORMAT,
            intercode.FORMAT,
            who_and_when.FORMAT,
            adk.FORMAT,
            inspect.FORMAT,
            langfuse.FORMAT,
            langsmith.FORMAT,
            managed_agent.FORMAT,
            mlflow.FORMAT,
            phoenix.FORMAT,
            otlp.FORMAT,
            jaeger.FORMAT,
            flat_spans.FORMAT,
            js_spans.FORMAT,
            neatlogs.FORMAT,
        )
    },
)


def recognise(path: Path, *, format: str | None = None) -> Recognised | Rejected | None:  # noqa: A002
    """Find the format of a file from its first bytes.

    Parameters
    ----------
    path
        The file; gzip is seen through.
    format
        The name of a format that overrides detection.

    Returns
    -------
    Recognised, Rejected or None
        `Rejected` where a file named like JSON, or given a format, cannot be JSON (empty, UTF-16, cut compression), and
        for a damaged SQLite file; None where it holds no recorded runs.

    Raises
    ------
    InputError
        If several formats fit.
    UnknownNameError
        If no format is named `format`.
    """
    if format is not None:
        if format not in READERS:
            raise UnknownNameError.of("format", format, READERS)
        head = look(path)
        if isinstance(head, Rejected):
            return _mistaken(path, head)
        return Recognised(format=READERS[format], reason="the format was given")
    head = look(path)
    if isinstance(head, Rejected):
        return head if is_run_name(path.name) or is_sqlite(path) else None
    reasons = {name: reason for name, reader in READERS.items() if (reason := reader.detect(head))}
    if len(reasons) > 1:
        listed = "; ".join(f"{name} ({reason})" for name, reason in reasons.items())
        raise InputError(f"{path}: the format must be clear, but several fit: {listed}. Name one with --format.")
    return next((Recognised(format=READERS[name], reason=reason) for name, reason in reasons.items()), None)


def _mistaken(path: Path, head: Rejected) -> Rejected:
    way = mistaken.other_than(path, "runs")
    return head if way is None else Rejected(file=head.file, line=head.line, reason=way)


def read(path: Path, found: Recognised, *, root: Path | None = None) -> Iterator[Record]:
    """Read the runs of one file, and what people and evaluators said of them where the file holds that too.

    Parameters
    ----------
    path
        The file.
    found
        What `recognise` said of it.
    root
        The folder that is being loaded, from which made-up run ids are counted.

    Yields
    ------
    Run, Decision, Answer, Rejected or Note
        In file order.

    Raises
    ------
    InputError
        If the format is one that the store reads itself.
    """
    if found.format.read is None:
        raise InputError(f"{path}: the format {found.format.name} is loaded by the store, it has no reader of its own")
    yield from found.format.read(path, Origin.of(path, root))
