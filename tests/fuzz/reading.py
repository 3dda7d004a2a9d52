"""What a reader may do with a file, whatever is in it."""

from __future__ import annotations

import itertools
import json
from typing import TYPE_CHECKING

from check_workbench.errors import InputError
from check_workbench.records import Decision, Run
from check_workbench.results import Answer
from check_workbench.sources import READERS, Note, Origin, Recognised, Rejected, opened, recognise
from check_workbench.sources.heads import look
from check_workbench.sources.json_items import Item, items

if TYPE_CHECKING:
    from pathlib import Path


def recognised(path: Path) -> str | None:
    """Return the format of a file, or None; two formats for one file are an error."""
    found = recognise(path)
    return found.format.name if isinstance(found, Recognised) else None


def consume(path: Path, name: str) -> int:
    """Read a file to its end as one format, and count what came.

    Parameters
    ----------
    path
        Any file.
    name
        The format.

    Raises
    ------
    AssertionError
        If something comes that is no record.
    """
    read = READERS[name].read
    if read is None:
        return 0
    count = 0
    try:
        for record in read(path, Origin.of(path)):
            count += 1
            assert isinstance(record, Run | Decision | Answer | Rejected | Note), type(record)
            if isinstance(record, Rejected):
                assert record.reason
                assert record.line >= 0
    except InputError as error:
        if not str(error):
            raise
        count += 1
    return count


def seeds(folder: Path, most: int = 150_000) -> dict[str, list[bytes]]:
    """Return files of a folder by format, smallest first; of large JSON files the first two records.

    Parameters
    ----------
    folder
        Files that nobody here wrote.
    most
        The largest size in bytes.
    """
    found: dict[str, list[bytes]] = {}
    for path in sorted((p for p in folder.rglob("*") if p.is_file()), key=lambda p: (p.stat().st_size, str(p))):
        if path.name.startswith(("LICENSE", "NOTICE")):
            continue
        name = recognised(path)
        if name is not None and READERS[name].read is not None:
            with opened(path) as stream:
                data = stream.read(most + 1)
            data = data if len(data) <= most else _shortened(path)
            if data:
                found.setdefault(name, []).append(data)
    return found


def _shortened(path: Path) -> bytes:
    head = look(path)
    if isinstance(head, Rejected) or head.shape not in {"lines", "array"}:
        return b""
    with opened(path) as stream:
        whole = [item.value for item in itertools.islice(items(stream, path.name), 2) if isinstance(item, Item)]
    return json.dumps(whole).encode() if head.shape == "array" else "\n".join(map(json.dumps, whole)).encode()
