"""Files written whole or not at all, one alone or several together."""

from __future__ import annotations

import contextlib
import errno
import os
import secrets
import stat
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from check_workbench.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

NEW_FILE = 0o666
"""The mode of a new file, less what the process masks."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rewrite:
    """A file that holds `old`, or is not there where that is None, and shall hold `new`."""

    path: str | Path
    old: bytes | None
    new: bytes

    @property
    def target(self) -> Path:
        """Where the bytes lie, if the path is a link."""
        return Path(os.path.realpath(self.path))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Move:
    """A rewrite that is ready: what the file shall hold and what it held lie beside it."""

    file: Rewrite
    new: Path
    former: Path | None


def write_file(path: str | Path, data: bytes) -> None:
    r"""Put data into a file in one step, whatever it held: a reader sees the old bytes or the new ones.

    The mode and, where the system allows it, the owner of an existing file stay, and a link stays a link. A device or
    a pipe is written to.

    Parameters
    ----------
    path
        The file; its folder must be there.
    data
        What it shall hold.

    Raises
    ------
    InputError
        If it cannot be written; then it is as it was.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_file(Path(folder, "a.txt"), b"one\n")
    ...     Path(folder, "a.txt").read_bytes(), len(list(Path(folder).iterdir()))
    (b'one\n', 1)
    """
    target = Path(os.path.realpath(path))
    made: list[Path] = []
    with _removing(made), _told(path):
        if Path(path).exists() and not target.is_file():
            Path(path).write_bytes(data)
        else:
            _beside(target, data, made).replace(target)


def rewrite_files(files: Iterable[Rewrite]) -> None:
    """Put new bytes into several files: into all of them, or into none.

    Everything is written beside the files first, and each file is looked at again; only then the new bytes are moved
    into place. If a move fails, what was moved before is put back, with the times that it had.

    Parameters
    ----------
    files
        The files, each once. One that holds already what it shall is left alone.

    Raises
    ------
    InputError
        If a file does not hold any more what it must, or cannot be written; the message says how each file is left.
    """
    wanted = [file for file in files if file.new != file.old]
    made: list[Path] = []
    with _removing(made):
        try:
            moves = [_ready(file, made) for file in wanted]
            for file in wanted:
                _require_old(file)
        except InputError as error:
            raise InputError(f"{error} {_as_they_were(wanted)}") from error.__cause__
        _move(moves, made)


@contextlib.contextmanager
def _removing(made: list[Path]) -> Iterator[None]:
    """Take away the files beside the others, those that were moved into place apart."""
    try:
        yield
    finally:
        for path in made:
            path.unlink(missing_ok=True)


@contextlib.contextmanager
def _told(path: str | Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise InputError(f"{path}: cannot be written: {error.strerror or error}.") from error


def _beside(target: Path, data: bytes, made: list[Path]) -> Path:
    """Write data into a new file beside another, with its mode and owner, and make sure that it is on the disk."""
    known = target.stat() if target.exists() else None
    if known is not None and not os.access(target, os.W_OK):
        raise PermissionError(errno.EACCES, "it is read-only")
    mode = NEW_FILE if known is None else stat.S_IMODE(known.st_mode)
    path = target.with_name(f".check-workbench-{secrets.token_hex(8)}.tmp")
    made.append(path)
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode), "wb") as stream:
        stream.write(data)
        stream.flush()
        os.fsync(stream.fileno())
    if known is not None:
        with contextlib.suppress(PermissionError):
            os.chown(path, known.st_uid, known.st_gid)
        path.chmod(mode)
    return path


def _ready(file: Rewrite, made: list[Path]) -> _Move:
    with _told(file.path):
        new, former = _beside(file.target, file.new, made), None
        if file.old is not None:
            times = file.target.stat()
            former = _beside(file.target, file.old, made)
            os.utime(former, ns=(times.st_atime_ns, times.st_mtime_ns))
    return _Move(file=file, new=new, former=former)


def _require_old(file: Rewrite) -> None:
    with _told(file.path):
        held = file.target.read_bytes() if file.target.exists() else None
    if held is None and file.old is not None:
        raise InputError(f"{file.path}: is no longer there. Read the file again, then write.")
    if held != file.old:
        raise InputError(f"{file.path}: changed while it was written. Read it again, then write.")


def _move(moves: Sequence[_Move], made: list[Path]) -> None:
    """Move everything into place; if that fails, put back what was moved."""
    try:
        for move in moves:
            _require_old(move.file)
            with _told(move.file.path):
                move.new.replace(move.file.target)
    except BaseException as error:
        moved = [move for move in moves if not move.new.exists()]
        lost = {id(move): words for move in moved if (words := _put_back(move, made))}
        if not isinstance(error, InputError) and not lost:
            raise
        safe = _as_they_were([move.file for move in moves if id(move) not in lost])
        raise InputError(" ".join([str(error), *lost.values(), safe]).strip()) from error


def _put_back(move: _Move, made: list[Path]) -> str:
    """Put back what a file held, and say why where that cannot be."""
    file = move.file
    try:
        if file.target.read_bytes() != file.new:
            return f"{file.path}: was changed by somebody else since, and is left so."
        if move.former is None:
            file.target.unlink()
        else:
            move.former.replace(file.target)
    except OSError as error:
        kept = f"; what it held lies in {move.former}" if move.former else ""
        made[:] = [path for path in made if path != move.former]
        return f"{file.path}: holds the new text and cannot be put back: {error.strerror}{kept}."
    return ""


def _as_they_were(files: Sequence[Rewrite]) -> str:
    return f"As before: {', '.join(str(file.path) for file in files)}." if files else ""
