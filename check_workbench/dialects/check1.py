"""check-1: checks on the steps of an agent process, in the front matter of a PROCESS.md.

A question is phrased as a claim and passes at or above its line. Source: check-1, sections 2 and
5. What a process server refuses beyond the check keys is an error where the checks depend on
it, else a warning.
"""

from __future__ import annotations

import hashlib
import re
from typing import TYPE_CHECKING, Any, Final

from check_workbench.checks import Check, Process
from check_workbench.dialects import check1_graph
from check_workbench.dialects.check1_questions import questions_of
from check_workbench.dialects.fields import Fields, shown
from check_workbench.dialects.problems import Found, Problems
from check_workbench.documents import Document, Mapping, Scalar, Sequence, canonical_json, plain

if TYPE_CHECKING:
    from check_workbench.checks import Item
    from check_workbench.documents import Node

NAME: Final = "check-1"
CHECKED_KINDS = ("agent", "task")
KINDS = (*CHECKED_KINDS, "approve", "wait", "wait_until", "wait_for", "finish", "parallel")
STEP_KEYS = ("output", "evidence", "next", "person", "on_reject", "due", "timeout", "on_timeout")
"""Step keys of the core that say nothing about checks."""
LONGEST_NAME = 64

_NAME = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
_STEP_ID = re.compile(r"[a-z][a-z0-9_-]{0,63}")
_LOOKS = re.compile(r"(?<=[\r\n])(name|steps|[ \t]*-[ \t]+id|[ \t]+check)[ \t]*:")
_TOP_KEYS = ("inputs", "requires", "data_sources", "emails", "files")


def likeness(document: Document) -> float:
    """Say how much a document looks like a process, from 0 to 1."""
    if document.language != "markdown":
        return 0.0
    if document.roots:
        root = document.roots[0]
        steps = root.get("steps") if isinstance(root, Mapping) else None
        items = steps.items if isinstance(steps, Sequence) else ()
        keys = {name for item in items if isinstance(item, Mapping) for name in item.names()}
        return 1.0 if keys & {*KINDS, "check"} else 0.0
    if not document.text.lstrip("\ufeff").startswith("---"):
        return 0.0
    return min(1.0, 0.3 * len(set(_LOOKS.findall(document.text))))


def read(document: Document, file: str | None, problems: Problems) -> list[Found]:
    """Read every check of a process; a process with any error has no usable check.

    Parameters
    ----------
    document
        The document.
    file
        Its name, kept in the checks.
    problems
        Where everything wrong is collected.
    """
    if not document.roots:
        return []
    root = document.roots[0]
    if not isinstance(root, Mapping):
        problems.error(root, "wrong-type", f"the front matter must be a mapping, got {shown(root)}")
        return []
    name, steps = _top(root, problems)
    read_steps = [_step(node, problems) for node in steps]
    known = [step for step in read_steps if step is not None]
    _unique(known, problems)
    process_steps = check1_graph.linked([(step.fields, step.id, step.kind) for step in known])
    check1_graph.inspect(process_steps, [step.fields for step in known], problems)
    _no_merge_keys(root, problems)
    usable = not problems.errors
    process = Process(name=name, version=_version(root, document) if usable else "", steps=process_steps)
    return [
        Found(
            id=f"{name}/{step.id}",
            path=(0, "steps", steps.index(step.fields.node)),
            check=_check(step, process, document, file) if usable else None,
        )
        for step in known
        if step.items is not None
    ]


class _Step:
    """A step as read: its keys, id, kind, instructions, and its questions if it has a check."""

    def __init__(self, fields: Fields, id_: str, kind: str) -> None:
        self.fields = fields
        self.id = id_
        self.kind = kind
        self.instructions = _text(fields.node.get(kind))
        self.items: tuple[Item, ...] | None = None
        self.advisory = False


