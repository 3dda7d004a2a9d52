"""The JSON form of `validate`."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

from check_workbench.dialects.reading import survey

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from check_workbench.dialects.problems import Reading


def validate_json(paths: str | Path | Iterable[str | Path]) -> dict[str, Any]:
    """Read check documents and return every problem in the form that programs rely on.

    Parameters
    ----------
    paths
        Files, folders, or `FILE#ID` for one check of a file.

    Raises
    ------
    InputError
        If a path does not exist.

    Examples
    --------
    >>> validate_json([])
    {'files': []}
    """
    given = list(paths) if not isinstance(paths, str) and hasattr(paths, "__iter__") else [paths]
    return {"files": [file_json(reading) for reading in survey(given).readings]}


def file_json(reading: Reading) -> dict[str, Any]:
    """Return what was read from one file as `validate` lists it."""
    return {
        "file": reading.file,
        "dialect": reading.dialect,
        "checks": [found.id for found in reading.found],
        "problems": [dataclasses.asdict(problem) for problem in reading.problems],
    }
