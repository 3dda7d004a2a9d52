"""Which files a part of a mapping is for, by a pattern over their place under the PATH."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

LONGEST = 500
_PIECE = re.compile(r"\{(?P<kept>[A-Za-z_]\w*)\}|(?P<folders>\*\*/)|(?P<any>\*)|(?P<one>\?)|(?P<text>[^{}*?]+)")


class GlobError(ValueError):
    """A pattern of file names that cannot be used."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Glob:
    """A pattern of file names; `.gz` at the end may be there or not, unless nothing but it tells the files apart."""

    text: str
    kept: tuple[str, ...]
    """The names under which parts of a file's place are kept."""
    _engine: Any

    def match(self, path: Path, root: Path) -> tuple[Path, Mapping[str, str]] | None:
        """Say whether a file fits, from which folder on, and what is kept of its place.

        Parameters
        ----------
        path
            The file.
        root
            The PATH that is loaded. A file that is given by itself may fit with the last parts of its place.
        """
        for folder, place in _places(path, root):
            if found := self._engine.fullmatch(place):
                return folder, found.groupdict()
        return None


def parse(text: str) -> Glob:
    """Read a pattern.

    Raises
    ------
    GlobError
        If it is none, or leads out of the PATH.

    Examples
    --------
    >>> from pathlib import Path
    >>> parse("{judge}/*.jsonl").match(Path("data/gpt/a.jsonl.gz"), Path("data"))[1]
    {'judge': 'gpt'}
    """
    import re2

    if not text or len(text) > LONGEST:
        raise GlobError(f"a pattern of files must have 1 to {LONGEST} characters, got {len(text):,}")
    if text.startswith("/") or "\\" in text or ".." in text.split("/"):
        raise GlobError("a pattern of files must stay under the PATH: no .., no / at the start, no \\")
    bare = text.removesuffix(".gz")
    pieces = list(_PIECE.finditer(bare))
    if "".join(piece[0] for piece in pieces) != bare:
        raise GlobError("a name in braces must be one word: {judge}")
    kept = tuple(piece["kept"] for piece in pieces if piece["kept"])
    if len(set(kept)) < len(kept):
        raise GlobError("each name in braces may be there once")
    packed = r"\.gz" if bare.endswith("*") and bare != text else r"(?:\.gz)?"
    return Glob(text=text, kept=kept, _engine=re2.compile("".join(map(_in_re2, pieces)) + packed))


def _in_re2(piece: re.Match[str]) -> str:
    if piece["kept"]:
        return f"(?P<{piece['kept']}>[^/]+?)"
    if piece["folders"]:
        return "(?:.*/)?"
    if piece["any"]:
        return "[^/]*"
    return "[^/]" if piece["one"] else re.escape(piece["text"])


def _places(path: Path, root: Path) -> Iterator[tuple[Path, str]]:
    if path != root:
        yield root, path.relative_to(root).as_posix()
        return
    whole = path.absolute()
    yield from ((folder, whole.relative_to(folder).as_posix()) for folder in whole.parents)
