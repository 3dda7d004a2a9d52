"""The certificate that a check stands on, as the ledger holds it, and what voids it."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from check_workbench.calibration import looks as ledger
from check_workbench.calibration.units import digest, records
from check_workbench.checks import thresholds

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from datetime import datetime

    import pandas as pd

    from check_workbench.checks import Check
    from check_workbench.plans import Side
    from check_workbench.store import Store

SIDES: dict[str, Side] = {"replace_approval": "false_pass", "enforce": "false_fail"}
"""The side of a check that nobody looks at any more, by change."""
_LAST_READ = """
    select max(decided_at) as moment from decisions
    where list_contains(?::bigint[], decision_key) and (? is null or decided_at::date <= ?::date)
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Granted:
    """A ready trust decision: for which document, change and model, under which target, on labels up to when."""

    change: str
    side: Side
    target: float
    """The risk that was certified."""
    plan_digest: str
    asked: str
    documents: frozenset[str]
    """Digests of the certified document, before and after it was promoted."""
    numbers: Mapping[tuple[int, str], float | None]
    """The certified numbers, by item and key."""
    method: str | None
    model: str | None
    labels: str
    """Whether decisions about the work counted as well."""
    read: frozenset[int]
    """Keys of the decisions that it read."""
    moment: datetime
    """When the last decision that it rests on was made; where none has a time, when the look was made."""
    dated: bool
    """Whether the moment is that of a decision."""
    unwatched: tuple[str, ...]
    """Sides that the certificate bounds as well, and that the audit does not follow."""
    digest: str
    """What the draw of the audit is keyed with."""
    contradicted: str | None = None
    """The outcome of a later look at the same change that was no longer ready."""

    def to_dict(self) -> dict[str, Any]:
        """Return what JSON knows of the certificate."""
        names = ("change", "side", "target", "plan_digest", "asked", "method", "model", "labels", "digest")
        return {
            **{name: getattr(self, name) for name in names},
            "documents": sorted(self.documents),
            "moment": self.moment.isoformat(),
        }


def granted(check: Check, store: Store, looks: pd.DataFrame) -> Granted | None:
    """Return the certificate of a check: the latest that fits its document, else the latest; None without any.

    Parameters
    ----------
    check
        The check as its file stands.
    store
        Asked for the times of the decisions that were read.
    looks
        All looks in the store.
    """
    mine = ledger.own(looks, check)
    trusts = records(mine[mine["call"] == "trust"])[::-1]
    ready = [row for row in trusts if row["result"].get("certificate", {}).get("outcome") == "ready"]
    found = next((row for row in ready if _forms(check) & _documents(row)), ready[0] if ready else None)
    if found is None:
        return None
    later = (row for row in trusts if row["look"] > found["look"] and row["change"] == found["change"])
    outcome = next((row["result"]["certificate"]["outcome"] for row in later), None)
    return _granted(found, store, contradicted=None if outcome in {"ready", "need_labels"} else outcome)


def void(check: Check, certificate: Granted) -> Iterator[str]:
    """Yield why the document of a check is not the certified one.

    Parameters
    ----------
    check
        The check as its file stands.
    certificate
        Its certificate.
    """
    if check.asked != certificate.asked:
        yield "the check asks something else than what was certified, and nothing is known of how it answers that"
        return
    if _forms(check) & certificate.documents:
        return
    certified = certificate.numbers
    moved = [
        f"{number.key} is {_shown(number.value)}, certified was {_shown(certified.get((number.item, number.key)))}"
        for number in thresholds(check)
        if certified.get((number.item, number.key)) != number.value
    ]
    changed = "; ".join(moved) or "its flags, workflow or fixed cut-offs changed"
    yield f"the document is not the certified one: {changed}"


def _forms(check: Check) -> frozenset[str]:
    """Return the digests of a document as an advisory one, and as one that is not."""
    return frozenset(dataclasses.replace(check, advisory=flag).document for flag in (True, False))


def _documents(row: dict[str, Any]) -> frozenset[str]:
    result = row["result"]
    written = result.get("certified_document") or row["document"]
    return frozenset({written, result.get("promoted_document") or written})


def _granted(row: dict[str, Any], store: Store, *, contradicted: str | None) -> Granted:
    result = row["result"]
    details = result["certificate"]["details"]
    side = SIDES[row["change"]]
    last = _last_read(row, details["subject"]["labels_to"], store)
    numbers = [*details["subject"]["thresholds"], *details["changes"]]
    return Granted(
        change=row["change"],
        side=side,
        target=next(bound["target"] for bound in details["bounds"] if bound["side"] == side),
        plan_digest=row["plan_digest"],
        asked=row["asked"],
        documents=_documents(row),
        numbers={(number["item"], number["key"]): number["value"] for number in numbers},
        method=details["method"],
        model=details["model"],
        labels=result.get("choosing", {}).get("labels", "check"),
        read=frozenset(row["labels"]),
        moment=row["at"].to_pydatetime() if last is None else last,
        dated=last is not None,
        unwatched=tuple(bound["side"] for bound in details["bounds"] if bound["side"] != side),
        digest=digest([row["check_id"], sorted(_documents(row)), row["plan_digest"], result["fingerprint"]]),
        contradicted=contradicted,
    )


def _last_read(row: dict[str, Any], last_day: str | None, store: Store) -> datetime | None:
    """Return when the last label that counted was decided; None where no label has a time."""
    found = records(store.sql(_LAST_READ, [row["labels"], last_day, last_day]).dropna())
    moment: datetime | None = found[0]["moment"].to_pydatetime() if found else None
    return moment


def _shown(value: float | None) -> str:
    return "not set" if value is None else f"{value:g}"
