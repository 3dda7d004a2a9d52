"""Lists that a vocabulary spreads over attributes, one value each, as `llm.input_messages.0.message.role`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_WRAPPERS = frozenset({"message", "tool_call", "message_content", "document"})
"""Steps of a name that only say what its number counts."""


def put_together(attributes: Mapping[str, Any], prefixes: Sequence[str]) -> tuple[list[Any] | None, list[str]]:
    """Build the list that lies under the first of some prefixes, and name the attributes that it took.

    Parameters
    ----------
    attributes
        By name.
    prefixes
        Beginnings of names, each with its last dot.

    Examples
    --------
    >>> put_together({"p.0.role": "user", "p.0.content": "Hi", "q": 1}, ["p."])
    ([{'role': 'user', 'content': 'Hi'}], ['p.0.role', 'p.0.content'])
    """
    for prefix in prefixes:
        names = [name for name in attributes if name.startswith(prefix)]
        made = _made(attributes, names, len(prefix)) if names else None
        if made is not None:
            return made, names
    return None, []


def _made(attributes: Mapping[str, Any], names: Sequence[str], start: int) -> list[Any] | None:
    tree: dict[str, Any] = {}
    for name in names:
        *way, last = [step for step in name[start:].split(".") if step not in _WRAPPERS] or [""]
        at = tree
        for step in way:
            at = at.setdefault(step, {})
            if not isinstance(at, dict):
                return None
        if last in at:
            return None
        at[last] = attributes[name]
    made = _listed(tree)
    return made if isinstance(made, list) else None


def _listed(tree: Any) -> Any:
    if not isinstance(tree, dict):
        return tree
    inner = {key: _listed(value) for key, value in tree.items()}
    if inner and all(key.isascii() and key.isdigit() and len(key) < 7 for key in inner):
        return [inner[key] for key in sorted(inner, key=int)]
    return inner
