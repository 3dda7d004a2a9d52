"""Typed reading of a mapping: every missing, unknown or ill-typed key becomes a problem with its place."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from check_workbench.documents import Entry, Mapping, Node, Scalar, Sequence
from check_workbench.errors import hint

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from check_workbench.dialects.problems import Problems


class Fields:
    """The keys of one mapping, each asked for once; `close` reports what nobody asked for.

    Parameters
    ----------
    node
        The mapping.
    problems
        Where problems are collected.
    where
        What the mapping is, for messages: `rule`, `evidence`, …
    """

    def __init__(self, node: Mapping, problems: Problems, where: str) -> None:
        self.node = node
        self.problems = problems
        self._where = where
        self._known: dict[str, None] = {}

    @property
    def asked(self) -> tuple[str, ...]:
        """The keys that were asked for, in order."""
        return tuple(self._known)

    def has(self, name: str) -> bool:
        """Say whether the key is there, with any value."""
        return self.node.entry(name) is not None

    def entry(self, name: str, *, required: str = "") -> Entry | None:
        """Return a key and its value; `required` says why it must be there."""
        self._known[name] = None
        found = self.node.entry(name)
        if found is None and required:
            self.problems.error(self.node, "missing-key", f"{self._where} must have {name}: {required}")
        return found

    def text(self, name: str, *, default: str = "", required: str = "") -> str:
        """Return a text."""
        found = self.entry(name, required=required)
        if found is None:
            return default
        return text_of(found.value, self.problems, name, blank=not required) or default

    def word(self, name: str, known: Iterable[str], *, default: str = "", required: str = "") -> str:
        """Return a text that must be one of the known words."""
        found = self.entry(name, required=required)
        if found is None:
            return default
        value = text_of(found.value, self.problems, name)
        if value is None:
            return default
        if value not in known:
            self.problems.error(
                found.value,
                "unknown-value",
                f"{name} must be one of {', '.join(known)}, got {value!r}",
                hint=hint(value, known),
            )
        return value if value in known else default

    def words(self, name: str, *, default: tuple[str, ...] = (), required: str = "") -> tuple[str, ...]:
        """Return a text or a list of texts as a tuple."""
        found = self.entry(name, required=required)
        if found is None:
            return default
        return texts_of(found.value, self.problems, name) or default

    def number(
        self,
        name: str,
        *,
        default: float | None = None,
        low: float = -math.inf,
        high: float = math.inf,
        required: str = "",
    ) -> float | None:
        """Return a finite number within bounds, both included."""
        found = self.entry(name, required=required)
        if found is None:
            return default
        value = found.value.value if isinstance(found.value, Scalar) else None
        if not isinstance(value, int | float) or isinstance(value, bool):
            self.problems.error(found.value, "wrong-type", f"{name} must be a number, got {shown(found.value)}")
            return default
        if not math.isfinite(value) or not low <= value <= high:
            said = f"{name} must be {_range(low, high)}, got {value}"
            self.problems.error(found.value, "out-of-range", said)
            return default
        return value

    def flag(self, name: str, *, default: bool = False) -> bool:
        """Return true or false."""
        found = self.entry(name)
        if found is None:
            return default
        value = found.value.value if isinstance(found.value, Scalar) else None
        if not isinstance(value, bool):
            wrong = shown(found.value)
            advice = "In YAML 1.2 only true and false are flags." if value in {"yes", "no", "on", "off"} else ""
            self.problems.error(
                found.value,
                "wrong-type",
                f"{name} must be true or false, got {wrong}",
                hint=advice,
            )
            return default
        return value

    def mapping(
        self,
        name: str,
        *,
        required: str = "",
        advice: Callable[[Node], str] = lambda _: "",
    ) -> Mapping | None:
        """Return a mapping; `advice` says of what stands there instead how to write it."""
        found = self.entry(name, required=required)
        if found is None:
            return None
        if isinstance(found.value, Mapping):
            return found.value
        said = f"{name} must be a mapping, got {shown(found.value)}"
        self.problems.error(found.value, "wrong-type", said, hint=advice(found.value))
        return None

    def known_values(self, name: str, values: tuple[str, ...], known: Iterable[str]) -> None:
        """Report values of a list that are not among the known ones."""
        found = self.node.get(name)
        for value in values:
            if found is not None and value not in known:
                node = _item(found, value)
                self.problems.error(
                    node,
                    "unknown-value",
                    f"{name} may hold {', '.join(known)}, got {value!r}",
                    hint=hint(value, known),
                )

    def elsewhere(self, owner: dict[str, str]) -> None:
        """Report keys that exist, but not here: key and where it belongs."""
        for entry in self.node.entries:
            if entry.name not in self._known and entry.name in owner:
                self._known[entry.name] = None
                self.problems.error(entry.key, "misplaced-key", f"{entry.name} belongs to {owner[entry.name]}")

    def close(self, *, lenient: bool = False) -> None:
        """Report every key that was never asked for, as an error or, if lenient, as a warning."""
        report = self.problems.warn if lenient else self.problems.error
        for entry in self.node.entries:
            if entry.name not in self._known:
                report(
                    entry.key,
                    "unknown-key",
                    f"{self._where} has no key {entry.name!r}",
                    hint=hint(entry.name, self._known),
                )


def text_of(node: Node, problems: Problems, name: str, *, blank: bool = False) -> str | None:
    """Return the text of a node, or None after reporting that it is none."""
    value = node.value if isinstance(node, Scalar) else None
    if not isinstance(value, str):
        advice = "Put it in quotes." if isinstance(node, Scalar) and value is not None else ""
        problems.error(node, "wrong-type", f"{name} must be a text, got {shown(node)}", hint=advice)
        return None
    if not blank and not value.strip():
        problems.error(node, "wrong-type", f"{name} must not be empty")
        return None
    return value


def texts_of(node: Node, problems: Problems, name: str) -> tuple[str, ...]:
    """Return a text, or the texts of a list."""
    nodes = node.items if isinstance(node, Sequence) else (node,)
    if not nodes:
        problems.error(node, "wrong-type", f"{name} must not be empty")
    texts = (text_of(item, problems, name) for item in nodes)
    return tuple(text for text in texts if text is not None)


def shown(node: Node) -> str:
    """Name what stands at a node, short enough for a message."""
    match node:
        case Mapping():
            return "a mapping"
        case Sequence():
            return "a list"
        case Scalar(value=None):
            return "nothing"
        case Scalar(value=value):
            text = repr(value)
            return text if len(text) <= 40 else f"{text[:37]}…"


def _item(node: Node, value: Any) -> Node:
    items = node.items if isinstance(node, Sequence) else ()
    return next((item for item in items if isinstance(item, Scalar) and item.value == value), node)


def _range(low: float, high: float) -> str:
    if math.isinf(high):
        return "a finite number" if math.isinf(low) else f"a number of at least {low:g}"
    return f"a number from {low:g} to {high:g}"
