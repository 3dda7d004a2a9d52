"""Seeded draws that stay the same on every machine: each stream is a keyed SHA-256 counter."""

from __future__ import annotations

import hashlib
import math
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Sequence

T = TypeVar("T")


class Draws:
    """One stream of draws; streams with different keys are independent of each other and of their order."""

    def __init__(self, *key: object) -> None:
        self._key = "/".join(map(str, key))
        self._drawn = 0

    def unit(self) -> float:
        """Draw uniformly from [0, 1)."""
        self._drawn += 1
        digest = hashlib.sha256(f"{self._key}/{self._drawn}".encode()).digest()
        return int.from_bytes(digest[:6], "big") / 2**48

    def chance(self, share: float) -> bool:
        """Say yes in the given share of draws."""
        return self.unit() < share

    def pick(self, values: Sequence[T]) -> T:
        """Draw one of the values."""
        return values[int(self.unit() * len(values))]

    def whole(self, low: int, high: int) -> int:
        """Draw a whole number from low to high, both included."""
        return low + int(self.unit() * (high - low + 1))

    def weighted(self, shares: dict[str, float]) -> str:
        """Draw a name by its share; the last takes what is left."""
        left = self.unit()
        for name, share in shares.items():
            left -= share
            if left < 0:
                return name
        return list(shares)[-1]

    def normal(self) -> float:
        """Draw from a standard normal, near enough: twelve uniform draws less six."""
        return sum(self.unit() for _ in range(12)) - 6


def squash(value: float) -> float:
    """Turn log-odds into a probability.

    Examples
    --------
    >>> squash(0.0)
    0.5
    """
    return 1 / (1 + math.exp(-value))
