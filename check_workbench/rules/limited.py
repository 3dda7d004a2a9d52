r"""Patterns that RE2 cannot compile, searched by Python's `re` in a process of its own, 50 ms a span.

A span that takes longer is not searched to its end: its run is `not_checked` unless another span is hit. After 100 such
spans the pattern is skipped for the rest. Two differences to RE2 remain: `$` also holds before a last line break, and
in patterns with letters beyond ASCII `\w` and `\d` take letters and digits of every script.
"""

from __future__ import annotations

import contextlib
import json
import queue
import re
import subprocess
import sys
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Self

from check_workbench import patterns
from check_workbench.rules import worker

if TYPE_CHECKING:
    from collections.abc import Sequence

SECONDS = 0.05
"""Processor time for one span."""
PATIENCE = 100
"""Spans out of time after which a pattern is skipped."""
BATCH = 256 if worker.LIMITED else 1
"""Spans sent at once; where the system has no timer the worker is killed, and takes its batch with it."""
GRACE = 20.0 if worker.LIMITED else 0.5
"""Seconds by the clock that a batch may take beyond its limit."""


class Searcher:
    r"""One pattern in one worker process; a context manager.

    Parameters
    ----------
    pattern
        A pattern that is not refused.
    ignore_case
        Whether case is ignored.

    Examples
    --------
    >>> with Searcher(r"(\w)\1", ignore_case=False) as searcher:
    ...     searcher.search([["abc", "moon"], ["abc"]])
    ['oo', False]
    """

    def __init__(self, pattern: str, *, ignore_case: bool) -> None:
        flags = (re.ASCII if pattern.isascii() else 0) | (re.IGNORECASE if ignore_case else 0)
        self._task = {"pattern": patterns.python_form(pattern), "flags": int(flags), "seconds": SECONDS}
        self._process: subprocess.Popen[str] | None = None
        self._replies: queue.SimpleQueue[str] = queue.SimpleQueue()
        self.out_of_time = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._end()

    def search(self, spans: Sequence[Sequence[str]]) -> list[str | bool | None]:
        """Return for each span the words found, False, or None where the time ran out.

        Parameters
        ----------
        spans
            The texts of each span.
        """
        answers: list[str | bool | None] = []
        for start in range(0, len(spans), BATCH):
            batch = spans[start : start + BATCH]
            answers += self._answers(batch) if self.out_of_time < PATIENCE else [None] * len(batch)
            self.out_of_time += answers[start:].count(None)
        return answers

    def _answers(self, batch: Sequence[Sequence[str]]) -> list[str | bool | None]:
        process = self._process or self._start()
        if process.stdin is None:
            raise RuntimeError("the worker has no input")
        try:
            process.stdin.write(json.dumps([list(texts) for texts in batch]) + "\n")
            process.stdin.flush()
            reply = self._replies.get(timeout=GRACE + SECONDS * len(batch))
        except (queue.Empty, BrokenPipeError):
            reply = ""
        if not reply:
            self._end()
            return [None] * len(batch)
        answers: list[str | bool | None] = json.loads(reply)
        return answers

    def _start(self) -> subprocess.Popen[str]:
        process = subprocess.Popen(  # noqa: S603
            [sys.executable, "-I", str(Path(worker.__file__))],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            encoding="ascii",
        )
        self._process, self._replies = process, queue.SimpleQueue()
        threading.Thread(target=_listen, args=(process, self._replies), daemon=True).start()
        if process.stdin is None:
            raise RuntimeError("the worker has no input")
        process.stdin.write(json.dumps(self._task) + "\n")
        return process

    def _end(self) -> None:
        if self._process is None:
            return
        self._process.kill()
        self._process.wait()
        for stream in (self._process.stdin, self._process.stdout):
            if stream is not None:
                with contextlib.suppress(OSError):
                    stream.close()
        self._process = None


def _listen(process: subprocess.Popen[str], replies: queue.SimpleQueue[str]) -> None:
    if process.stdout is not None:
        for line in process.stdout:
            replies.put(line)
    replies.put("")
