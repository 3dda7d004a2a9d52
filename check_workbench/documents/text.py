"""From a file's bytes to a `Document`: decoding with words instead of tracebacks, front matter, size limit."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from check_workbench.documents.jsontext import parse_json
from check_workbench.documents.tree import Flaw, FlawError, Lines, Node, Path, at
from check_workbench.documents.yaml12 import parse_yaml

if TYPE_CHECKING:
    from pathlib import Path as File

LIMIT = 2_000_000
"""Bytes that a check document may have."""

Language = Literal["yaml", "json", "markdown"]
LANGUAGES: dict[str, Language] = {".yaml": "yaml", ".yml": "yaml", ".json": "json", ".md": "markdown"}

_FENCE = re.compile(r"(?:\A\ufeff?|(?<=[\r\n]))---[ \t]*(?:\r\n|\r|\n|\Z)")
_WIDE = {b"\xff\xfe": "UTF-16", b"\xfe\xff": "UTF-16", b"\x00\x00\xfe\xff": "UTF-32"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """A text with the trees that it holds; the text is the file's, character for character."""

    text: str
    language: Language
    roots: tuple[Node, ...]
    flaws: tuple[Flaw, ...] = ()
    body: str | None = None
    """What follows the front matter, exactly as written."""

    def at(self, path: Path) -> Node | None:
        """Return the node at a path whose first part is the place of the root."""
        if not path or not isinstance(path[0], int) or path[0] >= len(self.roots):
            return None
        return at(self.roots[path[0]], path[1:])


def read_text(file: File) -> str:
    r"""Return the text of a file, with its byte order mark and line ends.

    Parameters
    ----------
    file
        The file.

    Raises
    ------
    FlawError
        If it is larger than 2 MB or not UTF-8; the flaw says where and what would help.
    OSError
        If it cannot be opened.
    """
    with file.open("rb") as stream:
        data = stream.read(LIMIT + 1)
    return decode(data)


def decode(data: bytes) -> str:
    r"""Return bytes as the text that they are in UTF-8.

    Raises
    ------
    FlawError
        If there are more than 2 MB, or they are not UTF-8.

    Examples
    --------
    >>> decode(b"id: caf\xc3\xa9\r\n")
    'id: café\r\n'
    """
    if len(data) > LIMIT:
        raise FlawError(
            Flaw(
                line=1,
                column=1,
                message=f"the file is larger than {LIMIT // 1_000_000} MB, too large for a check document",
                hint="Split it, or check that it is the right file.",
                code="too-large",
            ),
        )
    wide = next((name for mark, name in _WIDE.items() if data.startswith(mark)), None)
    if wide is None and data[:200:2].count(0) + data[1:200:2].count(0) > len(data[:200]) // 3 > 0:
        wide = "UTF-16"
    if wide is not None:
        raise FlawError(_encoding(1, 1, f"the file is {wide}, it must be UTF-8"))
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        before = data[: error.start].decode("utf-8")
        line, column = Lines(before)(len(before))
        raise FlawError(_encoding(line, column, f"byte 0x{data[error.start]:02x} is not UTF-8")) from None


def parse(text: str, language: Language) -> Document:
    r"""Read a text in one of the three languages.

    Parameters
    ----------
    text
        The text, byte order mark and line ends included.
    language
        `yaml`, `json`, or `markdown` for YAML front matter between two lines of `---`.

    Returns
    -------
    Document
        With every flaw; where the syntax is broken, without roots.

    Examples
    --------
    >>> document = parse("---\nname: a\n---\nWords.\n", "markdown")
    >>> document.roots[0].get("name").line, document.body
    (2, 'Words.\n')
    """
    if language == "json":
        roots, flaws = parse_json(text)
        return Document(text=text, language=language, roots=roots, flaws=flaws)
    if language == "yaml":
        roots, flaws = parse_yaml(text)
        return Document(text=text, language=language, roots=roots, flaws=flaws)
    return _front_matter(text)


def _front_matter(text: str) -> Document:
    opening = _FENCE.match(text)
    if opening is None:
        return Document(text=text, language="markdown", roots=(), body=text, flaws=(_no_fence("starts", 1),))
    closing = _FENCE.search(text, opening.end())
    if closing is None:
        return Document(text=text, language="markdown", roots=(), flaws=(_no_fence("ends", 1),))
    roots, flaws = parse_yaml(text, start=opening.end(), end=closing.start())
    return Document(text=text, language="markdown", roots=roots, flaws=flaws, body=text[closing.end() :])


def _no_fence(verb: str, line: int) -> Flaw:
    return Flaw(
        line=line,
        column=1,
        message=f"no line of --- {verb} the front matter",
        hint="The file must begin with ---, YAML, and a second line of ---.",
        code="front-matter",
    )


def _encoding(line: int, column: int, message: str) -> Flaw:
    return Flaw(line=line, column=column, message=message, hint="Save the file as UTF-8.", code="encoding")
