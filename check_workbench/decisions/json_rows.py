"""Tables as JSON lines, one object a line; one array of objects works as well."""

from __future__ import annotations

from typing import TYPE_CHECKING

from check_workbench.decisions.rows import Row, RowFormat
from check_workbench.sources.format import Note, Rejected
from check_workbench.sources.json_items import items, opened

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


def _read(path: Path, _required: tuple[str, ...]) -> Iterator[Row | Rejected | Note]:
    file = str(path)
    with opened(path) as stream:
        for item in items(stream, file):
            if isinstance(item, Rejected):
                yield item
            elif isinstance(item.value, dict):
                yield Row(item.line, {k: v for k, v in item.value.items() if v is not None and v != ""})
            else:
                reason = f"a record must be an object, got {type(item.value).__name__}"
                yield Rejected(file=file, line=item.line, reason=reason)


def _detect(head: bytes) -> bool:
    return head.lstrip(b"\xef\xbb\xbf \t\r\n")[:1] in (b"{", b"[")


FORMAT = RowFormat(name="jsonl", summary="JSON lines, one object a line", detect=_detect, read=_read)
