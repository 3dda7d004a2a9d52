"""Rows on disk by key: what a second file holds for a join, or what a table holds for one group."""

from __future__ import annotations

import json
import sqlite3
from typing import TYPE_CHECKING, Any

from check_workbench.sources.mapping.words import word

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_GROUPS = """
select key, body, line from rows join (select key, min(place) as first from rows group by key) using (key)
order by first, place
"""


class Shelf:
    """Rows in a private temporary database, which stays in memory as long as it is small."""

    def __init__(self) -> None:
        self._rows = sqlite3.connect("")
        self._rows.execute("create table rows (place integer primary key, key text, body text, line integer)")
        self._indexed = False

    def put(self, key: str, value: Any, line: int) -> None:
        """Add a row."""
        body = json.dumps(value, default=str, ensure_ascii=False)
        self._rows.execute("insert into rows (key, body, line) values (?, ?, ?)", [key, body, line])

    def get(self, key: str) -> list[Any]:
        """Return the rows of a key, in the order in which they came."""
        if not self._indexed:
            self._rows.execute("create index by_key on rows (key, place)")
            self._indexed = True
        found = self._rows.execute("select body from rows where key = ? order by place", [key])
        return [json.loads(body) for (body,) in found]

    def groups(self) -> Iterator[tuple[str, int, list[Any]]]:
        """Yield each key with the line of its first row and its rows; keys in the order in which they came."""
        now: str | None = None
        line, rows = 0, list[Any]()
        for key, body, place in self._rows.execute(_GROUPS):
            if key != now:
                if now is not None:
                    yield now, line, rows
                now, line, rows = key, place, []
            rows.append(json.loads(body))
        if now is not None:
            yield now, line, rows

    def close(self) -> None:
        """Drop all rows."""
        self._rows.close()


def key_of(values: Iterable[Any]) -> str | None:
    """Return one key of several values, or None where one is missing."""
    words = [None if value is None else word(value) for value in values]
    return None if None in words else json.dumps(words)
