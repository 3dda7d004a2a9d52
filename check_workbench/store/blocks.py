"""A file of lines in blocks of whole lines, as Arrow, without one Python object a line."""

from __future__ import annotations

import gzip
import zlib
from dataclasses import dataclass
from typing import IO, TYPE_CHECKING, NamedTuple, cast

if TYPE_CHECKING:
    import io
    from collections.abc import Iterator

    import numpy as np
    import pyarrow as pa

BYTES_A_BLOCK = 256 << 20
"""Large, as planning the queries costs a tenth of a second a block."""
LINES_A_BATCH = 256
"""What a thread takes at once."""
_MARK = b"\xef\xbb\xbf"


class Place(NamedTuple):
    """Key and line number of a line."""

    row: int
    line: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """Some whole lines of a file."""

    text: memoryview
    """Its bytes, until the next block is read."""
    first_line: int
    """Number of its first line, from 1."""
    read: int = 0
    """Bytes of the file read so far, before decompression."""
    broken: str = ""
    """Why no more could be read."""

    def _bounds(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return start, end and line number of the lines that are not blank."""
        import numpy as np

        bytes_ = np.frombuffer(self.text, dtype=np.uint8)
        ends = np.flatnonzero(bytes_ == 10)
        if not len(ends) or ends[-1] != len(bytes_) - 1:
            ends = np.append(ends, len(bytes_))
        starts = np.concatenate([[0], ends[:-1] + 1])
        numbers = self.first_line + np.arange(len(ends))
        short = np.flatnonzero(ends - starts < 64)
        blank = [i for i in short if not bytes(self.text[starts[i] : ends[i]]).strip()]
        keep = np.ones(len(ends), dtype=bool)
        keep[blank] = False
        return starts[keep], ends[keep], numbers[keep]

    def table(self, first: int) -> pa.Table:
        """Return the lines as Arrow: `row` from `first`, `line`, `text`, which may not be UTF-8."""
        import numpy as np
        import pyarrow as pa

        starts, ends, numbers = self._bounds()
        rows = pa.array(np.arange(first, first + len(starts)), type=pa.int64())
        columns = {"row": rows, "line": pa.array(numbers, type=pa.int64()), "text": self._texts(starts, ends)}
        lines = pa.table(columns)
        return pa.Table.from_batches(lines.to_batches(max_chunksize=LINES_A_BATCH), schema=lines.schema)

    def _texts(self, starts: np.ndarray, ends: np.ndarray) -> pa.Array:
        import numpy as np
        import pyarrow as pa

        if len(starts) and (starts[1:] == ends[:-1] + 1).all():
            offsets = np.append(starts, ends[-1]).astype(np.int64)
            return pa.LargeStringArray.from_buffers(len(starts), pa.py_buffer(offsets), pa.py_buffer(self.text))
        lines = [bytes(self.text[start:end]) for start, end in zip(starts, ends, strict=True)]
        return pa.array(lines, type=pa.large_binary()).view(pa.large_string())

    def lines(self, first: int) -> Iterator[tuple[Place, bytes]]:
        """Yield each line that is not blank with its key, counted from `first`."""
        starts, ends, numbers = self._bounds()
        for offset in range(len(starts)):
            yield Place(first + offset, int(numbers[offset])), bytes(self.text[starts[offset] : ends[offset]])


def blocks(stream: IO[bytes], *, size: int = BYTES_A_BLOCK) -> Iterator[Block]:
    """Cut a stream into blocks of whole lines of about `size` bytes; longer lines make longer blocks.

    All blocks lie in one piece of memory, as new memory costs more than reading into it.
    """
    reader = cast("io.BufferedReader", stream)
    room, kept, line, start = bytearray(size), 0, 1, None
    while True:
        if kept == len(room):
            room = room + bytes(len(room))
        try:
            read = reader.readinto(memoryview(room)[kept:])
        except (EOFError, gzip.BadGzipFile, zlib.error) as error:
            reason = f"the compressed file is broken after this line: {error}"
            yield Block(text=memoryview(b""), first_line=line, broken=reason)
            return
        filled = kept + read
        end = room.rfind(b"\n", 0, filled) + 1 if read else filled
        if start is None:
            start = len(_MARK) if room.startswith(_MARK) else 0
        if end > start:
            yield Block(text=memoryview(room)[start:end], first_line=line, read=_position(stream))
            line += room.count(b"\n", start, end)
            room[: filled - end] = room[end:filled]
            kept, start = filled - end, 0
        else:
            kept = filled
        if not read:
            return


def _position(stream: IO[bytes]) -> int:
    raw = getattr(stream, "raw", stream)
    inner = getattr(raw, "fileobj", None)
    return int((inner or stream).tell())
