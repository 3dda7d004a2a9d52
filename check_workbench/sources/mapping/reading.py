"""Read a mapping from YAML, with every problem at once."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, get_args

from check_workbench.decisions.delimited import Cells
from check_workbench.dialects.fields import Fields, shown
from check_workbench.dialects.problems import Problems
from check_workbench.documents import Entry, Node, Sequence, parse
from check_workbench.documents import Mapping as Object
from check_workbench.errors import InputError
from check_workbench.sources.mapping import globs
from check_workbench.sources.mapping.expressions import Constant
from check_workbench.sources.mapping.language import Join, Part, Plan, Source
from check_workbench.sources.mapping.outputs import conditions_of, outputs_of
from check_workbench.sources.mapping.paths import Key
from check_workbench.sources.mapping.paths import parse as path_of
from check_workbench.sources.mapping.places import Places
from check_workbench.sources.mapping.sight import ANYWHERE, Sight, written
from check_workbench.sources.mapping.usage import looks_around, used_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from check_workbench.sources.mapping.expressions import Expression
    from check_workbench.sources.mapping.language import Condition

HERE = path_of(".")
"""The thing at hand."""


def plan_of(text: str, file: str, *, name: str) -> Plan:
    """Read the text of a mapping.

    Parameters
    ----------
    text
        YAML.
    file
        Its name in messages.
    name
        What it is called where it gives no name.

    Raises
    ------
    InputError
        With every problem, its line and column.
    """
    problems = Problems()
    document = parse(text, "yaml")
    problems.flaws(dataclasses.replace(flaw, hint=flaw.hint or _advice(flaw.message)) for flaw in document.flaws)
    plan = None
    if document.roots:
        plan = _plan(document.roots[0], problems, name)
    elif not document.flaws:
        raise InputError(f"{file}: the mapping is empty")
    if problems.errors or plan is None:
        lines = [f"{file}:{p.line}:{p.column}: {p.message}. {p.hint}".rstrip() for p in problems.sorted()]
        raise InputError("\n".join(lines))
    return plan


def _advice(message: str) -> str:
    if "flow mapping" in message and "got '['" in message:
        return "Inside { } put a path with brackets in quotes: 'history[].role'."
    return "Put what starts with * in quotes: '*.json'." if "scanning an alias" in message else ""


def places_of(node: Node, sight: Sight, what: str) -> Places | None:
    """Read where several things lie: a path, or a mapping with `in` and `lists`, `split` or `find`."""
    if not isinstance(node, Object):
        path = sight.path(node, what, keeps=True)
        return None if path is None else Places(path=path, written=written(node))
    fields = Fields(node, sight.problems, what)
    inside, split, find = fields.entry("in"), fields.entry("split"), fields.entry("find")
    lists = fields.mapping("lists")
    after, before = fields.text("after") or None, fields.text("before") or None
    fields.close()
    if sum(part is not None for part in (lists, split, find)) != 1:
        said = f"{what} must have one of lists, split and find"
        sight.problems.error(node, "missing-key", said, hint="Without them write the path alone.")
    if (after or before) and lists is not None:
        sight.problems.error(node, "misplaced-key", "after and before belong to split and find")
    path = sight.path(inside.value, "in", keeps=True) if inside is not None else HERE
    here = dataclasses.replace(sight, depth=0)
    columns = {e.name: here.path(e.value, e.name) for e in (() if lists is None else lists.entries)}
    if path is None:
        return None
    return Places(
        path=path,
        lists={key: column for key, column in columns.items() if column is not None},
        split=None if split is None else sight.pattern(split.value, "split"),
        find=None if find is None else sight.pattern(find.value, "find"),
        after=after,
        before=before,
        written=written(node),
    )


def _plan(root: Node, problems: Problems, name: str) -> Plan | None:
    if not isinstance(root, Object):
        problems.error(root, "wrong-type", f"a mapping must be keys and values, got {shown(root)}")
        return None
    fields = Fields(root, problems, "the mapping")
    own, summary = fields.text("name", default=name), fields.text("summary")
    parts = fields.entry("parts", required="a list, one entry for each kind of file")
    fields.close()
    nodes = parts.value.items if parts is not None and isinstance(parts.value, Sequence) else ()
    if parts is not None and not nodes:
        problems.error(parts.value, "wrong-type", f"parts must be a list of parts, got {shown(parts.value)}")
    read = [part for node in nodes if (part := _part(node, problems)) is not None]
    return Plan(name=own, summary=summary, parts=tuple(read))


def _part(node: Node, problems: Problems) -> Part | None:
    if not isinstance(node, Object):
        problems.error(node, "wrong-type", f"a part must be a mapping, got {shown(node)}")
        return None
    fields = Fields(node, problems, "a part")
    glob = _glob(fields)
    sight = Sight(problems=problems, known=frozenset((*ANYWHERE, *(glob.kept if glob else ()))))
    source, sight = source_of(fields, sight)
    conditions = conditions_of(fields, sight)
    group = fields.entry("group")
    grouped = None if group is None else sight.expression(group.value, "group")
    if group is not None:
        sight = dataclasses.replace(sight, depth=0)
    let, joins, sight = _named(fields, sight)
    outputs = outputs_of(fields, sight, places_of)
    ignored = fields.words("ignore")
    fields.close()
    if glob is None:
        return None
    return Part(
        files=glob,
        line=node.line,
        source=source,
        outputs=outputs,
        conditions=conditions,
        group=grouped,
        let=let,
        joins=joins,
        used=used_of(outputs, let, joins, [*ignored, *_first_keys(conditions)]),
        around=looks_around(outputs, let, joins) or any(condition.path.up for condition in conditions),
    )


def _first_keys(conditions: tuple[Condition, ...]) -> Iterator[str]:
    starts = (condition.path.steps[0] for condition in conditions if condition.path.steps and not condition.path.up)
    yield from (step.name for step in starts if isinstance(step, Key))


def _glob(fields: Fields) -> globs.Glob | None:
    text = fields.text("files", required="which files the part is for, as runs/*.json")
    entry = fields.node.entry("files")
    if not text or entry is None:
        return None
    try:
        return globs.parse(text)
    except globs.GlobError as error:
        fields.problems.error(entry.value, "files", str(error))
        return None


def source_of(fields: Fields, sight: Sight) -> tuple[Source, Sight]:
    """Read where records lie, and what can be named in one."""
    records = fields.entry("records")
    table = fields.text("table") or None
    cells = _cells(fields)
    if records is None:
        return Source(table=table, cells=cells), sight
    places = places_of(records.value, sight, "records")
    kept = () if places is None else places.path.kept
    return Source(records=places, table=table, cells=cells), sight.deeper(kept)


def _cells(fields: Fields) -> Cells | None:
    word = fields.word("cells", get_args(Cells))
    return next((one for one in get_args(Cells) if one == word), None)


def _named(fields: Fields, sight: Sight) -> tuple[Mapping[str, Expression], Mapping[str, Join], Sight]:
    """Read `let` and `join` in the order in which they stand; each may use the names before it."""
    let: dict[str, Expression] = {}
    joins: dict[str, Join] = {}
    known = {"let": fields.mapping("let"), "join": fields.mapping("join")}
    for entry in fields.node.entries:
        block = known.get(entry.name)
        for inner in block.entries if block is not None else ():
            if entry.name == "let":
                let[inner.name] = sight.expression(inner.value, inner.name, objects=True)
            elif (join := _join(inner, sight)) is not None:
                joins[inner.name] = join
            sight = sight.knowing([inner.name])
    return let, joins, sight


def _join(entry: Entry, sight: Sight) -> Join | None:
    if not isinstance(entry.value, Object):
        said = f"{entry.name} must be a mapping with file and on, got {shown(entry.value)}"
        sight.problems.error(entry.value, "wrong-type", said)
        return None
    fields = Fields(entry.value, sight.problems, f"the join {entry.name}")
    file = fields.entry("file", required="where the second file lies, counted from the PATH")
    source, inside = source_of(fields, Sight(problems=sight.problems))
    on = fields.mapping("on", required="which of its columns must hold what, as {id: task_id}")
    many = fields.flag("many")
    fields.close()
    pairs = []
    for pair in on.entries if on is not None else ():
        column = inside.path(pair.key, "a column of on")
        if column is not None:
            pairs.append((column, sight.expression(pair.value, pair.name)))
    name, files = (Constant(None), None) if file is None else _file(file, sight)
    if not pairs:
        return None
    return Join(file=name, files=files, source=source, on=tuple(pairs), many=many)


def _file(entry: Entry, sight: Sight) -> tuple[Expression, globs.Glob | None]:
    value = getattr(entry.value, "value", None)
    if not isinstance(value, str) or "{" in value:
        return sight.expression(entry.value, "file"), None
    try:
        return Constant(value), globs.parse(value)
    except globs.GlobError as error:
        sight.problems.error(entry.value, "files", str(error))
        return Constant(value), None
