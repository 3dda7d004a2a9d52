"""From paths to readings and checks: which files hold checks, in which dialect, and which check wins on one id."""

from __future__ import annotations

import dataclasses
import os
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any

from check_workbench.dialects import check1, neatroots
from check_workbench.dialects.problems import Problem, Problems, Reading
from check_workbench.documents import LANGUAGES, LIMIT, Document, FlawError, parse, read_text
from check_workbench.errors import InputError, UnknownNameError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from check_workbench.checks import Check

DIALECTS: tuple[Any, ...] = (neatroots, check1)
"""Each has NAME, `likeness(document)` from 0 to 1, and `read(document, file, problems)`."""
LIKELY = 0.5
"""From this likeness on a document is taken for a check document."""
PLAUSIBLE = 0.3
"""From this likeness of its bare text on a file is worth parsing."""
USER_FOLDER = ".neatroots/checks"

_NOT_OURS = {"node_modules", "__pycache__"}
_HIDDEN_BUT_OURS = {".neatroots"}


def read(path: str | Path) -> list[Reading]:
    """Read a check document, or every check document below a folder.

    Parameters
    ----------
    path
        File or folder. Files that are no check documents are left out; a broken one is not.

    Returns
    -------
    list of Reading
        Sorted by file, each with all its problems at once.

    Raises
    ------
    InputError
        If the path does not exist or cannot be opened.
    """
    path = Path(path)
    if not path.exists():
        raise InputError(f"{path}: no such file or folder")
    readings = [_read_file(file, named=file == path) for file in _files(path)]
    return [reading for reading in readings if reading is not None]


def read_source(text: str, file: str, *, suffix: str) -> Reading | None:
    """Read a text that was loaded already; None if it is no check document."""
    return _reading(parse(text, LANGUAGES[suffix]), file, named=False)


def read_checks(
    paths: str | Path | Iterable[str | Path] = (),
    *,
    user: bool = False,
    library: bool = False,
) -> tuple[Check, ...]:
    """Read checks of any dialect.

    Parameters
    ----------
    paths
        Files, folders, or `FILE#ID` for one check of a file.
    user
        Whether to add the checks in `~/.neatroots/checks/`.
    library
        Whether to add the shipped checks.

    Returns
    -------
    tuple of Check
        Sorted by id. On the same id a given check wins over the user's own, and that over a shipped one.

    Raises
    ------
    InputError
        If any document has an error (all are told, with line and column), if two given files hold the same id, or if
        a path holds no check.
    UnknownNameError
        If a file has no check of the id behind `#`.

    Examples
    --------
    >>> read_checks()
    ()
    """
    given = [paths] if isinstance(paths, str | Path) else list(paths)
    found: dict[str, Check] = {}
    if library:
        found |= _by_id(_shipped())
    if user and (folder := Path.home() / USER_FOLDER).is_dir():
        found |= _by_id(_usable(read(folder)))
    found |= _by_id(check for path in _distinct(given) for check in _checks_at(path))
    return tuple(found[id_] for id_ in sorted(found))


def read_clashing(paths: Sequence[str | Path]) -> list[Reading]:
    """Read paths as `read` does, each file once, and report ids that stand in two files as problems."""
    readings: dict[str, Reading] = {}
    for path in paths:
        for reading in read(path):
            readings.setdefault(os.path.realpath(reading.file), reading)
    first: dict[str, str] = {}
    clashing = []
    for reading in sorted(readings.values(), key=lambda reading: reading.file):
        problems = [problem for found in reading.found if (problem := _clash(reading, found, first)) is not None]
        clashing.append(_with(reading, problems))
        for found in reading.found:
            first.setdefault(found.id, reading.file)
    return clashing


def split_id(path: str | Path) -> tuple[Path, str | None]:
    """Split `FILE#ID` at the first `#` before which an existing path stands.

    Examples
    --------
    >>> split_id("nowhere.yaml")[1] is None
    True
    """
    text = str(path)
    if Path(text).exists():
        return Path(text), None
    for place, char in enumerate(text):
        if char == "#" and place and Path(text[:place]).exists():
            return Path(text[:place]), text[place + 1 :]
    return Path(text), None


def _files(path: Path) -> Iterator[Path]:
    if path.is_file():
        yield path
        return
    for folder, folders, files in os.walk(path):
        folders[:] = sorted(name for name in folders if _is_searched(name))
        found = (Path(folder) / name for name in sorted(files) if Path(name).suffix.lower() in LANGUAGES)
        yield from (file for file in found if file.is_file())


def _is_searched(name: str) -> bool:
    return name not in _NOT_OURS and (not name.startswith(".") or name in _HIDDEN_BUT_OURS)


