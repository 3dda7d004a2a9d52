"""The steps of a check-1 process as a graph: what follows what, and what a server would refuse.

Source: core specification, sections 2.2 and 3.2.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from check_workbench.checks import ProcessStep
from check_workbench.documents import Mapping, Node, Scalar, Sequence
from check_workbench.errors import hint

if TYPE_CHECKING:
    from collections.abc import Iterator
    from collections.abc import Sequence as Many

    from check_workbench.dialects.fields import Fields
    from check_workbench.dialects.problems import Problems

LINKS = ("next", "on_reject", "on_timeout", "parallel")
JOIN = "join"
"""Where the last step of a parallel branch leads. Source: parallel-1, section 2."""


def linked(steps: Many[tuple[Fields, str, str]]) -> tuple[ProcessStep, ...]:
    """Return the steps with their successors; a step that names none leads to the one below it.

    Parameters
    ----------
    steps
        Keys, id and kind of each, in document order.
    """
    ids = [id_ for _, id_, _ in steps]
    return tuple(
        ProcessStep(
            id=id_,
            kind=kind,
            next=_successors(fields, kind, ids[place + 1 : place + 2]),
            on_reject=next((target for _, target in targets(fields.node.get("on_reject"))), None),
            checked=fields.has("check"),
        )
        for place, (fields, id_, kind) in enumerate(steps)
    )


def inspect(steps: Many[ProcessStep], fields: Many[Fields], problems: Problems) -> None:
    """Report links to steps that do not exist, and steps that are never reached."""
    ids = [step.id for step in steps]
    forks = any(step.kind == "parallel" for step in steps)
    for each in fields:
        for link in LINKS:
            for node, target in targets(each.node.get(link)):
                if target not in ids and not (target == JOIN and forks):
                    said = f"{link} names the step {target!r}, which does not exist"
                    problems.error(node, "unknown-step", said, hint=hint(target, ids))
    if steps and steps[-1].kind not in {"finish", "parallel"} and not fields[-1].has("next"):
        problems.warn(fields[-1].node, "no-end", "the last step must be a finish or name next; a server refuses this")
    reached = _reached(steps)
    for step, each in zip(steps, fields, strict=True):
        if step.id not in reached:
            problems.warn(each.node, "unreachable", f"no step leads to {step.id!r}; a server refuses this")


def _successors(fields: Fields, kind: str, below: list[str]) -> tuple[str, ...]:
    if kind == "finish":
        return ()
    named = [target for _, target in targets(fields.node.get("next"))]
    branches = [target for link in ("parallel", "on_timeout") for _, target in targets(fields.node.get(link))]
    return tuple(dict.fromkeys([*(named or below), *branches]))


def targets(node: Node | None) -> Iterator[tuple[Node, str]]:
    """Yield the step ids of a link: one, a list, or routes with `to` and `when`."""
    for item in node.items if isinstance(node, Sequence) else (node,):
        target = item.get("to") if isinstance(item, Mapping) else item
        if isinstance(target, Scalar) and isinstance(target.value, str):
            yield target, target.value


def _reached(steps: Many[ProcessStep]) -> set[str]:
    by_id = {step.id: step for step in steps}
    todo, reached = [step.id for step in steps[:1]], set[str]()
    while todo:
        step = by_id.get(todo.pop())
        if step is not None and step.id not in reached:
            reached.add(step.id)
            todo += [*step.next, *([step.on_reject] if step.on_reject else [])]
    return reached
