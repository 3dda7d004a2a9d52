"""A check-1 check in place of an approval: which approve step it replaces, the links afterwards, and who reads what.

A failed check has no route of its own: the submission is refused and the same step tries again. So nothing is written
for it. Source: check-1, sections 3 and 4; core specification, sections 2.2, 3.1 and 3.2.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from check_workbench.dialects.check1_graph import JOIN, LINKS, targets
from check_workbench.dialects.check1_reading import reads, texts_within
from check_workbench.documents import Mapping, Sequence, delete_item, edited, set_word
from check_workbench.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from check_workbench.checks import Check, Process, ProcessStep
    from check_workbench.documents import Document, Edit, Node, Path

WAITING = ("wait", "wait_until", "wait_for")
"""Kinds in which nobody works, so that an approve step behind them approves what came before."""
PATHS = ("person", "wait_until")
STEPS: Path = (0, "steps")


def approval_of(check: Check) -> str | None:
    """Return the approve step that a check can replace, or None where no approve step follows it.

    Parameters
    ----------
    check
        A check of one step of a process.

    Raises
    ------
    InputError
        If the approve step also stands for work that the check does not judge, or several approve steps follow.

    Examples
    --------
    >>> from check_workbench.checks import Check, Process, ProcessStep
    >>> screen = ProcessStep(id="screen", kind="agent", next=("sign",), checked=True)
    >>> sign = ProcessStep(id="sign", kind="approve", next=("done",))
    >>> process = Process(name="p", version="1", steps=(screen, sign, ProcessStep(id="done", kind="finish")))
    >>> approval_of(Check(id="p/screen", dialect="check-1", items=(), step_id="screen", process=process))
    'sign'
    """
    process, step = check.process, check.step_id
    if process is None or step is None:
        return None
    behind = _approvals(process, step, through=WAITING)
    if not behind:
        later = _approvals(process, step, through=None)
        if later:
            raise _refusal(check, later[0], f"other steps work between {step} and it, and it approves their work too")
        return None
    if len(behind) > 1:
        raise _refusal(check, behind[0], f"{step} leads to several approve steps ({', '.join(behind)})")
    if why := next(_other_work(process, behind[0], step), None):
        raise _refusal(check, behind[0], why)
    return behind[0]


def without_approval(check: Check, approve: str, document: Document) -> str:
    """Return the text of a process without an approve step, every link to it leading on.

    `next`, `on_timeout` and routes lead to the step that followed the approval; an `on_reject` of a later approve step
    leads to the checked step, which now does what the approval did. A choice between two routes that come to lead to
    one step becomes that step.

    Parameters
    ----------
    check
        The check, as the document has it.
    approve
        The approve step.
    document
        The process.

    Raises
    ------
    InputError
        If the approve step cannot be taken away safely; the message says why.
    """
    steps = document.at(STEPS)
    nodes = steps.items if isinstance(steps, Sequence) else ()
    ids = [_id(node) for node in nodes]
    place = ids.index(approve)
    if why := next(_obstacles(check, nodes, place), None):
        raise _refusal(check, approve, why)
    (successor,) = _led_to(nodes, ids, place)
    edits: list[Edit] = []
    for number, node in enumerate(nodes):
        if number != place:
            for link in LINKS:
                to = str(check.step_id) if link == "on_reject" else successor
                edits += _rewired(check, document, (*STEPS, number, link), (approve, to))
        if number == place - 1 and isinstance(node, Mapping) and _falls_through(node):
            below = ids[place + 1] if place + 1 < len(ids) else None
            edits += [] if below == successor else [set_word(document, (*STEPS, number, "next"), successor)]
    return edited(document.text, [*edits, delete_item(document, (*STEPS, place))])


def _approvals(process: Process, step: str, *, through: tuple[str, ...] | None) -> list[str]:
    """List the approve steps that work of a step comes to, through steps of some kinds or of any."""
    by_id = {one.id: one for one in process.steps}
    joined = [name for one in process.steps if one.kind == "parallel" for name in one.next]
    todo, seen = [step], {step}
    while todo:
        links = by_id[todo.pop()].next
        for name in (*links, *joined) if through is None and JOIN in links else links:
            if name in by_id and name not in seen:
                seen.add(name)
                kind = by_id[name].kind
                todo += [name] if kind != "approve" and (through is None or kind in through) else []
    return [one.id for one in process.steps if one.id in seen and one.kind == "approve"]


def _other_work(process: Process, approve: str, step: str) -> Iterator[str]:
    """Yield why an approve step stands for more than the work of one step."""
    todo, seen = [approve], {approve, step}
    while todo:
        target = todo.pop()
        if target == process.steps[0].id:
            yield f"the process begins with {target}, so what comes to it was not checked"
        for one in process.steps:
            if one.on_reject == target != approve:
                yield f"what {one.id} rejects comes to it by {target}, and would go on without being done again"
            if target in one.next and one.id not in seen:
                seen.add(one.id)
                if one.kind not in WAITING:
                    yield _whose(one)
                todo.append(one.id)


def _whose(step: ProcessStep) -> str:
    if step.kind == "approve":
        return f"the approve step {step.id} leads to it as well"
    judged = "which has a check of its own" if step.checked else "which no check judges"
    return f"it also approves what comes from {step.id}, {judged}"


def _obstacles(check: Check, nodes: tuple[Node, ...], place: int) -> Iterator[str]:
    ids = [_id(node) for node in nodes]
    node, approve = nodes[place], ids[place]
    for key in ("output", "evidence"):
        if isinstance(node, Mapping) and node.entry(key) is not None:
            yield f"it collects {key}, which nothing else would collect"
    for other in nodes[:place] + nodes[place + 1 :]:
        yield from _needed(other, approve)
    found = _led_to(nodes, ids, place)
    if len(found) != 1:
        yield f"it must lead to one step, but leads to {', '.join(found) or 'none'}"
    elif not _ends(check, found[0], approve):
        yield f"nobody could end the process any more, since no finish lies behind {found[0]}"


def _needed(node: Node, approve: str) -> Iterator[str]:
    """Yield which keys of a step need a value of an approve step."""
    for key in PATHS:
        value = node.get(key) if isinstance(node, Mapping) else None
        for text in texts_within(value) if value is not None else ():
            if reads(f"steps.{approve}", text):
                yield f"{_id(node)} reads {text} as its {key}"


def _led_to(nodes: tuple[Node, ...], ids: list[str], place: int) -> list[str]:
    """List the steps that an approve step leads to: those that it names, else the one below it."""
    node = nodes[place]
    named = [target for _, target in targets(node.get("next") if isinstance(node, Mapping) else None)]
    return named or ids[place + 1 : place + 2]


def _ends(check: Check, start: str, without: str) -> bool:
    """Say whether work can come from a step to the end of the process, or of its branch, without another step."""
    by_id = {one.id: one for one in check.process.steps} if check.process else {}
    todo, seen = [start], {without}
    while todo:
        name = todo.pop()
        step = by_id.get(name)
        if step is None or step.kind == "finish":
            return True
        if name not in seen:
            seen.add(name)
            todo += [target for target in step.next if target != without]
    return False


def _falls_through(node: Mapping) -> bool:
    """Say whether a step leads to the one below it for want of a `next`."""
    return node.entry("finish") is None and node.entry("next") is None


def _rewired(check: Check, document: Document, path: Path, link: tuple[str, str]) -> Iterator[Edit]:
    """Yield what makes one link of a step lead elsewhere: from `link[0]` to `link[1]`."""
    old, new = link
    value = document.at(path)
    found = [target for _, target in targets(value)]
    places = [place for place, target in enumerate(found) if target == old]
    if not places:
        return
    if isinstance(value, Sequence) and set(found) <= {old, new} and len(found) > 1:
        yield set_word(document, path, new)
    elif isinstance(value, Sequence) and new in found:
        if any(isinstance(value.items[place], Mapping) for place in (places[0], found.index(new))):
            said = f"two routes of line {value.line} would lead to {new} under different conditions"
            raise _refusal(check, old, said)
        yield delete_item(document, (*path, places[0]))
    else:
        for place in places:
            item: Path = (place,) if isinstance(value, Sequence) else ()
            inner = value.items[place] if isinstance(value, Sequence) else value
            yield set_word(document, (*path, *item, *(("to",) if isinstance(inner, Mapping) else ())), new)


def _refusal(check: Check, approve: str, why: str) -> InputError:
    return InputError(
        f"{check.file or check.id}: the approve step {approve} cannot be taken away for {check.id}: {why}. Nothing is "
        "written. Rearrange the process by hand, or keep the approval and enforce the check.",
    )


def _id(node: Node) -> str:
    found = node.get("id") if isinstance(node, Mapping) else None
    return str(getattr(found, "value", ""))