def _read_file(file: Path, *, named: bool) -> Reading | None:
    language = LANGUAGES.get(file.suffix.lower(), "yaml")
    try:
        text = read_text(file)
    except FlawError as stopped:
        head = _head(file)
        broken = Document(text=head, language=language, roots=(), flaws=(stopped.flaw,))
        return _reading(broken, str(file), named=named)
    except OSError as error:
        raise InputError(f"{file}: cannot be read: {error.strerror}") from None
    unparsed = Document(text=text, language=language, roots=())
    if not named and _likeliest(unparsed, file.name)[1] < PLAUSIBLE:
        return None
    return _reading(parse(text, language), str(file), named=named)


def _head(file: Path) -> str:
    with file.open("rb") as stream:
        return stream.read(min(LIMIT, 65_536)).decode("utf-8", errors="replace")


def _likeliest(document: Document, name: str) -> tuple[Any, float]:
    marks = [(dialect, dialect.likeness(document)) for dialect in DIALECTS]
    best = max(marks, key=lambda mark: mark[1])
    if best[1] < LIKELY and not document.roots and name == "PROCESS.md":
        return check1, 1.0
    return best


def _reading(document: Document, file: str, *, named: bool) -> Reading | None:
    dialect, likeness = _likeliest(document, Path(file).name)
    if likeness < LIKELY:
        if not named or not document.flaws:
            return None
        dialect = check1 if document.language == "markdown" else neatroots
    problems = Problems()
    problems.flaws(document.flaws)
    found = dialect.read(document, file, problems)
    _twice(document, found, problems)
    usable = () if document.flaws else tuple(each.check for each in found if each.check is not None)
    return Reading(
        file=file,
        dialect=dialect.NAME,
        checks=usable,
        problems=problems.sorted(),
        found=tuple(each for each in found if each.id),
        document=document,
    )


def _twice(document: Document, found: Sequence[Any], problems: Problems) -> None:
    lines: dict[str, int] = {}
    for each in found:
        node = document.at(each.path)
        if each.id and node is not None:
            if each.id in lines:
                problems.error(
                    node,
                    "duplicate-id",
                    f"the id {each.id!r} stands twice in this file, first in line {lines[each.id]}",
                    hint="Give each check an id of its own.",
                )
            lines.setdefault(each.id, node.line)


def _clash(reading: Reading, found: Any, first: dict[str, str]) -> Problem | None:
    if found.id not in first or reading.document is None:
        return None
    node = reading.document.at(found.path)
    return Problem(
        line=node.line if node else 1,
        column=node.column if node else 1,
        severity="error",
        code="id-clash",
        message=f"the id {found.id!r} stands in {first[found.id]} and in {reading.file}",
        hint="Give each check an id of its own.",
    )


def _with(reading: Reading, problems: list[Problem]) -> Reading:
    ordered = tuple(sorted([*reading.problems, *problems], key=lambda p: (p.line, p.column)))
    return dataclasses.replace(reading, problems=ordered)


def _usable(readings: Iterable[Reading]) -> Iterator[Check]:
    readings = list(readings)
    broken = [
        f"{reading.file}:{problem.line}:{problem.column}: {problem.message}. {problem.hint}".rstrip()
        for reading in readings
        for problem in reading.problems
        if problem.severity == "error"
    ]
    if broken:
        raise InputError("\n".join(broken))
    for reading in readings:
        yield from reading.checks


def _checks_at(path: str | Path) -> Iterator[Check]:
    file, id_ = split_id(path)
    checks = list(_usable(read(file)))
    if not checks:
        raise InputError(f"{file}: holds no check that the workbench knows")
    if id_ is not None:
        if id_ not in (check.id for check in checks):
            raise UnknownNameError.of(f"check in {file}", id_, (check.id for check in checks))
        checks = [check for check in checks if check.id == id_]
    yield from checks


def _by_id(checks: Iterable[Check]) -> dict[str, Check]:
    found: dict[str, Check] = {}
    for check in checks:
        other = found.setdefault(check.id, check)
        if other is not check and os.path.realpath(other.file or "") != os.path.realpath(check.file or ""):
            raise InputError(
                f"two checks have the id {check.id!r}: one in {other.file}, one in {check.file}. "
                "Rename one, or give only one of the files.",
            )
    return found


def _distinct(paths: Sequence[str | Path]) -> list[str | Path]:
    return list({str(path): path for path in paths}.values())


def _shipped() -> Iterator[Check]:
    folder = resources.files("check_workbench") / "shipped"
    readings = []
    for entry in sorted(folder.iterdir(), key=lambda entry: entry.name):
        if entry.name.endswith(".yaml"):
            reading = read_source(entry.read_text(encoding="utf-8"), f"shipped/{entry.name}", suffix=".yaml")
            readings += [] if reading is None else [reading]
    for check in _usable(readings):
        yield dataclasses.replace(check, file=None)
