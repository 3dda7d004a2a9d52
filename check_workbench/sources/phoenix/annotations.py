"""Annotations of Phoenix to decisions and answers; those of spans wait until it is seen which trace has the span."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from check_workbench.errors import InputError
from check_workbench.results import Answer
from check_workbench.sources.feedback import About, Feedback, decision_of
from check_workbench.sources.format import Rejected
from check_workbench.sources.otel.values import SPAN, TRACE, identifier
from check_workbench.sources.times import when
from check_workbench.sources.totals import is_number

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from check_workbench.records import Decision
    from check_workbench.sources.format import Record
    from check_workbench.sources.otel.recorded import Recorded

_KINDS = ("HUMAN", "LLM", "CODE")


class Annotations:
    """The annotations of one file.

    Parameters
    ----------
    file
        The file's name in reports.
    """

    def __init__(self, file: str) -> None:
        self._file = file
        self._feedback = Feedback()
        self._waiting: dict[str, list[tuple[int, Mapping[str, Any]]]] = {}

    def take(self, row: Mapping[str, Any], line: int) -> Iterator[Record]:
        """Take an annotation, and yield what becomes of it if that can be said already.

        Parameters
        ----------
        row
            The annotation.
        line
            Where it stands.
        """
        try:
            span, trace = identifier(row.get("span_id"), SPAN), identifier(row.get("trace_id"), TRACE)
            if "document_position" in row:
                raise InputError("an annotation of a document that a span brought is of no run")
            if trace is not None:
                yield self._opinion(row, trace, span)
            elif span is None:
                of = "a session" if row.get("session_id") else "nothing"
                raise InputError(f"an annotation must name a span or a trace, this one is of {of}")
            else:
                self._waiting.setdefault(span, []).append((line, row))
        except ValueError as error:
            yield Rejected(file=self._file, line=line, reason=str(error))

    def about(self, trace: str, spans: Iterable[Recorded]) -> Iterator[Record]:
        """Yield what waited for the spans of a trace.

        Parameters
        ----------
        trace
            The trace.
        spans
            Its spans.
        """
        for told in spans:
            for line, row in self._waiting.pop(told.span_id or "", ()):
                try:
                    yield self._opinion(row, trace, told.span_id)
                except ValueError as error:
                    yield Rejected(file=self._file, line=line, reason=str(error))

    def rest(self) -> Iterator[Record]:
        """Yield what must be told at the end of the file."""
        for span, rows in self._waiting.items():
            for line, _ in rows:
                reason = (
                    f"its span {span} is not in this file, and an annotation names no trace; put both into one file"
                )
                yield Rejected(file=self._file, line=line, reason=reason)
        yield from self._feedback.notes(self._file)

    def _opinion(self, row: Mapping[str, Any], trace: str, span: str | None) -> Decision | Answer:
        kind, name = row["annotator_kind"], _text(row, "name")
        if kind not in _KINDS or name is None:
            raise InputError(
                f"an annotation must have a name and be HUMAN, LLM or CODE, got {name!r:.80}, {kind!r:.80}"
            )
        metadata = row.get("metadata")
        model = _text(metadata, "model") if isinstance(metadata, dict) and kind != "HUMAN" else None
        self._feedback.described += metadata not in (None, {}, {"model": model})
        if kind == "HUMAN":
            return self._decision(row, name, trace, span)
        label, score = _text(row, "label"), row.get("score")
        if score is not None and not is_number(score):
            raise InputError(f"the score of an annotation must be a number, got {score!r:.80}")
        if label is None and score is None and _text(row, "explanation") is None:
            raise InputError("an annotation must have a label, a score or an explanation")
        return Answer(
            check_id=name,
            run_id=trace,
            span_id=span,
            choice=label if score is None else None,
            score=None if score is None else float(score),
            value=None if score is None else label,
            explanation=_text(row, "explanation"),
            method=f"phoenix {kind}",
            model=model,
            at=_at(row),
        )

    def _decision(self, row: Mapping[str, Any], name: str, trace: str, span: str | None) -> Decision:
        said = [value for value in (row.get("label"), row.get("score")) if value is not None]
        value = next((one for one in said if decision_of(name, one) != "unclear"), said[0] if said else None)
        by, note = _text(row, "user_id"), _text(row, "explanation")
        about = About(run_id=trace, span_id=span, by=by, at=_at(row), note=note)
        return self._feedback.decision(about, name, value)


def _at(row: Mapping[str, Any]) -> Any:
    return when(row.get("updated_at") or row.get("created_at"))


def _text(row: Mapping[str, Any], key: str) -> str | None:
    value = row.get(key)
    return value if isinstance(value, str) and value else None
