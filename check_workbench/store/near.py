"""Which known id an unknown one may have meant: numbers written otherwise, a path cut short, a typing error."""

from __future__ import annotations

import bisect
import difflib
import re
from collections import defaultdict
from functools import cached_property
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

Key = TypeVar("Key", str, tuple[str, ...])
MOST = 5_000
"""How many known ids one unknown id is compared with letter by letter."""
_ZEROS = re.compile(r"(?<![0-9])0+(?=[0-9])")
_SIGNS = re.compile(r"[^0-9a-z]+")
_NUMBERS = re.compile(r"[0-9]+")


class Known:
    """Known ids, ready to be searched.

    Ids with other numbers are never near: `r-98` is another run than `r-99`, not a way to write it.

    Parameters
    ----------
    ids
        The known ids.

    Examples
    --------
    >>> Known(["r-014", "r-015", "r-140"]).near("r-14")
    ('r-014',)
    """

    def __init__(self, ids: Iterable[str]) -> None:
        self._sorted = sorted(set(ids))
        self._by_key = _grouped(self._sorted, _key)
        self._by_name = _grouped(self._sorted, _name)

    def near(self, unknown: str, *, most: int = 2) -> tuple[str, ...]:
        """Return the known ids that an unknown one may have meant, the likeliest first."""
        found = [
            *self._by_key.get(_key(unknown), ()),
            *self._by_name.get(_name(unknown), ()),
            *self._beginning(unknown),
        ]
        if not found:
            alike = self._by_numbers.get(_numbers(unknown), ())[:MOST]
            found = difflib.get_close_matches(unknown, alike, n=most, cutoff=0.75)
        return tuple(dict.fromkeys(found))[:most]

    @cached_property
    def _by_numbers(self) -> dict[tuple[str, ...], list[str]]:
        return _grouped(self._sorted, _numbers)

    def _beginning(self, unknown: str) -> list[str]:
        if len(unknown) < 6:
            return []
        start = bisect.bisect_left(self._sorted, unknown)
        return [id_ for id_ in self._sorted[start : start + 2] if id_.startswith(unknown)]


def _grouped(ids: Iterable[str], by: Callable[[str], Key]) -> dict[Key, list[str]]:
    groups: dict[Key, list[str]] = defaultdict(list)
    for id_ in ids:
        groups[by(id_)].append(id_)
    return groups


def _key(id_: str) -> str:
    return _SIGNS.sub("", _ZEROS.sub("", id_.lower()))


def _name(id_: str) -> str:
    return id_.rsplit("/", 1)[-1]


def _numbers(id_: str) -> tuple[str, ...]:
    return tuple(_NUMBERS.findall(_ZEROS.sub("", id_)))
