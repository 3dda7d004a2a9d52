"""The manifest of an exported folder: what it holds, so that a folder is known, and that nothing in it is missing.

The manifest is `manifest.json`: `kind`, `schema_version`, and of each table its rows and the SHA-256 of its file.
"""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from check_workbench.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

NAME = "manifest.json"
KIND = "check_workbench export"
LARGEST = 1 << 20
"""Bytes of a manifest; a larger file of this name is somebody else's."""
_TABLE = re.compile(r"[a-z][a-z_]*")


@dataclass(frozen=True, slots=True, kw_only=True)
class Manifest:
    """What an exported folder says of itself."""

    schema_version: int
    rows: Mapping[str, int]
    """Rows of each table."""
    digests: Mapping[str, str]
    """SHA-256 of each table's file."""

    def to_json(self) -> dict[str, Any]:
        """Return the manifest as it is written."""
        tables = {name: {"rows": self.rows[name], "sha256": self.digests[name]} for name in sorted(self.rows)}
        return {"kind": KIND, "schema_version": self.schema_version, "tables": tables}


def file_of(folder: Path, table: str) -> Path:
    """Return the file of a table."""
    return folder / f"{table}.parquet"


def is_export(folder: Path) -> bool:
    """Say whether a folder was made by an export, whatever has become of it since."""
    return _document(folder) is not None


def read(folder: Path) -> Manifest:
    """Read the manifest of a folder.

    Raises
    ------
    InputError
        If there is none, or it is not what an export writes.
    """
    document = _document(folder)
    if document is None:
        raise InputError(
            f"{folder} must be a folder that store.export wrote, but it has no {NAME} of an export; "
            "name the folder in which that file is"
        )
    try:
        version, tables = document["schema_version"], document["tables"]
        rows = {name: entry["rows"] for name, entry in tables.items()}
        digests = {name: entry["sha256"] for name, entry in tables.items()}
    except (KeyError, TypeError, AttributeError) as error:
        raise _damaged(folder, f"lacks what an export writes ({error!r})") from error
    whole = [version, *rows.values()]
    if any(isinstance(n, bool) or not isinstance(n, int) or n < 0 for n in whole) or version < 1:
        raise _damaged(folder, "has a schema_version or rows that are no such numbers")
    if not all(_TABLE.fullmatch(name) for name in rows):
        raise _damaged(folder, f"names a table that no export has: {sorted(rows)}")
    return Manifest(schema_version=version, rows=rows, digests=digests)


def check_files(folder: Path, manifest: Manifest) -> None:
    """Refuse a folder whose files are not the ones that the manifest speaks of.

    Raises
    ------
    InputError
        If a file is missing, was cut or changed.
    """
    for name, expected in manifest.digests.items():
        path = file_of(folder, name)
        if not path.is_file():
            raise InputError(f"{folder}: {NAME} names {path.name}, which is not there; copy the whole folder again")
        if digest_of(path) != expected:
            raise InputError(
                f"{path} is not the file that {NAME} speaks of: it was cut or changed since it was exported; "
                "copy it again, or export again"
            )


def digest_of(path: Path) -> str:
    """Return the SHA-256 of a file."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def _document(folder: Path) -> dict[str, Any] | None:
    path = folder / NAME
    try:
        if not path.is_file() or path.stat().st_size > LARGEST:
            return None
        document = json.loads(path.read_bytes())
    except (OSError, ValueError, RecursionError):
        return None
    return document if isinstance(document, dict) and document.get("kind") == KIND else None


def _damaged(folder: Path, what: str) -> InputError:
    return InputError(f"{folder / NAME} {what}; it was changed since it was exported. Export again.")
