"""Files written whole or not at all."""

from __future__ import annotations

import contextlib
import errno
import os
import secrets
import stat
from pathlib import Path
from typing import TYPE_CHECKING

from check_workbench.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterator

NEW_FILE = 0o666
"""The mode of a new file, less what the process masks."""


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
    with removing(made), told(path):
        if Path(path).exists() and not target.is_file():
            Path(path).write_bytes(data)
        else:
            beside(target, data, made).replace(target)


@contextlib.contextmanager
def removing(made: list[Path]) -> Iterator[None]:
    """Take away the files beside the others, those that were moved into place apart."""
    try:
        yield
    finally:
        for path in made:
            path.unlink(missing_ok=True)


@contextlib.contextmanager
def told(path: str | Path) -> Iterator[None]:
    """Turn what the system refuses into a message about a file."""
    try:
        yield
    except OSError as error:
        raise InputError(f"{path}: cannot be written: {error.strerror or error}.") from error


def beside(target: Path, data: bytes, made: list[Path]) -> Path:
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
        if hasattr(os, "chown"):  # not on Windows
            with contextlib.suppress(OSError):
                os.chown(path, known.st_uid, known.st_gid)
        path.chmod(mode)
    return path
