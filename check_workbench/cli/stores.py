"""Opening the store that a command names."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path
from typing import TYPE_CHECKING

from check_workbench.cli.screen import announce
from check_workbench.errors import StoreError, hint

if TYPE_CHECKING:
    from collections.abc import Iterator

    from check_workbench.store import Store


@contextlib.contextmanager
def existing(
    path: str, *, answers: str | None = None, evaluator: str | None = None, read_only: bool = False
) -> Iterator[Store]:
    """Open a store that must be there already, so that a mistyped name does not become an empty store.

    Parameters
    ----------
    path
        The store's file.
    answers
        Recorded answers to load first.
    evaluator
        Who will be asked. Without one the file is held throughout, which saves opening it again and again; one that
        is asked may take hours, in which others can use the file.
    read_only
        Refuse to write.

    Raises
    ------
    StoreError
        If there is no such file.
    """
    import check_workbench as cw

    file = Path(path)
    if not file.exists():
        near = hint(file.name, [p.name for p in file.parent.glob("*.duckdb")]) if file.parent.is_dir() else ""
        raise StoreError(f"{path} does not exist; a store is made by check-workbench load.{near}")
    with cw.open(path, read_only=read_only) as store, store.hold() if evaluator is None else contextlib.nullcontext():
        if answers is not None:
            announce(repr(store.load_answers(answers)))
        yield store


def may_write(path: str) -> bool:
    """Say whether a store can be written to; one that was mounted to read only cannot."""
    return os.access(path, os.W_OK) and os.access(Path(path).parent, os.W_OK)
