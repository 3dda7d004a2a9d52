"""What must hold before a check is trusted, fixed and hashed before any label is read: `Plan`.

Two changes carry different risks. *Enforce*: the advisory flag goes and the approver stays, so mind good work that is
failed. *Replace the approval*: the approve step goes, so mind bad work that is passed.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypedDict, get_args

from check_workbench.errors import InputError, UnknownNameError
from check_workbench.files import write_file

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Unpack

Change = Literal["enforce", "replace_approval"]
Side = Literal["false_pass", "false_fail"]
CHANGES: tuple[Change, ...] = get_args(Change)
CLUSTERS = ("session_id", "run_id", "workflow")
DEFAULT_BOUNDS = {"enforce": ("max_false_fail", 0.10), "replace_approval": ("max_false_pass", 0.05)}


EXPLAINED = {
    "change": "enforce: advisory goes, the approver stays; replace_approval: the approve step goes",
    "max_false_pass": "largest share of bad work among what the check passes; null is not tested",
    "max_false_fail": "largest share of good work among what the check fails; null is not tested",
    "confidence": "smallest chance that a positive decision is right",
    "checks": "how many checks must hold together; each has an equal share of the allowed error",
    "cluster": "what makes runs belong together: session_id, workflow or run_id",
    "labels": "check: decisions about the check; work: also decisions about the work",
    "window_start": "decisions before this time are left out",
    "window_end": "decisions from this time on are left out",
    "start": "share of the work; a search tests cuts that decide half of it or more",
    "blind_share": "share of the decisions that people are to make without sight of the verdict",
    "signature_required": "true: nothing is decided until signed_by names somebody",
    "signed_by": "whoever answers for this plan",
}
"""Comments in a plan file."""
MOST_CHECKS = 1000


class PlanSettings(TypedDict, total=False):
    """The settings of `plan`, all optional; `Plan` says what each means."""

    max_false_pass: float | None
    max_false_fail: float | None
    confidence: float
    checks: int
    cluster: str
    labels: str
    window_start: str | datetime | None
    window_end: str | datetime | None
    start: float
    blind_share: float
    signature_required: bool
    signed_by: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Bound:
    """One risk that is tested: which side, its target, and its share of the allowed error."""

    side: Side
    target: float
    delta: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """Targets and conditions of a trust decision; validated, frozen, and known by its digest."""

    change: Change
    max_false_pass: float | None = None
    """Largest share of bad work among what the check passes; None is not tested."""
    max_false_fail: float | None = None
    """Largest share of good work among what the check fails; None is not tested."""
    confidence: float = 0.9
    """Smallest chance that a positive decision is right; of several checks, that all of them are."""
    checks: int = 1
    """How many checks must hold together; each has an equal share of the allowed error."""
    cluster: str = "session_id"
    """What makes runs belong together: session_id (runs without one stand alone), workflow, or run_id."""
    labels: str = "check"
    """`work` also counts decisions about the work as a proxy for decisions about the check."""
    window_start: str | None = None
    """Decisions made before this time are left out (ISO 8601, UTC)."""
    window_end: str | None = None
    """Decisions made from this time on are left out (ISO 8601, UTC)."""
    start: float = 0.40
    """Coverage of the cut that speaks where none is certified; a walk tests cuts from half of it."""
    blind_share: float = 0.25
    """Share of the work that is to be decided without sight of the verdict."""
    signature_required: bool = False
    signed_by: str | None = None

    @property
    def delta(self) -> float:
        """The allowed chance that a positive decision is wrong."""
        return round(1 - self.confidence, 12)

    @property
    def share(self) -> float:
        """The part of it that one check may spend."""
        return self.delta / self.checks

    @property
    def bounds(self) -> tuple[Bound, ...]:
        """The bounds that are tested; each has an equal share of what the check may spend."""
        given: list[tuple[Side, float]] = []
        if self.max_false_fail is not None:
            given.append(("false_fail", self.max_false_fail))
        if self.max_false_pass is not None:
            given.append(("false_pass", self.max_false_pass))
        if self.change == "replace_approval":
            given.reverse()
        return tuple(Bound(side=side, target=target, delta=self.share / len(given)) for side, target in given)

    @property
    def digest(self) -> str:
        """The SHA-256 of the settings, shortened; two plans with one digest are the same plan."""
        text = json.dumps(self.to_dict(), sort_keys=True, separators=(",", ":"))
        return hashlib.sha256(text.encode()).hexdigest()[:32]

    def to_dict(self) -> dict[str, Any]:
        """Return all settings by name, in order."""
        return dataclasses.asdict(self)

    def to_yaml(self) -> str:
        """Return the plan as the text of a plan file; every scalar is also JSON, so any YAML version reads it alike."""
        lines = [
            f"{name}: {json.dumps(value, ensure_ascii=False)}  # {EXPLAINED[name]}"
            for name, value in self.to_dict().items()
        ]
        return "\n".join(["# What must hold before the check is trusted. Fixed before any label is read.", *lines, ""])

    def write(self, path: str | Path) -> None:
        """Write the plan file: YAML with a comment on every setting, or JSON if the name ends in `.json`.

        Raises
        ------
        InputError
            If the file cannot be written.
        """
        is_json = Path(path).suffix == ".json"
        text = json.dumps(self.to_dict(), indent=2, ensure_ascii=False) + "\n" if is_json else self.to_yaml()
        write_file(path, text.encode())

    def __str__(self) -> str:
        """Return the plan in one line of words."""
        targets = " and ".join(
            f"{'bad among passed' if b.side == 'false_pass' else 'good among failed'} ≤ {b.target:.3g}"
            for b in self.bounds
        )
        together = f" for {self.checks} checks together" if self.checks > 1 else ""
        return f"{self.change}: {targets}, with confidence {self.confidence:.3g}{together} (plan {self.digest[:8]})"


def plan(change: Change = "enforce", **settings: Unpack[PlanSettings]) -> Plan:
    """Make a plan: what must hold before a check is enforced, or before it replaces an approval.

    Parameters
    ----------
    change
        `enforce` (needs `max_false_fail`, default 0.10) or `replace_approval` (needs `max_false_pass`, default 0.05).
    **settings
        The other fields of `Plan`. Bounds are shares in (0, 1); a bound that is not given is not tested, and with
        both given each has half of the allowed error.

    Raises
    ------
    InputError
        If a setting is not possible; the message says what is.

    Examples
    --------
    >>> made = plan(change="enforce", max_false_fail=0.1, confidence=0.9)
    >>> made.bounds
    (Bound(side='false_fail', target=0.1, delta=0.1),)
    """
    known = [f.name for f in dataclasses.fields(Plan)]
    for name in settings:
        if name not in known:
            raise UnknownNameError.of("plan setting", name, known)
    if change not in CHANGES:
        raise InputError(f"change must be one of {', '.join(CHANGES)}, got {change!r}.")
    values: dict[str, Any] = dict(settings)
    needed, default = DEFAULT_BOUNDS[change]
    if values.get(needed) is None:
        values[needed] = default
    for name in ("window_start", "window_end"):
        values[name] = _moment(name, values.get(name))
    _check_shares(values)
    _check_count(values)
    _check_words(values)
    return Plan(change=change, **values)


def read_plan(path: str | Path) -> Plan:
    """Read a plan file.

    Parameters
    ----------
    path
        A YAML or JSON file with the fields of `Plan` at its top level.

    Raises
    ------
    InputError
        If the file cannot be read or a setting is not possible.
    """
    from check_workbench.documents import FlawError, parse, plain, read_text

    try:
        document = parse(read_text(Path(path)), "json" if Path(path).suffix == ".json" else "yaml")
    except OSError as error:
        raise InputError(f"{path}: the plan cannot be read: {error.strerror}. Write one with Plan.write.") from error
    except FlawError as error:
        raise InputError(f"{path}: the plan cannot be read: {error}.") from error
    if document.flaws:
        flaw = document.flaws[0]
        raise InputError(f"{path}:{flaw.line}:{flaw.column}: {flaw.message}. {flaw.hint}")
    values = plain(document.roots[0]) if document.roots else None
    if not isinstance(values, dict):
        raise InputError(f"{path}: a plan must be a mapping of settings, such as 'change: enforce'.")
    try:
        return of_mapping(values)
    except InputError as error:
        raise InputError(f"{path}: {error}") from error


def of_mapping(values: Mapping[str, Any]) -> Plan:
    """Make a plan of settings as a file or a form gives them.

    Raises
    ------
    InputError
        If `change` is missing or a setting is not possible.
    """
    if "change" not in values:
        raise InputError(f"a plan must say its change: one of {', '.join(CHANGES)}.")
    return plan(**dict(values))


def _check_shares(values: Mapping[str, Any]) -> None:
    for name in ("max_false_pass", "max_false_fail", "confidence", "start", "blind_share"):
        value = values.get(name)
        if value is None and (name.startswith("max_") or name not in values):
            continue
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < 1:
            raise InputError(f"{name} must be a share between 0 and 1, both excluded, such as 0.1; got {value!r}.")


def _check_count(values: Mapping[str, Any]) -> None:
    count = values.get("checks", 1)
    if isinstance(count, bool) or not isinstance(count, int) or not 1 <= count <= MOST_CHECKS:
        raise InputError(f"checks must be a whole number of checks from 1 to {MOST_CHECKS}; got {count!r}.")


def _check_words(values: Mapping[str, Any]) -> None:
    for name, known in (("cluster", CLUSTERS), ("labels", ("check", "work"))):
        if values.get(name, known[0]) not in known:
            raise InputError(f"{name} must be one of {', '.join(known)}, got {values[name]!r}.")
    if not isinstance(values.get("signature_required", False), bool):
        raise InputError(f"signature_required must be true or false, got {values['signature_required']!r}.")
    signer = values.get("signed_by")
    if signer is not None and (not isinstance(signer, str) or not signer.strip()):
        raise InputError(f"signed_by must be a name, got {signer!r}.")
    start, end = values.get("window_start"), values.get("window_end")
    if start and end and start >= end:
        raise InputError(f"window_start must lie before window_end, got {start} and {end}.")


def _moment(name: str, value: object) -> str | None:
    if value is None:
        return None
    try:
        moment = value if isinstance(value, datetime) else datetime.fromisoformat(str(value))
    except ValueError as error:
        raise InputError(f"{name} must be a time in ISO 8601, such as 2026-09-01; got {value!r}.") from error
    aware = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return aware.astimezone(UTC).replace(tzinfo=None).isoformat()
