"""Make runs, decisions and answers of one record."""

from __future__ import annotations

import dataclasses
import itertools
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from check_workbench.decisions.answers import answer
from check_workbench.decisions.records import decision
from check_workbench.errors import InputError
from check_workbench.records import Run, Step
from check_workbench.sources.format import Rejected
from check_workbench.sources.mapping.converting import converted
from check_workbench.sources.messages import Conversation, conversation
from check_workbench.sources.spans import span

if TYPE_CHECKING:
    from collections.abc import Iterator

    from check_workbench.decisions.notes import Notes
    from check_workbench.records import Span
    from check_workbench.sources.format import Note, Record
    from check_workbench.sources.mapping.language import Output, Part
    from check_workbench.sources.mapping.opening import Located
    from check_workbench.sources.mapping.remarks import Remarks
    from check_workbench.sources.mapping.scopes import Scope

IMPORTED = "imported"
"""The provenance of decisions for which the mapping gives none."""


@dataclass(slots=True)
class Building:
    """What is made of the records of one file through one part of a mapping."""

    part: Part
    file: str
    remarks: Remarks
    notes: Notes

    def of(self, found: Located) -> Iterator[Record]:
        """Yield what one record holds; what does not fit is rejected with the record's line."""
        self.remarks.records += 1
        self._look_for_unread(found.scope.value)
        try:
            yield from self._made(found)
        except ValueError as error:
            yield self._rejected(found, error)
        except RecursionError:
            yield Rejected(file=self.file, line=found.line, reason="it is nested too deeply")

    def _made(self, found: Located) -> Iterator[Record]:
        run_id = None
        for output in self.part.of("run"):
            scope = self._entered(found.scope, output)
            if scope is not None:
                values = _values(output, scope)
                run_id = values.get("run_id")
                yield self._run(output, values, found.scope)
        for output in (*self.part.of("decisions"), *self.part.of("answers")):
            if run_id is None and "run_id" not in output.fields:
                run_id = self._run_id(found.scope)
            yield from self._said(output, found, run_id)

    def _run_id(self, scope: Scope) -> Any:
        """Return the id of a run that the record describes, but that is not made of it."""
        output = next(iter(self.part.of("run")), None)
        if output is None:
            return None
        inner = _let(scope, output)
        value = output.fields["run_id"].of(inner)
        return None if value is None else converted("run", "run_id", value)

    def _run(self, output: Output, values: dict[str, Any], scope: Scope) -> Run:
        if "run_id" not in values:
            raise InputError(f"run_id must be there, but nothing was found for it (mapping, line {output.line})")
        told, spans = self._spans(scope)
        if told is not None:
            heard = {"input": told.first_request, "system_prompt": told.system_prompt}
            heard["final_output"] = told.last_reply if told.ends_with_reply else None
            values = {**{name: value for name, value in heard.items() if name not in output.fields}, **values}
        if output.rest is not None and isinstance(scope.value, dict):
            values["attributes"] = _unread(scope.value, output) or None
        return Run(**values, spans=tuple(spans), steps=tuple(self._steps(scope)))

    def _spans(self, scope: Scope) -> tuple[Conversation | None, list[Span]]:
        told: Conversation | None = None
        spans: list[Span] = []
        for output, inner in self._interleaved(scope, self.part.of("spans")):
            if output.messages is not None:
                told = conversation(inner.one(output.messages) or [])
                spans += told.spans
                continue
            values = self._part_values(output, inner)
            if "type" not in values:
                raise InputError(f"a span must have a type, but nothing was found (mapping, line {output.line})")
            spans.append(span(**values))
        return told, spans

    def _steps(self, scope: Scope) -> Iterator[Step]:
        for output, inner in self._interleaved(scope, self.part.of("steps")):
            values = self._part_values(output, inner)
            if "step_id" not in values:
                raise InputError(f"a step must have a step_id, but nothing was found (mapping, line {output.line})")
            yield Step(**values)

    def _part_values(self, output: Output, scope: Scope) -> dict[str, Any]:
        values = _values(output, scope)
        if output.rest is not None and isinstance(scope.value, dict) and (rest := _unread(scope.value, output)):
            values["attributes"] = rest
        return values

    def _interleaved(self, scope: Scope, outputs: tuple[Output, ...]) -> Iterator[tuple[Output, Scope]]:
        """Yield each output with each of its things; those that begin at the same list take turns at its elements."""
        for _, group in itertools.groupby(outputs, key=lambda output: output.each and output.each.root):
            found = [(inner, output) for output in group for inner in self._things(scope, output)]
            for inner, output in sorted(found, key=lambda one: one[0].where):
                entered = self._entered(inner, output)
                if entered is not None:
                    yield output, entered

    def _said(self, output: Output, found: Located, run_id: Any) -> Iterator[Record | Note]:
        for inner in self._things(found.scope, output):
            try:
                scope = self._entered(inner, output)
                if scope is None:
                    continue
                values = _values(output, scope)
                if run_id is not None:
                    values.setdefault("run_id", run_id)
                if output.kind == "answers":
                    yield answer(values, self.notes)
                else:
                    yield decision({"provenance": IMPORTED, **values}, self.notes)
            except ValueError as error:
                yield self._rejected(found, error, output)

    def _things(self, scope: Scope, output: Output) -> Iterator[Scope]:
        if output.each is None:
            yield scope
        else:
            yield from output.each.each(scope)

    def _entered(self, scope: Scope, output: Output) -> Scope | None:
        """Return the scope in which fields are read, or None where a condition leaves the thing out."""
        inner = _let(scope, output)
        if inner.meets(output.conditions):
            return inner
        self.remarks.left_out[(output.kind, output.line)] += 1
        return None

    def _look_for_unread(self, record: Any) -> None:
        if isinstance(record, dict) and not self.part.used.all:
            unread = (key for key in record if record[key] is not None and not self.part.used.reads(key))
            self.remarks.unread.update(dict.fromkeys(unread))

    def _rejected(self, found: Located, error: ValueError, output: Output | None = None) -> Rejected:
        where = "" if output is None else f"{output.kind} (mapping, line {output.line}): "
        return Rejected(file=self.file, line=found.line, reason=f"{where}{error}")


def _let(scope: Scope, output: Output) -> Scope:
    if not output.let:
        return scope
    makers = {**scope.makers, **{name: expression.of for name, expression in output.let.items()}}
    return dataclasses.replace(scope, made={}, makers=makers)


def _values(output: Output, scope: Scope) -> dict[str, Any]:
    values: dict[str, Any] = {}
    for name, expression in output.fields.items():
        try:
            value = expression.of(scope)
            if value is not None:
                values[name] = converted(output.kind, name, value)
        except ValueError as error:
            said = str(error)
            raise InputError(said if said.startswith(name) else f"{name}: {said}") from None
    return values


def _unread(value: dict[str, Any], output: Output) -> dict[str, Any]:
    used = output.rest
    return {k: v for k, v in value.items() if v is not None and used is not None and not used.reads(k)}
