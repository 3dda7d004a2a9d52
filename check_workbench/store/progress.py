"""Say on stderr how far a long call is, once it has lasted two seconds."""

from __future__ import annotations

import sys
import time

QUIET_SECONDS = 2.0
PAUSE_SECONDS = 1.0
PAUSE_IN_A_LOG = 10.0


class Progress:
    """A plain line on stderr, at most once a second; where stderr is no terminal, once in ten seconds.

    Parameters
    ----------
    what
        What the call does: `loading`.
    """

    def __init__(self, what: str) -> None:
        self.what = what
        self._next = time.monotonic() + QUIET_SECONDS

    def __call__(self, item: str, share: float) -> None:
        """Say where it is, if it is time to.

        Parameters
        ----------
        item
            What is being worked on.
        share
            How much of everything is done, from 0 to 1.
        """
        now = time.monotonic()
        if now < self._next:
            return
        self._next = now + (PAUSE_SECONDS if sys.stderr.isatty() else PAUSE_IN_A_LOG)
        print(f"{self.what} {100 * share:3.0f} % {item}", file=sys.stderr, flush=True)  # noqa: T201
