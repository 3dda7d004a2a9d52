"""The one function that quotes a name for SQL; values are always bound."""

from __future__ import annotations


def quote(name: str) -> str:
    r"""Quote a table or column name so that nothing in it is read as SQL.

    Examples
    --------
    >>> print(quote('spans'), quote('a"; drop table runs; --'))
    "spans" "a""; drop table runs; --"
    """
    return '"' + name.replace('"', '""') + '"'


def listed(names: tuple[str, ...] | list[str], *, of: str = "") -> str:
    """Return quoted names separated by commas, each with the quoted relation `of` before it if given.

    Examples
    --------
    >>> print(listed(["a", "b"], of="t"))
    "t"."a", "t"."b"
    """
    prefix = f"{quote(of)}." if of else ""
    return ", ".join(prefix + quote(name) for name in names)
