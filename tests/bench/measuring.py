"""Measure one piece of work in a process of its own: CPU time and peak memory."""

from __future__ import annotations

import multiprocessing
import resource
import sys
import time
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One line of the speed table."""

    work: str
    ratio: float
    limit: float
    cpu_s: float
    peak_bytes: int

    def to_json(self) -> dict[str, Any]:
        """Return the row as the benchmarks print it."""
        return asdict(self)

    def line(self) -> str:
        """Return the row as a line of text."""
        limit = f"(at most {self.limit:g})"
        return f"{self.ratio:8.2f} x {limit} {self.cpu_s:8.2f} s {self.peak_bytes / 1e6:8.0f} MB  {self.work}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """What a piece of work costs at one size."""

    work: str
    spans: int
    cpu_s: float
    cpu_s_per_million: float
    peak_bytes: int

    @classmethod
    def of(cls, work: str, spans: int, spent: Cost) -> Point:
        """Return the cost of a piece of work over so many spans."""
        each = round(spent.cpu_s / spans * 1e6, 3)
        return cls(work=work, spans=spans, cpu_s=spent.cpu_s, cpu_s_per_million=each, peak_bytes=spent.peak_bytes)

    def to_json(self) -> dict[str, Any]:
        """Return the point as the benchmarks print it."""
        return asdict(self)

    def line(self) -> str:
        """Return the point as a line of text."""
        each = f"{self.cpu_s_per_million:8.2f} s a million"
        return f"{self.spans:11,} spans {self.cpu_s:8.2f} s {each} {self.peak_bytes / 1e6:8.0f} MB  {self.work}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Cost:
    """What a piece of work took: CPU seconds of all threads, and the highest memory of its process in bytes."""

    cpu_s: float
    peak_bytes: int


def cost(work: Callable[..., None], *args: Any) -> Cost:
    """Run `work(*args)` once in a fresh process and measure it; the work is a function of a module."""
    context = multiprocessing.get_context("spawn")
    with context.Pool(1, maxtasksperchild=1) as pool:
        return pool.apply(_measured, (work, args))


def _measured(work: Callable[..., None], args: tuple[Any, ...]) -> Cost:
    start = time.process_time()
    work(*args)
    spent = time.process_time() - start
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return Cost(cpu_s=round(spent, 3), peak_bytes=peak if sys.platform == "darwin" else peak * 1024)
