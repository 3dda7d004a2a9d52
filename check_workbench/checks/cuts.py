"""Where a check cuts: one type of cut-off for each way in which a dialect turns a value into a status.

`probable` says whether the scores that are cut are probabilities, so that they can be held against frequencies.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar


@dataclass(frozen=True, slots=True, kw_only=True)
class AtLeast:
    """A rule raises findings from this measurement on."""

    probable: ClassVar[bool] = False
    value: float


@dataclass(frozen=True, slots=True, kw_only=True)
class FlagAt:
    """A failure question is flagged from this probability on."""

    probable: ClassVar[bool] = True
    value: float = 0.8


@dataclass(frozen=True, slots=True, kw_only=True)
class FlagOn:
    """A choice is flagged when the named options together reach this probability."""

    probable: ClassVar[bool] = True
    names: tuple[str, ...]
    value: float = 0.5


@dataclass(frozen=True, slots=True, kw_only=True)
class FlagLevel:
    """A score is flagged from this expected level on."""

    probable: ClassVar[bool] = False
    value: float


@dataclass(frozen=True, slots=True, kw_only=True)
class PassBand:
    """A claim passes from `pass_at` on, fails below `fail_below` (without one: below `pass_at`), else it is unsure."""

    probable: ClassVar[bool] = True
    pass_at: float = 0.9
    fail_below: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PassNames:
    """A choice passes or is unsure by its name; below the confidence it is unsure."""

    probable: ClassVar[bool] = False
    passing: tuple[str, ...]
    unsure: tuple[str, ...] = ()
    confidence: float = 0.8


@dataclass(frozen=True, slots=True, kw_only=True)
class PassLevel:
    """A level passes from this one on, else it fails; below the confidence it is unsure."""

    probable: ClassVar[bool] = False
    level: int
    confidence: float = 0.8


Cutoffs = AtLeast | FlagAt | FlagOn | FlagLevel | PassBand | PassNames | PassLevel