def _top(root: Mapping, problems: Problems) -> tuple[str, tuple[Node, ...]]:
    fields = Fields(root, problems, "the process")
    name = fields.text("name", required="lower-case words joined by -")
    node = root.get("name")
    if name and node is not None and (len(name) > LONGEST_NAME or not _NAME.fullmatch(name)):
        said = f"name must be lower-case letters and digits joined by -, at most {LONGEST_NAME}, got {name!r}"
        problems.error(node, "bad-id", said)
    if not fields.text("description"):
        problems.warn(root, "missing-key", "a process server refuses a process without description")
    for key in _TOP_KEYS:
        fields.entry(key)
    entry = fields.entry("steps", required="the list of steps")
    fields.close()
    if entry is None or isinstance(entry.value, Sequence):
        items = () if entry is None or not isinstance(entry.value, Sequence) else entry.value.items
        if entry is not None and not items:
            problems.error(entry.value, "wrong-type", "steps must hold at least one step")
        return name, items
    problems.error(entry.value, "wrong-type", f"steps must be a list, got {shown(entry.value)}")
    return name, ()


def _step(node: Node, problems: Problems) -> _Step | None:
    if not isinstance(node, Mapping):
        problems.error(node, "wrong-type", f"a step must be a mapping, got {shown(node)}")
        return None
    fields = Fields(node, problems, "the step")
    id_ = fields.text("id", required="its name in the process")
    where = node.get("id")
    if id_ and where is not None and not _STEP_ID.fullmatch(id_):
        problems.error(where, "bad-id", f"a step id must match {_STEP_ID.pattern}, got {id_!r}")
    kind = _kind(fields)
    for key in STEP_KEYS:
        fields.entry(key)
    step = _Step(fields, id_, kind)
    _checked(step)
    fields.close()
    return step


def _kind(fields: Fields) -> str:
    present = [kind for kind in KINDS if fields.entry(kind) is not None]
    if len(present) != 1:
        found = f"got {' and '.join(present)}" if present else "got none"
        said = f"a step must have exactly one kind ({', '.join(KINDS)}), {found}"
        fields.problems.error(fields.node, "step-kind", said)
        return present[0] if present else ""
    if present[0] != "parallel":
        fields.text(present[0], required="")
    return present[0]


def _checked(step: _Step) -> None:
    fields = step.fields
    entry = fields.entry("check")
    step.advisory = fields.flag("advisory")
    advisory = fields.node.entry("advisory")
    if entry is None:
        if advisory is not None:
            said = "advisory stands beside check and means nothing without it"
            fields.problems.error(advisory.key, "advisory", said)
        return
    if step.kind not in CHECKED_KINDS:
        said = f"check may stand on agent and task steps only, not on {step.kind or 'a step without a kind'}"
        fields.problems.error(entry.key, "misplaced-key", said)
    step.items = questions_of(entry.value, fields.problems)


def _unique(steps: list[_Step], problems: Problems) -> None:
    lines: dict[str, int] = {}
    for step in steps:
        node = step.fields.node
        if step.id and step.id in lines:
            said = f"the step id {step.id!r} stands twice, first in line {lines[step.id]}"
            problems.error(node, "duplicate-id", said)
        lines.setdefault(step.id, node.line)


def _no_merge_keys(node: Node, problems: Problems) -> None:
    if isinstance(node, Sequence):
        for item in node.items:
            _no_merge_keys(item, problems)
    elif isinstance(node, Mapping):
        if any(entry.merged for entry in node.entries):
            said = "YAML 1.2 has no merge key (<<); a process server refuses it"
            problems.error(node, "unknown-key", said, hint="Write the keys out.")
        for entry in node.entries:
            _no_merge_keys(entry.value, problems)


def _version(root: Mapping, document: Document) -> str:
    """Digest a process as a server does. Source: core specification, section 6, rule 5."""
    text = f"{canonical_json(plain(root))}\n{document.body or ''}"
    return hashlib.sha256(text.encode()).hexdigest()


def _check(step: _Step, process: Process, document: Document, file: str | None) -> Check:
    return Check(
        id=f"{process.name}/{step.id}",
        dialect=NAME,
        items=step.items or (),
        workflow=process.name,
        step_id=step.id,
        advisory=step.advisory,
        process=process,
        instructions=step.instructions,
        body=document.body or "",
        file=file,
    )


def _text(node: Any) -> str:
    return node.value if isinstance(node, Scalar) and isinstance(node.value, str) else ""
