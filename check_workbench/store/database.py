"""`Store`: recorded runs, decisions and answers, and what is done with them as a whole."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from check_workbench.store.held import Held

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from check_workbench.store.report import Examination, LoadReport


class Store(Held):
    """Recorded runs, decisions and answers in one DuckDB file or in memory.

    Every method holds the file only while it runs; methods may be called from several threads.

    Parameters
    ----------
    path
        The file; None keeps everything in memory.
    read_only
        Refuse to write.
    """

    def load(
        self,
        paths: str | Path | Iterable[str | Path],
        *,
        format: str | None = None,  # noqa: A002
        progress: Callable[[str, float], None] | None = None,
    ) -> LoadReport:
        """Load recorded runs; each file is kept whole or not at all.

        Parameters
        ----------
        paths
            Files or folders; folders are searched through.
        format
            The name of a format that overrides detection.
        progress
            Called with the file and the share of its bytes that is done; without one, a line on stderr says how far
            it is once two seconds have passed.

        Returns
        -------
        LoadReport
            What came in, what was there already, and what could not be used and why.

        Raises
        ------
        InputError
            If a path does not exist.
        StoreBusyError
            If another process holds the file for 10 seconds.
        """
        from check_workbench.store.loading import load_runs

        return load_runs(self, paths, format_name=format, progress=progress)

    def load_decisions(self, path: str | Path, *, blind: bool = False) -> LoadReport:
        """Load human decisions; rows that are already there are counted, not doubled.

        Parameters
        ----------
        path
            A `.csv`, `.jsonl` or `.parquet` file.
        blind
            Assert that nobody saw a verdict before deciding, where the file does not say; every report says so.

        Returns
        -------
        LoadReport
            What came in, and what could not be used and why.
        """
        from check_workbench.store.opinions import load_decisions

        return load_decisions(self, Path(path), blind=blind)

    def doctor(self) -> Examination:
        """Say what the store holds, what in it matches nothing, and what the data supports.

        Returns
        -------
        Examination
            Counts, unmatched ids with near misses, notes, and what can be done.
        """
        from check_workbench.store.doctor import examine

        return examine(self)

    def load_answers(self, path: str | Path) -> LoadReport:
        """Load recorded answers of an evaluator; answers that are already there are counted, not doubled.

        Parameters
        ----------
        path
            A `.jsonl` file.

        Returns
        -------
        LoadReport
            What came in, and what could not be used and why.
        """
        from check_workbench.store.opinions import load_answers

        return load_answers(self, Path(path))


def open_store(path: str | Path | None = None, *, read_only: bool = False) -> Store:
    """Open a store, creating the file where there is none.

    Parameters
    ----------
    path
        The DuckDB file; None keeps everything in memory.
    read_only
        Refuse to write.

    Returns
    -------
    Store
        A context manager.

    Raises
    ------
    StoreError
        If the file is no store, or is of a newer version.
    StoreBusyError
        If another process holds the file for 10 seconds.

    Examples
    --------
    >>> with open_store() as store:
    ...     print(store)
    <Store in memory>
    """
    return Store(path, read_only=read_only)
