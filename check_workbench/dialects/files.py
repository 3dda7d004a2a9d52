"""Which files lie below a folder, and which of them somebody meant as checks, so that no check vanishes unseen."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING

from check_workbench.checks import QUESTION_KINDS, RULE_TYPES
from check_workbench.dialects import check1
from check_workbench.documents import LANGUAGES, Mapping, Scalar, Sequence
from check_workbench.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from check_workbench.documents import Document, Node

PROCESS = "process.md"
CHECK_KEYS = frozenset({"rule", "ask", "check", "flag_at", "flag_on", "flag_at_level"})
"""Keys that hardly any other document has."""
RECORDED = frozenset({"run_id", "spans"})
"""Keys of recorded runs, which hold much that looks like a check and is none."""

_NAMED_SO = re.compile(r"\.check\.(?:yaml|yml|json)\Z", re.IGNORECASE)
_NAMES = "|".join([*sorted(CHECK_KEYS), "id", "kind", "steps", *sorted(RECORDED)])
_KEY = re.compile(rf"""(?<![\w-])["']?({_NAMES})["']?\s*:""")
_CODE = re.compile(r"!!python|tag:yaml\.org,2002:python")
_NOT_OURS = {"node_modules", "__pycache__"}
_HIDDEN_BUT_OURS = {".neatroots"}


def below(path: Path) -> Iterator[Path]:
    """List every file below a folder, links followed and each folder entered once.

    Raises
    ------
    InputError
        If a folder cannot be read.
    """
    entered = {os.path.realpath(path)}
    for folder, folders, files in os.walk(path, followlinks=True, onerror=_refuse):
        real = {os.path.realpath(Path(folder) / name): name for name in sorted(folders) if _is_searched(name)}
        folders[:] = [name for place, name in real.items() if place not in entered]
        entered.update(real)
        found = (Path(folder) / name for name in sorted(files))
        yield from (file for file in found if file.is_file() or is_named_so(file))


def exists(path: Path) -> bool:
    """Say whether a path exists; a name that is too long for any file is one of none."""
    try:
        return path.exists()
    except OSError:
        return False


def is_document(path: Path) -> bool:
    """Say whether a file is of a kind that can hold checks."""
    return path.suffix.lower() in LANGUAGES


def is_named_so(path: Path) -> bool:
    """Say whether the name alone says that it is a check: `*.check.yaml`, `.yml` or `.json`."""
    return _NAMED_SO.search(path.name) is not None


def may_be_meant(text: str, path: Path) -> bool:
    """Say, without parsing, whether a text may be meant as a check."""
    if path.suffix.lower() == ".md" and path.name.lower() != PROCESS:
        return False
    keys = set(_KEY.findall(text))
    return bool(_CODE.search(text) or keys & CHECK_KEYS or keys >= {"id", "kind"} or "steps" in keys)


def is_meant(document: Document, path: Path) -> bool:
    """Say whether somebody meant a document as a check, or tried to have code run by it."""
    if is_named_so(path):
        return True
    if not may_be_meant(document.text, path):
        return False
    if _CODE.search(document.text):
        return True
    if not document.roots:
        keys = set(_KEY.findall(document.text))
        return not keys & RECORDED and bool(keys & CHECK_KEYS or keys >= {"id", "kind"})
    if document.language == "markdown":
        return has_check_at_top(document)
    return any(has_check_keys(node) or has_process(node) for node in _tops(document)) or hides_checks(document)


def has_check_keys(node: Node) -> bool:
    """Say whether a mapping has a key that belongs to a check."""
    names = set(node.names()) if isinstance(node, Mapping) else set()
    return not names & RECORDED and bool(names & CHECK_KEYS or names >= {"id", "kind"})


def has_check_at_top(document: Document) -> bool:
    """Say whether a document has a mapping with keys of a check where checks are read."""
    if document.language == "markdown":
        return any(isinstance(node, Mapping) and "steps" in node.names() for node in document.roots)
    return any(map(has_check_keys, _tops(document)))


def has_process(node: Node) -> bool:
    """Say whether a mapping holds the steps of a process."""
    steps = node.get("steps") if isinstance(node, Mapping) and not set(node.names()) & RECORDED else None
    items = steps.items if isinstance(steps, Sequence) else ()
    return any(isinstance(item, Mapping) and {*check1.KINDS, "check"} & set(item.names()) for item in items)


def hides_checks(document: Document) -> bool:
    """Say whether checks lie deeper in a document, where nothing reads them."""
    return any(_is_check(node) for root in document.roots for node in _inside(root))


def what_is_wrong(document: Document) -> tuple[str, str]:
    """Say why a document holds no check, and what would help."""
    form = "A check has an id, a kind, and a rule or an ask; checks of a process stand in the steps of a PROCESS.md."
    tops = list(_tops(document))
    if not document.text.strip():
        return "the file is empty", form
    if any(has_process(node) for node in tops) and document.language != "markdown":
        return "a process must be the front matter of a PROCESS.md", "Put it between two lines of --- in a .md file."
    if hides_checks(document):
        return "the checks lie below other keys, where nothing reads them", "Put them at the top, as a list."
    if not tops:
        return "the file holds nothing, comments apart", form
    if all(isinstance(node, Scalar) for node in tops):
        return "the file holds plain text, no check", form
    return "the file holds no check that the workbench knows", form


def _tops(document: Document) -> Iterable[Node]:
    for root in document.roots:
        if isinstance(root, Sequence):
            yield from root.items
        elif not isinstance(root, Scalar) or root.value is not None:
            yield root


def _is_check(node: Node) -> bool:
    if not isinstance(node, Mapping):
        return False
    rule, kind = node.get("rule"), node.get("kind")
    type_ = rule.get("type") if isinstance(rule, Mapping) else None
    if isinstance(type_, Scalar) and type_.value in RULE_TYPES:
        return True
    known = isinstance(kind, Scalar) and kind.value in QUESTION_KINDS
    return known and isinstance(node.get("ask"), Scalar)


def _inside(node: Node) -> Iterator[Node]:
    stack = [node]
    while stack:
        each = stack.pop()
        yield each
        if isinstance(each, Sequence):
            stack.extend(each.items)
        elif isinstance(each, Mapping) and not set(each.names()) & RECORDED:
            stack.extend(entry.value for entry in each.entries)


def _is_searched(name: str) -> bool:
    return name not in _NOT_OURS and (not name.startswith(".") or name in _HIDDEN_BUT_OURS)


def _refuse(error: OSError) -> None:
    raise InputError(f"{error.filename}: cannot be read: {error.strerror}")
