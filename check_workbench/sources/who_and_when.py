"""Who&When: failed multi-agent runs in which people marked the agent and the step that made the decisive mistake.

| record | becomes |
|---|---|
| `question_ID`, `/`, workflow | `run_id`; without `question_ID` the path under the PATH, without suffixes, `#`, place |
| key `is_corrected`, or a step without a name | `workflow` `hand-crafted`, else `algorithm-generated` |
| `question` | `input` |
| each of `history` | a span of type `agent`: `name` (or `role`), the text in `output`, its index from 0 as `span_id` |
| role `human` | the same with type `user`, the text in `input` |
| a terminal (`Computer_terminal`, `ComputerTerminal`) | the same with type `tool`; `exitcode:` not 0 is a failed call |
| text of the last step | `final_output`; `status` is `ok` with one, else `no_output` |
| a `mistake_agent`, or `is_correct` false | decision `failed` about the work |
| `is_correct` true, and no mistake | decision `approved` about the work |
| `mistake_agent`, `_step`, `_reason` | decision `problem` for the check `mistake`: `answer`, `span_id`, `note` |
| everything else: `ground_truth`, `level`, `system_prompt` (by agent), … | `attributes` |

Both folders of the data set are read: `is_correct` in one is `is_corrected` in the other, and `Orchestrator (thought)`
is the agent `Orchestrator`, with its role kept in `attributes`. The decisions' provenance is `imported`. The same
question was given to both systems, so that `question_ID` alone names no run.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

from check_workbench.errors import InputError
from check_workbench.records import Decision, Run
from check_workbench.sources.building import rest
from check_workbench.sources.format import Format, Note, Rejected
from check_workbench.sources.json_items import items, opened
from check_workbench.sources.spans import span

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from check_workbench.records import Span
    from check_workbench.sources.format import Head, Origin

CHECK = "mistake"
"""The check that the marked mistakes are decisions about."""
_MISTAKE = ("mistake_agent", "mistake_step", "mistake_reason")
_CORRECT = ("is_correct", "is_corrected")
_USED = frozenset({"question", "history", *_MISTAKE})
_STEP = frozenset({"role", "content", "name"})
_ROLE = re.compile(r"(\S.*?) \((?:thought|termination condition|-> .*)\)")
_TERMINALS = frozenset({"Computer_terminal", "ComputerTerminal"})
_FAILED = re.compile(r"exitcode: -?(?!0\b)\d+")


def _detect(head: Head) -> str | None:
    if head.keys.get("history") != "[":
        return None
    if "mistake_agent" in head.keys or ("question" in head.keys and any(key in head.keys for key in _CORRECT)):
        return "its first record has a history, and who made the mistake in it"
    steps = head.first.get("history")
    if head.keys.keys() == {"history"} and isinstance(steps, list) and any(map(_is_orchestrated, steps)):
        return "its first record has a history in which an Orchestrator thinks"
    return None


def _is_orchestrated(step: Any) -> bool:
    return isinstance(step, dict) and step.get("role") == "Orchestrator (thought)"


def _read(path: Path, origin: Origin) -> Iterator[Run | Decision | Rejected | Note]:
    with opened(path) as stream:
        for item in items(stream, origin.file):
            if isinstance(item, Rejected):
                yield item
                continue
            try:
                run = _run(item.value, origin, item.place)
            except ValueError as error:
                yield Rejected(file=origin.file, line=item.line, reason=str(error))
                continue
            yield run
            yield from _decisions(item.value, run, origin)


def _run(record: Any, origin: Origin, place: int) -> Run:
    if not isinstance(record, dict):
        raise InputError(f"a run must be an object, got {type(record).__name__}")
    history = record.get("history")
    if not isinstance(history, list) or not all(isinstance(step, dict) for step in history):
        raise InputError("history must be a list of objects with content and role")
    workflow = "hand-crafted" if _is_hand_crafted(record, history) else "algorithm-generated"
    final = history[-1].get("content") if history else None
    named = record.get("question_ID")
    return Run(
        run_id=f"{named}/{workflow}" if isinstance(named, str) and named else f"{origin.stem}#{place}",
        workflow=workflow,
        status="ok" if final else "no_output",
        input=record.get("question"),
        final_output=final or None,
        attributes=rest(record, _USED),
        spans=tuple(_span(step, place) for place, step in enumerate(history)),
    )


def _is_hand_crafted(record: Mapping[str, Any], history: list[dict[str, Any]]) -> bool:
    return "is_corrected" in record or ("is_correct" not in record and any("name" not in step for step in history))


def _span(step: Mapping[str, Any], place: int) -> Span:
    role, content = step.get("role"), step.get("content")
    if not isinstance(role, str) or not role:
        raise InputError(f"step {place} must have a role, got {role!r:.80}")
    named = step.get("name")
    spoken = _ROLE.fullmatch(role)
    name = named if isinstance(named, str) and named else spoken[1] if spoken else role
    extras = {key: value for key, value in step.items() if key not in _STEP and value is not None}
    if role != name:
        extras["role"] = role
    if role == "human":
        return span(type="user", span_id=str(place), input=content, attributes=extras or None)
    is_tool = name in _TERMINALS
    failed = is_tool and isinstance(content, str) and _FAILED.match(content) is not None
    return span(
        type="tool" if is_tool else "agent",
        name=name,
        span_id=str(place),
        output=content,
        status="error" if failed else "ok" if is_tool else None,
        error=content if failed else None,
        attributes=extras or None,
    )


def _decisions(record: Mapping[str, Any], run: Run, origin: Origin) -> Iterator[Decision | Note]:
    agent, step, reason = (record.get(key) for key in _MISTAKE)
    note = reason if reason is None or isinstance(reason, str) else json.dumps(reason, ensure_ascii=False)
    marked = any(value not in (None, "") for value in (agent, step))
    right = next((record[key] for key in _CORRECT if isinstance(record.get(key), bool)), None)
    if marked or right is not None:
        passed = "approved" if right and not marked else "failed"
        yield Decision(run_id=run.run_id, decision=passed, provenance="imported", note=None if marked else note)
    if not marked:
        return
    place = _place(step, len(run.spans))
    if place is None:
        text = (
            f"mistake_step must be the index of a step, got {step!r:.80} for {run.run_id}; the decision names no span"
        )
        yield Note(file=origin.file, text=text)
    yield Decision(
        run_id=run.run_id,
        decision="problem",
        check_id=CHECK,
        span_id=place,
        answer=agent,
        provenance="imported",
        note=note,
    )


def _place(step: Any, count: int) -> str | None:
    text = str(step) if isinstance(step, int | str) and not isinstance(step, bool) else ""
    is_index = text.isascii() and text.isdigit() and len(text) < 10 and int(text) < count
    return str(int(text)) if is_index else None


FORMAT = Format(
    name="who_and_when",
    summary="Who&When: failed multi-agent runs with the agent and step that people blamed, one a file",
    detect=_detect,
    read=_read,
)
