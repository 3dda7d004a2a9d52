"""Where a check cuts: one type of cut-off for each way in which a dialect turns a value into a status."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class AtLeast:
    """A rule raises findings from this measurement on."""

    value: float


@dataclass(frozen=True, slots=True, kw_only=True)
class FlagAt:
    """A failure question is flagged from this probability on."""

    value: float = 0.8


@dataclass(frozen=True, slots=True, kw_only=True)
class FlagOn:
    """A choice is flagged when the named options together reach this probability."""

    names: tuple[str, ...]
    value: float = 0.5


@dataclass(frozen=True, slots=True, kw_only=True)
class FlagLevel:
    """A score is flagged from this expected level on."""

    value: float


@dataclass(frozen=True, slots=True, kw_only=True)
class PassBand:
    """A claim passes from `pass_at` on, fails below `fail_below` (without one: below `pass_at`), else it is unsure."""

    pass_at: float = 0.9
    fail_below: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PassNames:
    """A choice passes or is unsure by its name; below the confidence it is unsure."""

    passing: tuple[str, ...]
    unsure: tuple[str, ...] = ()
    confidence: float = 0.8


@dataclass(frozen=True, slots=True, kw_only=True)
class PassLevel:
    """A level passes from this one on, else it fails; below the confidence it is unsure."""

    level: int
    confidence: float = 0.8


Cutoffs = AtLeast | FlagAt | FlagOn | FlagLevel | PassBand | PassNames | PassLevel
