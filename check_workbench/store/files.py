"""Which files a PATH means."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from check_workbench.errors import InputError
from check_workbench.store import manifest

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator


class Found(NamedTuple):
    """One file, and the PATH under which it was found."""

    path: Path
    root: Path


def find(paths: str | Path | Iterable[str | Path]) -> tuple[list[Found], list[str]]:
    """List the files that paths mean, sorted within each folder; each file once.

    Hidden files are passed over. Folders are entered once, so loops of links end. A folder that an export wrote counts
    as one file, and so does its manifest.

    Parameters
    ----------
    paths
        Files or folders.

    Returns
    -------
    tuple
        The files, and what could not be read, with the reason.

    Raises
    ------
    InputError
        If a path does not exist or cannot be looked at.
    """
    given = [paths] if isinstance(paths, str | Path) else list(paths)
    if not given:
        raise InputError("there must be at least one file or folder to load, got none")
    skipped: list[str] = []
    found: dict[str, Found] = {}
    for root in map(Path, given):
        for path in _under(root, skipped):
            found.setdefault(os.path.realpath(path), Found(path, root))
    return list(found.values()), skipped


def _under(root: Path, skipped: list[str]) -> Iterator[Path]:
    try:
        kind = root.stat()
    except FileNotFoundError as error:
        raise InputError(f"{root} does not exist; a path must be a file or a folder") from error
    except (OSError, ValueError) as error:
        raise InputError(f"{root} cannot be read: {getattr(error, 'strerror', None) or error}") from error
    del kind
    if not root.is_dir():
        yield root.parent if root.name == manifest.NAME and manifest.is_export(root.parent) else root
        return
    yield from _walk(root, skipped, seen=set())


def _walk(folder: Path, skipped: list[str], *, seen: set[str]) -> Iterator[Path]:
    real = os.path.realpath(folder)
    if real in seen:
        return
    seen.add(real)
    if manifest.is_export(folder):
        yield folder
        return
    try:
        entries = sorted(folder.iterdir())
    except OSError as error:
        skipped.append(f"{folder} ({error.strerror})")
        return
    for entry in entries:
        if entry.name.startswith("."):
            continue
        if entry.is_dir():
            yield from _walk(entry, skipped, seen=seen)
        elif entry.is_file():
            yield entry
        else:
            skipped.append(f"{entry} (no file: a broken link, or something that cannot be read like one)")
