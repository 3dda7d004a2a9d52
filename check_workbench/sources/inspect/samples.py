"""One Inspect sample to a run and to what was said of it; the table stands in the package."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeGuard

from check_workbench.errors import InputError
from check_workbench.records import Run
from check_workbench.sources.building import rest
from check_workbench.sources.inspect.events import observe
from check_workbench.sources.inspect.messages import plain, resolved
from check_workbench.sources.inspect.scores import opinions
from check_workbench.sources.inspect.spans import with_events
from check_workbench.sources.messages import conversation, text_of
from check_workbench.sources.times import when

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from check_workbench.records import Decision
    from check_workbench.results import Answer
    from check_workbench.sources.inspect.events import Observed

    Sample = Mapping[str, Any]

_RESOLVED = ("input", "messages", "output", "scores", "store", "target")
"""Parts of a sample in which attachments are put in place."""
_USED = frozenset({"input", "messages", "output", "score", "scores", "store", "events", "attachments"})
_TASK = (
    "run_id",
    "eval_id",
    "task_id",
    "task_version",
    "task_args",
    "model",
    "model_args",
    "model_roles",
    "created",
    "tags",
    "metadata",
    "packages",
    "revision",
)
"""What of a log's task goes with each of its runs."""
_USAGE = {
    "total_tokens": "total_tokens",
    "input_tokens": "prompt_tokens",
    "output_tokens": "completion_tokens",
    "total_cost": "total_cost",
}
_IN_ANSWERS = frozenset({"value", "explanation"})


def read_sample(sample: Any, task: Mapping[str, Any]) -> list[Run | Answer | Decision]:
    """Make a run of a sample, and answers and decisions of its scores.

    Parameters
    ----------
    sample
        As it was recorded.
    task
        The `eval` of its log.

    Raises
    ------
    ValueError
        If it is no sample: it has no name, its messages are none, a time is none.

    Examples
    --------
    >>> sample = {"id": 7, "epoch": 1, "messages": [], "scores": {"match": {"value": "I"}}}
    >>> run, answer = read_sample(sample, {"run_id": "r", "task_id": "t", "task": "maths"})
    >>> run.run_id, run.workflow, answer.check_id, answer.passed
    ('r/t/7/1', 'maths', 'match', False)
    """
    if not isinstance(sample, dict):
        raise InputError(f"a sample must be an object, got {type(sample).__name__}")
    attachments = _object(sample, "attachments")
    whole = dict(sample)
    if attachments:
        whole |= {key: resolved(sample[key], attachments) for key in _RESOLVED if key in sample}
    seen = observe(sample.get("events"), attachments)
    run = _run(whole, task, seen)
    return [run, *opinions(run.run_id, _scores(whole), seen, _options(task))]


def _run(sample: Sample, task: Mapping[str, Any], seen: Observed) -> Run:
    messages = sample.get("messages") or []
    if not isinstance(messages, list):
        raise InputError(f"the messages of a sample must be a list, got {type(messages).__name__}")
    told = conversation([plain(message) for message in messages])
    final = _completion(_object(sample, "output")) or told.last_reply
    return Run(
        run_id=_run_id(sample, task),
        workflow=text_of(task.get("task")),
        status="error"
        if sample.get("error")
        else "interrupted"
        if sample.get("limit")
        else "ok"
        if final
        else "no_output",
        started_at=when(sample.get("started_at") or seen.first),
        ended_at=when(sample.get("completed_at") or seen.last),
        input=_asked(sample.get("input")) or told.first_request,
        final_output=final,
        system_prompt=told.system_prompt,
        metrics=_metrics(sample, seen),
        attributes=_attributes(sample, task, seen),
        state=sample.get("store") or None,
        spans=with_events(told.spans, messages, seen),
    )


def _run_id(sample: Sample, task: Mapping[str, Any]) -> str:
    uuid = sample.get("uuid")
    if isinstance(uuid, str) and uuid:
        return uuid
    parts = (task.get("run_id"), task.get("task_id"), sample.get("id"), sample.get("epoch", 1))
    if not all(isinstance(part, str | int) and part != "" for part in parts):
        raise InputError("a sample must have a uuid, or an id and an epoch behind an eval with run_id and task_id")
    return "/".join(map(str, parts))


def _completion(output: Mapping[str, Any]) -> str | None:
    if isinstance(output.get("completion"), str):
        return output["completion"] or None
    choices = output.get("choices")
    first = choices[0] if isinstance(choices, list) and choices else None
    message = _object(first, "message") if isinstance(first, dict) else {}
    return text_of(plain(message).get("content")) or None


def _asked(given: Any) -> str | None:
    """Return what was asked: the text of the input, or of its first message of a user."""
    if not isinstance(given, list):
        return given if given is None or isinstance(given, str) else text_of(given)
    asked = (message for message in given if isinstance(message, dict) and message.get("role") == "user")
    return next((text_of(message.get("content")) for message in asked), None)


def _metrics(sample: Sample, seen: Observed) -> dict[str, float] | None:
    found = _used(_object(sample, "model_usage").values())
    graded = _used(seen.grading)
    if all(found.get(name, 0) >= count for name, count in graded.items()):
        found = {name: count - graded.get(name, 0) for name, count in found.items()}
    for key, name in (("total_time", "duration_ms"), ("working_time", "working_ms")):
        seconds = sample.get(key)
        if _is_number(seconds):
            found[name] = seconds * 1000.0
    return found or None


def _used(usages: Iterable[Any]) -> dict[str, float]:
    found: dict[str, float] = {}
    for usage in usages:
        for key, name in _USAGE.items():
            count = usage.get(key) if isinstance(usage, dict) else None
            if _is_number(count):
                found[name] = found.get(name, 0) + count
    return found


def _attributes(sample: Sample, task: Mapping[str, Any], seen: Observed) -> dict[str, Any]:
    found = {key: value for key, value in (rest(sample, _USED) or {}).items() if value not in ({}, [])}
    output = _object(sample, "output")
    scores = {name: rest(score, _IN_ANSWERS) for name, score in _scores(sample).items()}
    beside = {
        "output": {key: output[key] for key in ("model", "error", "metadata") if output.get(key)},
        "scores": {name: more for name, more in scores.items() if more},
        "events": dict(seen.counts),
        "eval": {key: task[key] for key in _TASK if task.get(key)},
    }
    return found | {key: value for key, value in beside.items() if value}


def _scores(sample: Sample) -> dict[str, Mapping[str, Any]]:
    scores = sample.get("scores") or ({"score": sample["score"]} if sample.get("score") else {})
    if not isinstance(scores, dict) or not all(isinstance(score, dict) for score in scores.values()):
        raise InputError("the scores of a sample must be an object of scores by name")
    return scores


def _options(task: Mapping[str, Any]) -> dict[str, Any]:
    """Return the model that each scorer was told to ask."""
    scorers = task.get("scorers")
    listed = [one for one in scorers if isinstance(one, dict)] if isinstance(scorers, list) else []
    return {str(one.get("name")): _object(one, "options").get("model") for one in listed}


def _object(value: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    found = value.get(key)
    return found if isinstance(found, dict) else {}


def _is_number(value: Any) -> TypeGuard[float]:
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < 1e300
