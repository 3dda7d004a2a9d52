"""The other version of a check: another file, or what git holds of its file at a revision."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

from check_workbench.checks import Check
from check_workbench.dialects import read_checks
from check_workbench.dialects.files import exists
from check_workbench.dialects.reading import read_source, split_id
from check_workbench.documents import LANGUAGES, FlawError, decode
from check_workbench.errors import InputError, UnknownNameError

if TYPE_CHECKING:
    from collections.abc import Sequence

LONGEST = 1000
SECONDS = 60
SET_BY_HOOKS = ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_PREFIX")
"""What git tells its hooks; it would lead git away from the folder of the check."""


def other_version(check: Check, against: Check | str | Path) -> tuple[Check, str]:
    """Find the version that a check is compared with, and what to call it.

    Parameters
    ----------
    check
        The present check.
    against
        A check, a file, `FILE#ID`, or a git revision; an existing file is taken for the file.

    Raises
    ------
    InputError
        If it is neither, holds no such check, or cannot be read.
    """
    if isinstance(against, Check):
        return against, against.id
    text = str(against)
    if not text or len(text) > LONGEST or not text.isprintable():
        raise InputError(f"against must be a file, FILE#ID or a git revision, got {text[:80]!r}.")
    path, id_ = split_id(against)
    if exists(path) and path.is_file():
        return _chosen(check, read_checks([path]), id_, str(path)), text
    return _at_revision(check, text)


def _chosen(check: Check, found: Sequence[Check], id_: str | None, place: str) -> Check:
    """Return the check of the wanted id, else the only one there."""
    same = [one for one in found if one.id == (id_ or check.id)]
    if same:
        return same[0]
    if id_ is None and len(found) == 1:
        return found[0]
    raise UnknownNameError.of(f"check in {place}", id_ or check.id, [one.id for one in found])


def _at_revision(check: Check, revision: str) -> tuple[Check, str]:
    if check.file is None:
        raise InputError(f"{check.id} was not read from a file, so git knows no other version. Give a check or a file.")
    if revision.startswith("-"):
        raise InputError(
            f"a revision cannot begin with '-', got {revision!r}. Give a revision such as HEAD~1, or a file."
        )
    file = Path(os.path.realpath(check.file))
    _git(file.parent, "rev-parse", "--git-dir", otherwise=f"{check.file} lies in no git repository that can be read")
    shallow = _git(file.parent, "rev-parse", "--is-shallow-repository", otherwise="git does not answer")
    cut = "; this clone is shallow, git fetch --unshallow brings the rest" if shallow.strip() == b"true" else ""
    unknown = f"{revision!r} is neither a file nor a revision that git knows{cut}"
    commit = _git(file.parent, "rev-parse", "--verify", f"{revision}^{{commit}}", otherwise=unknown).decode().strip()
    gone = f"{revision} has no file {check.file}; if it was renamed, save the old text to a file and give that"
    data = _git(file.parent, "cat-file", "blob", f"{commit}:./{file.name}", otherwise=gone)
    name = f"{check.file} at {revision}"
    return _chosen(check, _read(data, check.file, name), None, name), f"{revision} ({commit[:10]})"


def _read(data: bytes, file: str, name: str) -> tuple[Check, ...]:
    suffix = Path(file).suffix.lower()
    try:
        reading = read_source(decode(data), file, suffix=suffix if suffix in LANGUAGES else ".yaml")
    except FlawError as stopped:
        raise InputError(f"{name}: {stopped.flaw.message}. {stopped.flaw.hint}") from None
    wrong = [p for p in reading.problems if p.severity == "error"] if reading is not None else []
    if wrong:
        raise InputError(f"{name}:{wrong[0].line}:{wrong[0].column}: {wrong[0].message}. {wrong[0].hint}".rstrip())
    if reading is None or not reading.checks:
        raise InputError(f"{name}: held no check that the workbench knows")
    return reading.checks


def _git(folder: Path, *words: str, otherwise: str) -> bytes:
    program = shutil.which("git")
    if program is None:
        raise InputError("git is not installed, so there are no revisions. Give the other version as a file.")
    kept = {name: value for name, value in os.environ.items() if name not in SET_BY_HOOKS}
    try:
        done = subprocess.run(  # noqa: S603 - no shell; a revision cannot be an option, since none begins with '-'
            [program, *words],
            cwd=folder,
            env={**kept, "LC_ALL": "C", "GIT_TERMINAL_PROMPT": "0"},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise InputError(f"git did not answer within {SECONDS} seconds. Give the other version as a file.") from None
    except OSError as error:
        raise InputError(f"git cannot be run in {folder.name}: {error.strerror}. Give a file.") from error
    if done.returncode:
        said = done.stderr.decode("utf-8", errors="replace").strip().splitlines()
        raise InputError(f"{otherwise} (git: {said[0] if said else 'no reason given'}).")
    return done.stdout
