"""`calibration.lock`: what was measured of each check when somebody last looked, as text that is reviewed like code."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from check_workbench.documents import FlawError, parse, plain, read_text
from check_workbench.errors import InputError
from check_workbench.rewriting import Rewrite, rewrite_files

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

NAME = "calibration.lock"
VERSION = 1
NEW = "Write a new one with check-workbench gate --update"
_COUNT = {"type": "integer", "minimum": 0, "maximum": 10**9}
_COUNTS = {
    "type": "object",
    "properties": {"k": _COUNT, "n": _COUNT},
    "required": ["k", "n"],
}
_BY = {
    "type": ["object", "null"],
    "properties": {"how": {"type": "string"}, "call": {"type": "string"}, "kind": {"type": "string"}},
}
_THRESHOLD = {
    "type": "object",
    "properties": {"item": _COUNT, "key": {"type": "string"}, "value": {"type": "number"}, "by": _BY},
    "required": ["item", "key", "value", "by"],
}
_BOUND = {
    "type": "object",
    "properties": {
        "side": {"enum": ["false_pass", "false_fail"]},
        "target": {"type": "number", "minimum": 0, "maximum": 1},
    },
    "required": ["side", "target"],
}
_ENTRY = {
    "type": "object",
    "properties": {
        **{name: {"type": "string"} for name in ("file", "asked", "document")},
        "answered_by": {"type": "array", "items": {"type": "string"}},
        "certified": {"type": "array", "items": _BOUND},
        "labels": {
            "type": "object",
            "properties": {
                "blind": {"type": "boolean"},
                "digest": {"type": "string"},
                "kind": {"enum": ["check", "work"]},
                "n": _COUNT,
            },
            "required": ["blind", "digest", "kind", "n"],
        },
        "numbers": {"type": "object", "additionalProperties": _COUNTS},
        "silent": _COUNTS,
        "thresholds": {"type": "array", "items": _THRESHOLD},
    },
    "required": [
        "file", "asked", "document", "answered_by", "certified", "labels", "numbers", "silent", "thresholds",
    ],
}  # fmt: skip
SCHEMA = {
    "type": "object",
    "properties": {"version": {"const": VERSION}, "checks": {"type": "object", "additionalProperties": _ENTRY}},
    "required": ["version", "checks"],
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Lock:
    """The entries of one lock file by the id of their check."""

    path: Path
    entries: Mapping[str, dict[str, Any]] = field(default_factory=dict)
    held: bytes | None = field(default=None, compare=False)
    """What the file held when it was read; None where there was none."""

    def text(self) -> str:
        """Return the lock as its file says it: sorted, one value a line, no clock and no place on a machine."""
        document = {"version": VERSION, "checks": dict(self.entries)}
        return json.dumps(document, indent=2, sort_keys=True, ensure_ascii=False, allow_nan=False) + "\n"

    def write(self) -> None:
        """Write the file in one step, unless it says so already.

        Raises
        ------
        InputError
            If it cannot be written, or somebody else changed it since it was read.
        """
        text = self.text().encode("utf-8", "replace")
        if not self.path.is_file() or self.path.read_bytes() != text:
            rewrite_files([Rewrite(path=self.path, old=self.held, new=text)])


def read_lock(folder: Path) -> Lock | None:
    """Read the lock of a folder of checks; None where there is none.

    Raises
    ------
    InputError
        If it is broken, of another version, or says something that no lock can.
    """
    path = folder / NAME
    if not path.exists():
        return None
    try:
        text = read_text(path)
    except FlawError as stopped:
        raise InputError(f"{path}: {stopped.flaw.message}. {NEW}.") from None
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror}") from error
    document = parse(text, "json")
    if document.flaws:
        flaw = document.flaws[0]
        merged = "\n<<<<<<<" in f"\n{text}" or "\n>>>>>>>" in f"\n{text}"
        help_ = "It holds the marks of a merge: take either side, then run gate --update" if merged else NEW
        raise InputError(f"{path}:{flaw.line}:{flaw.column}: {flaw.message}. {help_}.")
    return Lock(path=path, entries=_entries(path, plain(document.roots[0])), held=text.encode())


def _entries(path: Path, values: Any) -> dict[str, dict[str, Any]]:
    from jsonschema import Draft202012Validator

    version = values.get("version") if isinstance(values, dict) else None
    if version is not None and version != VERSION:
        raise InputError(f"{path}: is of version {version!r}, this check-workbench knows {VERSION}. {NEW}.")
    wrong = min(Draft202012Validator(SCHEMA).iter_errors(values), key=lambda e: (e.json_path, e.message), default=None)
    if wrong is not None:
        raise InputError(f"{path}: {wrong.json_path}: {wrong.message[:200]}. {NEW}.")
    try:
        json.dumps(values, allow_nan=False)
    except ValueError:
        raise InputError(f"{path}: holds a number that is too large. {NEW}.") from None
    entries: dict[str, dict[str, Any]] = values["checks"]
    for id_, entry in entries.items():
        for name, counts in (*entry["numbers"].items(), ("silent", entry["silent"])):
            if counts["k"] > counts["n"]:
                raise InputError(f"{path}: {id_}, {name}: k {counts['k']} must be at most n {counts['n']}. {NEW}.")
    return entries
