"""Read what a part of a mapping makes: a run, spans, steps, decisions, answers."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, get_args

from check_workbench.dialects.fields import Fields, shown
from check_workbench.documents import Mapping as Object
from check_workbench.documents import Node, Sequence
from check_workbench.sources.mapping.converting import names_of, required_of, takes_object
from check_workbench.sources.mapping.language import Condition, Kind, Output
from check_workbench.sources.mapping.usage import with_rest

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from check_workbench.sources.mapping.expressions import Expression
    from check_workbench.sources.mapping.places import Places
    from check_workbench.sources.mapping.sight import Sight

    ReadPlaces = Callable[[Node, Sight, str], Places | None]

KINDS: tuple[Kind, ...] = get_args(Kind)


def outputs_of(fields: Fields, sight: Sight, read_places: ReadPlaces) -> tuple[Output, ...]:
    """Read all that a part makes.

    Parameters
    ----------
    fields
        The part.
    sight
        What can be named in a record.
    read_places
        Reads what `each` says.
    """
    made: list[Output] = []
    for kind in KINDS:
        entry = fields.entry(kind)
        if entry is None:
            continue
        many = isinstance(entry.value, Sequence) and kind != "run"
        nodes = entry.value.items if isinstance(entry.value, Sequence) and many else (entry.value,)
        made += [output for node in nodes if (output := _output(kind, node, sight, read_places)) is not None]
    _whole(fields, made)
    return with_rest(tuple(made))


def _whole(fields: Fields, made: list[Output]) -> None:
    kinds = {kind for kind in KINDS if fields.has(kind)}
    if not kinds:
        said = f"a part must make something: one of {', '.join(KINDS)}"
        fields.problems.error(fields.node, "missing-key", said)
    if kinds & {"spans", "steps"} and "run" not in kinds:
        fields.problems.error(fields.node, "missing-key", "spans and steps need a run, which tells their run_id")
    for output in made:
        if output.kind in ("decisions", "answers") and "run" not in kinds and "run_id" not in output.fields:
            said = f"{output.kind} must have run_id: this part has no run to take it from"
            fields.problems.error(_Line(output.line), "missing-key", said)


class _Line:
    """The start of a line."""

    def __init__(self, line: int) -> None:
        self.line = line
        self.column = 1


def _output(kind: Kind, node: Node, sight: Sight, read_places: ReadPlaces) -> Output | None:
    if not isinstance(node, Object):
        sight.problems.error(node, "wrong-type", f"{kind} must be a mapping of fields, got {shown(node)}")
        return None
    fields = Fields(node, sight.problems, kind)
    each = None
    if kind != "run" and (entry := fields.entry("each")) is not None:
        each = read_places(entry.value, sight, "each")
        sight = sight if each is None else sight.deeper(each.path.kept, each.depth)
    let, sight = _let(fields, sight)
    conditions = conditions_of(fields, sight)
    messages = fields.entry("messages") if kind == "spans" else None
    chat = None if messages is None else sight.path(messages.value, "messages")
    made: dict[str, Expression] = {}
    for name in names_of(kind):
        found = fields.entry(name, required=_why(kind, name) if messages is None else "")
        if found is not None:
            made[name] = sight.expression(found.value, name, objects=takes_object(kind, name))
    fields.close()
    if chat is not None and made:
        sight.problems.error(node, "misplaced-key", "messages tell all of their spans; no other field may stand there")
    return Output(
        kind=kind,
        line=node.line,
        fields=made,
        each=each,
        messages=chat,
        conditions=conditions,
        let=let,
    )


def _why(kind: Kind, name: str) -> str:
    if name not in required_of(kind) or (name == "run_id" and kind != "run"):
        return ""
    return {"type": "llm, tool, …, as = tool", "decision": "approved, problem, no_problem, …"}.get(name, "it names it")


def _let(fields: Fields, sight: Sight) -> tuple[Mapping[str, Expression], Sight]:
    block = fields.mapping("let")
    made: dict[str, Expression] = {}
    for entry in block.entries if block is not None else ():
        made[entry.name] = sight.expression(entry.value, entry.name, objects=True)
        sight = sight.knowing([entry.name])
    return made, sight


def conditions_of(fields: Fields, sight: Sight) -> tuple[Condition, ...]:
    """Read `when` and `unless`."""
    return (*_conditions(fields, sight, "when"), *_conditions(fields, sight, "unless"))


def _conditions(fields: Fields, sight: Sight, name: str) -> tuple[Condition, ...]:
    block = fields.mapping(name)
    made = []
    for entry in block.entries if block is not None else ():
        words, missing = sight.words(entry.value, f"{name}.{entry.name}")
        path = dataclasses.replace(sight, optional=missing).path(entry.key, f"a key of {name}")
        if path is not None:
            made.append(Condition(path=path, words=words, missing=missing, wanted=name == "when"))
    return tuple(made)
