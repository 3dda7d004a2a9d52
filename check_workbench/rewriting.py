"""Several files written together: all of them, or none."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from check_workbench.errors import InputError
from check_workbench.files import beside, removing, told

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


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
    with removing(made):
        try:
            moves = [_ready(file, made) for file in wanted]
            for file in wanted:
                _require_old(file)
        except InputError as error:
            raise InputError(f"{error} {_as_they_were(wanted)}") from error.__cause__
        _move(moves, made)


def _ready(file: Rewrite, made: list[Path]) -> _Move:
    with told(file.path):
        new, former = beside(file.target, file.new, made), None
        if file.old is not None:
            times = file.target.stat()
            former = beside(file.target, file.old, made)
            os.utime(former, ns=(times.st_atime_ns, times.st_mtime_ns))
    return _Move(file=file, new=new, former=former)


def _require_old(file: Rewrite) -> None:
    with told(file.path):
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
            with told(move.file.path):
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
    file, kept = move.file, f"; what it held lies in {move.former}" if move.former else ""
    try:
        if file.target.read_bytes() != file.new:
            return f"{file.path}: was changed by somebody else since, and is left so."
        if move.former is None:
            file.target.unlink()
        else:
            move.former.replace(file.target)
    except OSError as error:
        made[:] = [path for path in made if path != move.former]
        return f"{file.path}: holds the new text and cannot be put back: {error.strerror}{kept}."
    return ""


def _as_they_were(files: Sequence[Rewrite]) -> str:
    return f"As before: {', '.join(str(file.path) for file in files)}." if files else ""
