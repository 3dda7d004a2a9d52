"""A program of its own: search texts for one pattern, with a time limit on each span.

Standard input: one JSON line with `pattern`, `flags`, `seconds`; then one line a batch, a list of spans, each a list of
texts. Standard output: one line a batch, for each span the words found, false where there are none, or null where the
time ran out. The limit is processor time, so a busy machine changes no answer. It imports nothing of the package.
"""

from __future__ import annotations

import json
import re
import signal
import sys
import warnings
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from types import FrameType

LIMITED = hasattr(signal, "setitimer")


class _TimeIsUpError(Exception):
    pass


def _stop(_number: int, _frame: FrameType | None) -> None:
    raise _TimeIsUpError


def search(pattern: re.Pattern[str], texts: list[str], seconds: float) -> str | bool | None:
    """Return the first words found in the texts of a span, False, or None if the time ran out."""
    try:
        if LIMITED:
            signal.setitimer(signal.ITIMER_PROF, seconds)
        found = next((hit for hit in map(pattern.search, texts) if hit), None)
        if LIMITED:
            signal.setitimer(signal.ITIMER_PROF, 0)
    except _TimeIsUpError:
        return None
    return found[0] if found else False


def main() -> None:
    """Answer batches until the input ends."""
    warnings.simplefilter("ignore")
    if LIMITED:
        signal.signal(signal.SIGPROF, _stop)
    task = json.loads(sys.stdin.readline())
    pattern = re.compile(task["pattern"], task["flags"])
    for line in sys.stdin:
        answers = [search(pattern, texts, task["seconds"]) for texts in json.loads(line)]
        sys.stdout.write(json.dumps(answers) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
