"""Our own JSON lines one by one, where they are few or only some of them are wanted."""

from __future__ import annotations

from typing import TYPE_CHECKING

from check_workbench.errors import InputError
from check_workbench.sources import Note, Rejected, opened
from check_workbench.sources.json_text import decode, reason_of
from check_workbench.store.blocks import blocks
from check_workbench.store.own_runs import run_of

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from check_workbench.sources import Origin
    from check_workbench.sources.format import Record

_BYTES_AT_ONCE = 1 << 20


def own_records(path: Path, origin: Origin) -> Iterator[tuple[int, Record]]:
    """Yield our own JSON lines one by one, each with its number; the store reads large files of them in another way."""
    with opened(path) as stream:
        for block in blocks(stream, size=_BYTES_AT_ONCE):
            if block.broken:
                yield block.first_line, Rejected(file=origin.file, line=block.first_line, reason=block.broken)
            for place, text in block.lines(0):
                yield from ((place.line, record) for record in _own_record(text, place.line, origin))


def _own_record(text: bytes, line: int, origin: Origin) -> Iterator[Record]:
    notes: list[str] = []
    try:
        yield run_of(decode(text.decode("utf-8")), note=notes.append)
    except ValueError as error:
        reason = str(error) if isinstance(error, InputError) else reason_of(error)
        yield Rejected(file=origin.file, line=line, reason=reason)
    yield from (Note(file=origin.file, text=text) for text in dict.fromkeys(notes))
