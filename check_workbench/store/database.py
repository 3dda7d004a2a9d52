"""`Store`: recorded runs, decisions and answers, and what is done with them as a whole."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from check_workbench.store.held import Held
from check_workbench.store.schema import TABLES

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    import duckdb

    from check_workbench.store.bay import Bay
    from check_workbench.store.report import Examination, LoadReport
    from check_workbench.store.transfers import ExportReport, MergeReport


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

    def load(  # noqa: PLR0913 - the options of the command
        self,
        paths: str | Path | Iterable[str | Path],
        *,
        format: str | None = None,  # noqa: A002
        mapping: str | Path | None = None,
        dry_run: bool = False,
        sample: int | None = None,
        blind: bool = False,
        progress: Callable[[str, float], None] | None = None,
    ) -> LoadReport:
        """Load recorded runs; each file is kept whole or not at all.

        A colleague's store and a folder that `export` wrote are merged (see `merge`), wherever they are found.

        Parameters
        ----------
        paths
            Files or folders; folders are searched through.
        format
            The name of a format that overrides detection.
        mapping
            A mapping file, or the name of a shipped one, that says what lies where in files of any other format.
        dry_run
            Read all of it and report what would come in, with the first records as they would be, but write nothing.
        sample
            Take at most so many runs: the same ones each time, spread over the files, a larger sample containing a
            smaller one. Of each file no more is read than that takes: 100 runs of some files for a small sample.
            Decisions and answers in these files come with the runs that were taken. Stores are not sampled.
        blind
            Assert that nobody saw a verdict before deciding, where the decisions that come with the runs do not say;
            every report says so. Loading again with it asserts it of decisions that are there already.
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
            If a path does not exist, the mapping cannot be read, or the sample is not at least 1.
        StoreBusyError
            If another process holds the file for 10 seconds.
        """
        from check_workbench.store.loading import Way, load_runs

        way = Way(format=format, mapping=mapping, sample=sample, blind=blind)
        if not dry_run:
            return load_runs(self, paths, way, progress=progress)
        from check_workbench.store.rehearsing import Rehearsal

        with Rehearsal(self) as rehearsal:
            return rehearsal.told(load_runs(rehearsal, paths, way, progress=progress))

    def bay(self, cursor: duckdb.DuckDBPyConnection) -> Bay:
        """Return the staging beside a transaction that loads a file."""
        from check_workbench.store.bay import Bay

        return Bay(cursor)

    def columns_of(self, name: str) -> Sequence[str]:
        """Return the columns of a table that are kept."""
        return list(TABLES[name].columns)

    def load_decisions(self, path: str | Path, *, blind: bool = False) -> LoadReport:
        """Load human decisions; rows that are already there are counted, not doubled.

        Parameters
        ----------
        path
            A `.csv`, `.jsonl` or `.parquet` file.
        blind
            Assert that nobody saw a verdict before deciding, where the file does not say; every report says so.
            Loading again with it asserts it of decisions that are there already.

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

    def export(
        self,
        folder: str | Path,
        *,
        progress: Callable[[str, float], None] | None = None,
    ) -> ExportReport:
        """Write the whole store as a folder of Parquet files: one a table, sorted, and a manifest.

        The same content makes the same bytes. The folder appears when all of it is written, and never half; a killed
        export leaves a hidden folder `.NAME.*.unfinished` beside it, which may be deleted. `merge` and `load` read the
        folder back, any Parquet reader reads the files.

        Parameters
        ----------
        folder
            A folder that does not exist, is empty, or was made by an earlier export, which is replaced.
        progress
            Called with the table and the share of all rows that is written.

        Returns
        -------
        ExportReport
            The rows of each table.

        Raises
        ------
        InputError
            If the folder holds something else, or cannot be written.
        """
        from check_workbench.store.exporting import export

        return export(self, folder, progress=progress)

    def merge(
        self,
        path: str | Path,
        *,
        progress: Callable[[str, float], None] | None = None,
    ) -> MergeReport:
        """Merge somebody else's store into this one, in one transaction; merging again adds nothing.

        Runs come with their spans, steps and sources, and with what was measured of them; decisions, answers, the
        forms of checks and looks come as well. Of a run with other content the one stays that loading would keep:
        more spans, then more steps, then the later end, then the later load. Decisions that contradict each other
        both stay: of what one person says of a check the last word counts. Of two answers to a question the newest
        counts. All such clashes are listed.

        Of two who triaged one disagreement the later counts; the history of both is kept.

        The looks of both stores are kept, in order of time, each once. So a label that either of you read (with
        `calibrate`, `compare`, `preview` or `trust`) before a cut got its present value counts as read, and a run
        that either of you previewed counts as fit; a check is as old as the first who saw it says. If both of you
        had a first look at a check, both have spent it: the next look is a later one, and the certificates given
        before stand each with its own error, not together. An answer or verdict that comes in and is older than a
        decision may make this decision one that is not blind.

        Parameters
        ----------
        path
            A store's DuckDB file, or a folder that `export` wrote. It is only read; an older one is migrated in a copy.
        progress
            Called with the path and the share of its spans that was read.

        Returns
        -------
        MergeReport
            What came in, what was there already, and where the two stores say different things.

        Raises
        ------
        InputError
            If the path does not exist, is this store itself, or no whole export.
        StoreError
            If the file is no store, is of a newer version, or contradicts itself.
        StoreBusyError
            If another process holds the file for 10 seconds; the message says who.
        """
        from check_workbench.store.merging import merge

        return merge(self, Path(path), progress=progress)

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
