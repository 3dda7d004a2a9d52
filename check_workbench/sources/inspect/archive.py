"""Members of an Inspect archive, each within bounds, so that a small file cannot unpack to fill the memory."""

from __future__ import annotations

import json
import lzma
import zipfile
import zlib
from typing import Any, NamedTuple

from check_workbench.errors import InputError
from check_workbench.sources.json_text import decode, mended, reason_of

LARGEST = 1 << 29
"""Bytes that one member may unpack to."""
_BROKEN = (zipfile.BadZipFile, zlib.error, lzma.LZMAError, EOFError, OSError, ValueError)
_METHODS = {9: "Deflate64", 20: "Zstandard", 93: "Zstandard", 95: "XZ", 98: "PPMd"}
"""Names of ways to pack that the standard library cannot unpack."""


class Unpacked(NamedTuple):
    """What a member holds."""

    value: Any
    changed: bool = False
    """Whether NaN or infinity was read as null."""


def unpacked(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> Unpacked:
    """Decode a JSON member of an archive.

    Parameters
    ----------
    archive
        The archive.
    info
        Which member.

    Raises
    ------
    InputError
        If it is encrypted, packed in an unknown way, too large, damaged, or no JSON.
    """
    data = _bytes(archive, info)
    try:
        return Unpacked(decode(data))
    except ValueError as error:
        if not any(name in data for name in (b"NaN", b"Infinity")):
            raise InputError(f"{info.filename}: {reason_of(error)}") from None
    try:
        return Unpacked(mended(json.loads(data, parse_constant=_nothing)), changed=True)
    except (ValueError, RecursionError) as error:
        why = reason_of(error) if isinstance(error, ValueError) else "it is nested too deeply"
        raise InputError(f"{info.filename}: {why}") from None


def _bytes(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> bytes:
    if info.flag_bits & 1:
        raise InputError(f"{info.filename} is encrypted, which cannot be read")
    try:
        with archive.open(info) as stream:
            data = stream.read(LARGEST + 1)
    except NotImplementedError:
        method = _METHODS.get(info.compress_type, f"method {info.compress_type}")
        raise InputError(
            f"{info.filename} is packed with {method}, which this Python cannot unpack; "
            "`inspect log convert --to json` writes a log that can be read",
        ) from None
    except _BROKEN as error:
        raise InputError(f"{info.filename} is damaged: {error}") from None
    if len(data) > LARGEST:
        raise InputError(f"{info.filename} unpacks to more than {LARGEST:,} bytes, which is the most that is read")
    return data


def _nothing(_name: str) -> None:
    """Read a constant that is no JSON as null."""
