"""What an evaluator is shown of a unit, within limits, and what was cut.

The text depends on the recorded values only: the same unit gives the same text. Whatever does not fit is cut oldest
first, and the cut is recorded. Sources: neatroots, "Make sure a question can see what it asks about"; check-1,
sections 2 and 5.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from check_workbench.results import Evidence

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from check_workbench.checks import Check, EvidenceRule, Item, Selector

LIMIT = 65_536
"""Characters of evidence, and bytes of run data (check-1: `checkStateBytes`)."""

_FIELD_NAMES = {"tool": "name", "args": "input", "result": "output"}


def selected(selector: Selector, spans: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Return the spans that a selector takes, in order.

    Parameters
    ----------
    selector
        An empty part takes every span.
    spans
        Spans with `type`, `name` and `status`.

    Examples
    --------
    >>> from check_workbench.checks import Selector
    >>> selected(Selector(names=("refund",)), [{"type": "tool", "name": "refund", "status": "ok"}])
    [{'type': 'tool', 'name': 'refund', 'status': 'ok'}]
    """
    parts = (("type", selector.types), ("name", selector.names), ("status", selector.statuses))
    return [span for span in spans if all(not wanted or span.get(key) in wanted for key, wanted in parts)]


def trace_evidence(
    item: Item,
    run: Mapping[str, Any],
    spans: Sequence[Mapping[str, Any]],
    *,
    about: str | None = None,
    limit: int = LIMIT,
) -> Evidence:
    """Show the spans of a run that a question's evidence rule selects, and the final answer if it asks for that.

    Parameters
    ----------
    item
        The question with its evidence rule.
    run
        The run: `run_id`, `final_output`.
    spans
        Its spans in order, each with `span_id type name` and the fields that may be shown.
    about
        The span that a question of scope `span` judges; it and what came before it are shown.
    limit
        At most so many characters; the oldest spans go first, then the beginning of what is left.

    Returns
    -------
    Evidence
        The text, the ids of the spans in it, and what was cut.
    """
    rule = item.evidence
    chosen = _until(about, spans, rule)
    chosen = chosen if rule.last is None else chosen[max(0, len(chosen) - rule.last) :]
    blocks = [_span_block(span, rule.fields, judged=span["span_id"] == about) for span in chosen]
    final = _final_block(run) if rule.final_output else ""
    kept, cut = _newest(blocks, limit - len(final))
    text = "".join(kept) + final
    over = max(0, len(text) - limit)
    return Evidence(
        run_id=run["run_id"],
        text=text[over:],
        spans=tuple(span["span_id"] for span in chosen[len(blocks) - len(kept) :]),
        spans_cut=len(blocks) - len(kept),
        characters_cut=cut + over,
    )


def step_evidence(
    check: Check,
    step: Mapping[str, Any],
    earlier: Sequence[Mapping[str, Any]],
    *,
    limit: int = LIMIT,
) -> Evidence:
    """Show a submission: instructions, body, run data, output, summary and evidence references.

    Parameters
    ----------
    check
        The check, for the instructions and the body where the submission recorded none.
    step
        The submission: `run_id step_id instructions body run_data output summary evidence`.
    earlier
        The run's submissions before it, oldest first; they stand in for run data that was not recorded.
    limit
        At most so many bytes of run data; the oldest step goes first.
    """
    data, dropped, cut = _fitting(_run_data(step, earlier), limit)
    parts = {
        "Instructions": step.get("instructions") or check.instructions,
        "Process": step.get("body") or check.body,
        "Run data": data,
        "Output": _shown(step.get("output")),
        "Summary": _shown(step.get("summary")),
        "Evidence": _shown(step.get("evidence")),
    }
    text = "".join(f"{name}:\n{value}\n\n" for name, value in parts.items() if value)
    return Evidence(
        run_id=step["run_id"],
        step_id=step["step_id"],
        text=text,
        spans_cut=dropped,
        characters_cut=cut,
    )


def _until(about: str | None, spans: Sequence[Mapping[str, Any]], rule: EvidenceRule) -> list[Mapping[str, Any]]:
    if about is None:
        return selected(rule.spans, spans)
    place = next((i for i, span in enumerate(spans) if span["span_id"] == about), len(spans) - 1)
    calls = [span for span in spans[:place] if span["type"] in {"tool", "mcp_tool"}]
    return [*calls, *spans[place : place + 1]]


def _span_block(span: Mapping[str, Any], fields: Sequence[str], *, judged: bool) -> str:
    head = f"[{span['span_id']}] {span['type']} {_shown(span.get('name'))}".rstrip()
    return head + (" (the call to judge)" if judged else "") + "\n" + "".join(_field_lines(span, fields)) + "\n"


def _field_lines(span: Mapping[str, Any], fields: Sequence[str]) -> Iterator[str]:
    for name in fields:
        value = _shown(span.get(_FIELD_NAMES.get(name, name)))
        if value:
            yield f"{name}: {value}\n"


def _final_block(run: Mapping[str, Any]) -> str:
    answer = _shown(run.get("final_output"))
    return f"Final answer:\n{answer}\n" if answer else "Final answer: none was recorded\n"


def _newest(blocks: Sequence[str], room: int) -> tuple[list[str], int]:
    kept, used = 0, 0
    for block in reversed(blocks):
        if kept and used + len(block) > room:
            break
        kept, used = kept + 1, used + len(block)
    return list(blocks[len(blocks) - kept :]), sum(map(len, blocks)) - used


def _run_data(step: Mapping[str, Any], earlier: Sequence[Mapping[str, Any]]) -> Any:
    recorded = step.get("run_data")
    if recorded is not None and recorded != "":
        return json.loads(recorded) if isinstance(recorded, str) else recorded
    told = ("output", "summary", "evidence")
    steps = {one["step_id"]: {name: one.get(name) for name in told if one.get(name) is not None} for one in earlier}
    return {"steps": steps} if steps else None


def _fitting(data: Any, limit: int) -> tuple[str, int, int]:
    text = _shown(data)
    whole = len(text)
    steps = data.get("steps") if isinstance(data, dict) else None
    if not isinstance(steps, dict):
        return text.encode()[:limit].decode(errors="ignore"), 0, max(0, whole - limit)
    dated = all(isinstance(step, dict) and isinstance(step.get("at"), str) for step in steps.values())
    left = dict(steps)
    for name in sorted(steps, key=lambda one: steps[one]["at"]) if dated else list(steps):
        if len(text.encode()) <= limit:
            break
        del left[name]
        text = _shown({**data, "steps": left})
    fitting = text.encode()[:limit].decode(errors="ignore")
    return fitting, len(steps) - len(left), whole - len(fitting)


def _shown(value: Any) -> str:
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
