"""Read the paths, patterns and fields of a mapping, knowing which names are in sight where they stand."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

from check_workbench.dialects.fields import Fields, shown
from check_workbench.documents import Mapping as Object
from check_workbench.documents import Node, Scalar, Sequence, plain
from check_workbench.errors import hint
from check_workbench.patterns import LONGEST, re2_form
from check_workbench.sources.mapping.expressions import (
    NOTHING,
    Constant,
    Expression,
    Found,
    Parts,
    Template,
    Worked,
)
from check_workbench.sources.mapping.paths import Path, PathError, parse
from check_workbench.sources.mapping.words import word

if TYPE_CHECKING:
    from collections.abc import Iterable

    from check_workbench.dialects.problems import Problems

_HOLE = re.compile(r"\{\{|\}\}|\{(?P<path>[^{}]*)\}|(?P<text>[^{}]+)")
KINDS = ("number", "text", "lower", "json")
ANYWHERE = ("file", "path", "place", "line")
"""Names that every expression may use: the file without endings, its whole path, the record's number and line."""


class Spot(NamedTuple):
    """A place in the mapping."""

    line: int
    column: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Sight:
    """What can be named at one place of a mapping."""

    problems: Problems
    known: frozenset[str] = frozenset(ANYWHERE)
    depth: int = 0
    """How many things lie around the one at hand."""
    optional: bool = False
    """Whether a default stands in for what is not there."""

    def deeper(self, kept: Iterable[str], levels: int = 1) -> Sight:
        """Return what can be named inside a thing that was found here."""
        return replace(self, known=self.known | {*kept, "index"}, depth=self.depth + levels)

    def knowing(self, names: Iterable[str]) -> Sight:
        """Return this sight with further names."""
        return replace(self, known=self.known | set(names))

    def path(self, node: Node, what: str, *, keeps: bool = False) -> Path | None:
        """Read a path; `keeps` says whether names in braces may stand in it."""
        value = node.value if isinstance(node, Scalar) else None
        if not isinstance(node, Scalar) or not isinstance(value, str):
            advice = "Put a key that is a number in quotes." if isinstance(value, int | float) else ""
            self.problems.error(node, "wrong-type", f"{what} must be a path, got {shown(node)}", hint=advice)
            return None
        return self._path(value, node, 0, keeps=keeps)

    def pattern(self, node: Node, what: str) -> Any:
        """Read and compile a regular expression."""
        import re2

        text = node.value if isinstance(node, Scalar) else None
        if not isinstance(text, str) or not 0 < len(text) <= LONGEST:
            said = f"{what} must be a regular expression of 1 to {LONGEST:,} characters, got {shown(node)}"
            self.problems.error(node, "wrong-type", said)
            return None
        options = re2.Options()
        options.log_errors = False
        try:
            return re2.compile(re2_form(text), options)
        except (re2.error, UnicodeEncodeError) as error:
            reason = error.args[0].decode() if error.args and isinstance(error.args[0], bytes) else error
            advice = "Patterns are RE2: no lookaround and no backreferences."
            self.problems.error(node, "pattern", f"RE2 does not take the pattern of {what}: {reason}", hint=advice)
            return None

    def expression(self, node: Node, what: str, *, objects: bool = False) -> Expression:
        """Read what a field is made of; `objects` says whether it may be an object of fields."""
        if isinstance(node, Scalar):
            return self._scalar(node)
        if isinstance(node, Object):
            if node.entry("from") is not None:
                return self._worked(node, what)
            if objects:
                return Parts({e.name: self.expression(e.value, e.name, objects=True) for e in node.entries})
        got = "a mapping without from" if isinstance(node, Object) else shown(node)
        said = f"{what} must be a path, a text with holes, = a constant, or a mapping with from, got {got}"
        self.problems.error(node, "wrong-type", said)
        return Constant(None)

    def _scalar(self, node: Scalar) -> Expression:
        if not isinstance(node.value, str):
            return Constant(node.value)
        if node.value.startswith("="):
            return Constant(node.value[1:].strip())
        if "{" in node.value or "}" in node.value:
            return self._template(node)
        path = self._path(node.value, node, 0)
        return Constant(None) if path is None else Found(path)

    def _template(self, node: Scalar) -> Expression:
        parts: list[str | Path] = []
        at = 0
        for piece in _HOLE.finditer(node.value):
            if piece.start() > at:
                break
            at = piece.end()
            if piece["path"] is None:
                parts.append(piece["text"] or piece[0][0])
                continue
            path = self._path(piece["path"], node, piece.start("path"), single=True)
            parts.append("" if path is None else path)
        if at < len(node.value):
            said = "a brace does not close; write {{ for a brace that is meant"
            self.problems.error(self._spot(node, at), "path", said)
        return Template(tuple(parts))

    def _worked(self, node: Object, what: str) -> Expression:
        fields = Fields(node, self.problems, what)
        source = fields.entry("from")
        values, match, minus = fields.entry("values"), fields.entry("match"), fields.entry("minus")
        default = fields.entry("default")
        nodes: tuple[Node, ...] = () if source is None else (source.value,)
        if nodes and isinstance(nodes[0], Sequence):
            nodes = nodes[0].items
        lenient = replace(self, optional=True)
        last = self if default is None else lenient
        sights = [lenient] * (len(nodes) - 1) + [last]
        made = Worked(
            sources=tuple(s.expression(n, f"from of {what}") for s, n in zip(sights, nodes, strict=False)),
            join=fields.text("join", default="") if fields.has("join") else None,
            minus=None if minus is None else self.expression(minus.value, "minus"),
            times=fields.number("times"),
            match=None if match is None else self.pattern(match.value, "match"),
            values=None if values is None else self._values(values.value),
            kind=fields.word("as", KINDS) or None,
            default=NOTHING if default is None else self._single(default.value, "default"),
        )
        fields.close()
        return made

    def _values(self, node: Node) -> dict[str, Any]:
        if not isinstance(node, Object) or not node.entries:
            said = f"values must be a mapping of what is found to what it means, got {shown(node)}"
            self.problems.error(node, "wrong-type", said)
            return {}
        return {word(entry.name): self._single(entry.value, f"values.{entry.name}") for entry in node.entries}

    def _single(self, node: Node, what: str) -> Any:
        if isinstance(node, Scalar):
            return node.value
        self.problems.error(node, "wrong-type", f"{what} must be one value, got {shown(node)}")
        return None

    def words(self, node: Node, what: str) -> tuple[frozenset[str], bool]:
        """Read one value or a list of them as words, and whether null is among them."""
        nodes = node.items if isinstance(node, Sequence) else (node,)
        values = [self._single(item, what) for item in nodes]
        return frozenset(word(value) for value in values if value is not None), None in values

    def _path(self, text: str, node: Scalar, at: int, *, keeps: bool = False, single: bool = False) -> Path | None:
        try:
            path = replace(parse(text), optional=self.optional)
        except PathError as error:
            self.problems.error(self._spot(node, at + error.at), "path", f"{error} (in {text[:80]!r})")
            return None
        spot, name = self._spot(node, at), path.variable
        if name is not None and name not in self.known:
            said = f"${name} is not known here"
            self.problems.error(spot, "unknown-name", said, hint=hint(name, self.known))
        if path.up > self.depth:
            around = "nothing lies" if self.depth == 0 else f"only {self.depth} lie" + ("s" if self.depth == 1 else "")
            self.problems.error(spot, "path", f"{text!r} looks {path.up} out, but {around} around this")
        if path.kept and not keeps:
            self.problems.error(spot, "path", "names in braces may stand in files, records and each only")
        if single and path.spreads:
            said = f"{text!r} finds several values, but a text with holes takes one each"
            self.problems.error(spot, "path", said, hint="Use {from: ..., join: ', '} in let, and its name here.")
        return path

    def _spot(self, node: Scalar, at: int) -> Spot:
        if node.style == "block":
            return Spot(node.line, node.column)
        return Spot(node.line, node.column + at + (node.style == "quoted"))


def written(node: Node) -> Any:
    """Return a part of a mapping as plain values, to see which parts are the same."""
    return plain(node)
