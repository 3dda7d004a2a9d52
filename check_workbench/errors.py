"""Errors of the workbench: what happened, where, what must be, what was found, and what would work."""

from __future__ import annotations

import difflib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable


class WorkbenchError(Exception):
    """The base of every error that a caller may want to catch."""


class InputError(WorkbenchError, ValueError):
    """A file, document or argument cannot be used."""


class UnknownNameError(InputError, LookupError):
    """A name was given that does not exist."""

    @classmethod
    def of(cls, what: str, name: str, known: Iterable[str]) -> UnknownNameError:
        """Build the error for `name` among the `known` names of a `what`."""
        return cls(f"no {what} is named {name!r}.{hint(name, known)}")


class StoreError(WorkbenchError, RuntimeError):
    """The store cannot be opened, or holds what this version does not know."""


class StoreBusyError(StoreError):
    """Another process held the store's file for longer than the waiting time."""


class EvaluatorError(WorkbenchError, RuntimeError):
    """The evaluator stopped answering."""


class UndefinedError(WorkbenchError, ArithmeticError):
    """A statistic has no value for this data."""


def hint(name: str, known: Iterable[str]) -> str:
    """Return a closing sentence that offers the nearest known names, or lists them.

    Parameters
    ----------
    name
        What was written.
    known
        What would have been accepted.

    Returns
    -------
    str
        A sentence that starts with a space, or an empty string if nothing is known.

    Examples
    --------
    >>> hint("flag_att", ["flag_at", "last"])
    " Did you mean 'flag_at'?"
    >>> hint("zzz", ["flag_at", "last"])
    " Known: 'flag_at', 'last'."
    """
    names = sorted(set(known))
    close = difflib.get_close_matches(name, names, n=2, cutoff=0.7)
    if close:
        return f" Did you mean {' or '.join(map(repr, close))}?"
    if not names:
        return ""
    shown = ", ".join(map(repr, names[:12]))
    return f" Known: {shown}{', …' if len(names) > 12 else ''}."
