"""From paths to readings and checks: which files hold checks, in which dialect, and which check wins on one id."""

from __future__ import annotations

import dataclasses
import os
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any

from check_workbench.dialects import check1, files, neatroots
from check_workbench.dialects.problems import Problem, Problems, Reading
from check_workbench.documents import LANGUAGES, LIMIT, Document, Flaw, FlawError, parse, read_text
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Survey:
    """What lies at some paths."""

    readings: tuple[Reading, ...]
    """Every check document, with its problems."""
    others: int = 0
    """How many files of folders hold nothing that looks like a check."""


def read(path: str | Path) -> list[Reading]:
    """Read a check document, or every check document below a folder.

    Parameters
    ----------
    path
        File or folder. Files of a folder that nobody can have meant as a check are left out; a file that is named is
        always read, and that it holds no check is an error.

    Returns
    -------
    list of Reading
        Sorted by file, each with all its problems at once.

    Raises
    ------
    InputError
        If the path does not exist or cannot be opened.
    """
    return [reading for _, reading in _looked_at(path) if reading is not None]


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


def survey(paths: Sequence[str | Path]) -> Survey:
    """Read paths as `read` does, each file once, and report ids that stand in two files as problems.

    Parameters
    ----------
    paths
        Files, folders, or `FILE#ID` for one check of a file.

    Raises
    ------
    InputError
        If a path does not exist.
    UnknownNameError
        If a file that can be used has no check of the id behind `#`.
    """
    found: dict[str, Reading | None] = {}
    for path in _distinct(paths):
        file, id_ = split_id(path)
        looked = list(_looked_at(file))
        for each, reading in looked if id_ is None else _narrowed(looked, file, id_):
            place = os.path.realpath(each)
            found[place] = _joined(found.get(place), reading)
    first: dict[str, str] = {}
    clashing = []
    for reading in sorted((r for r in found.values() if r is not None), key=lambda reading: reading.file):
        problems = [problem for one in reading.found if (problem := _clash(reading, one, first)) is not None]
        clashing.append(_with(reading, problems))
        for one in reading.found:
            first.setdefault(one.id, reading.file)
    return Survey(readings=tuple(clashing), others=len(found) - len(clashing))


def split_id(path: str | Path) -> tuple[Path, str | None]:
    """Split `FILE#ID` at the first `#` before which an existing path stands.

    Examples
    --------
    >>> split_id("nowhere.yaml")[1] is None
    True
    """
    text = str(path)
    if files.exists(Path(text)):
        return Path(text), None
    for place, char in enumerate(text):
        if char == "#" and place and files.exists(Path(text[:place])):
            return Path(text[:place]), text[place + 1 :]
    return Path(text), None


def _looked_at(path: str | Path) -> Iterator[tuple[Path, Reading | None]]:
    path = Path(path)
    if not files.exists(path):
        raise InputError(f"{path}: no such file or folder")
    if not path.is_dir():
        yield path, _read_file(path, named=True)
        return
    for file in files.below(path):
        yield file, _read_file(file, named=False) if files.is_document(file) else None


def _narrowed(
    looked: Sequence[tuple[Path, Reading | None]], file: Path, id_: str
) -> Iterator[tuple[Path, Reading | None]]:
    readings = [reading for _, reading in looked if reading is not None]
    known = [one.id for reading in readings for one in reading.found]
    broken = any(problem.severity == "error" for reading in readings for problem in reading.problems)
    if id_ not in known and not broken:
        raise UnknownNameError.of(f"check in {file}", id_, known)
    for each, reading in looked:
        if reading is not None:
            here = tuple(one for one in reading.found if one.id == id_)
            if here or any(problem.severity == "error" for problem in reading.problems):
                yield each, dataclasses.replace(reading, found=here)


def _joined(first: Reading | None, second: Reading | None) -> Reading | None:
    if first is None or second is None:
        return first or second
    return dataclasses.replace(first, found=tuple(dict.fromkeys((*first.found, *second.found))))


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
    named = named or files.is_named_so(file)
    unparsed = Document(text=text, language=language, roots=())
    likely = named or files.may_be_meant(text, file) or _likeliest(unparsed, file.name)[1] >= PLAUSIBLE
    return _reading(parse(text, language), str(file), named=named) if likely else None


def _head(file: Path) -> str:
    with file.open("rb") as stream:
        return stream.read(min(LIMIT, 65_536)).decode("utf-8", errors="replace").replace("\0", "")


def _likeliest(document: Document, name: str) -> tuple[Any, float]:
    marks = [(dialect, dialect.likeness(document)) for dialect in DIALECTS]
    best = max(marks, key=lambda mark: mark[1])
    if best[1] < LIKELY and not document.roots and name == "PROCESS.md":
        return check1, 1.0
    return best


def _reading(document: Document, file: str, *, named: bool) -> Reading | None:
    dialect, likeness = _likeliest(document, Path(file).name)
    readable = likeness >= LIKELY
    if not readable:
        if not (named or files.is_meant(document, Path(file))):
            return None
        dialect = check1 if document.language == "markdown" else neatroots
        readable = files.has_check_at_top(document)
    problems = Problems()
    problems.flaws(document.flaws)
    found = dialect.read(document, file, problems) if readable else []
    _twice(document, found, problems)
    if not found and not problems.errors:
        _says_nothing(document, problems, named=named)
    usable = () if document.flaws else tuple(each.check for each in found if each.check is not None)
    return Reading(
        file=file,
        dialect=dialect.NAME,
        checks=usable,
        problems=problems.sorted(),
        found=tuple(each for each in found if each.id),
        document=document,
    )


def _says_nothing(document: Document, problems: Problems, *, named: bool) -> None:
    """Say that a document holds no check: a process may do without, unless it was given as a check."""
    start = Flaw(line=1, column=1, message="")
    if files.has_check_at_top(document) and document.language == "markdown":
        report = problems.error if named else problems.warn
        report(start, "no-check", "no step of this process has a check", hint="Write check: under an agent step.")
        return
    message, advice = files.what_is_wrong(document)
    problems.error(start, "no-check", message, hint=advice)


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
