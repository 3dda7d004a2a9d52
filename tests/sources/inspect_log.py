"""A small Inspect log, written by hand, as an archive and as one object."""

from __future__ import annotations

import json
import zipfile
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathlib import Path

TASK: dict[str, Any] = {
    "run_id": "run-1",
    "task_id": "task-1",
    "task": "capture",
    "created": "2026-03-01T10:00:00+00:00",
    "model": "openai/m-1",
    "dataset": {"sample_ids": [1, 2]},
    "scorers": [{"name": "graded", "options": {"model": "openai/judge"}}, {"name": "includes", "options": {}}],
}
SAMPLE: dict[str, Any] = {
    "id": 1,
    "epoch": 2,
    "input": "attachment://question",
    "target": "flag",
    "metadata": {"level": 3},
    "messages": [
        {"role": "system", "content": "Rules."},
        {"id": "m0", "role": "user", "source": "input", "content": "attachment://question"},
        {
            "id": "m1",
            "role": "assistant",
            "content": [
                {"type": "reasoning", "reasoning": "I should look."},
                {"type": "text", "text": "I look."},
            ],
            "tool_calls": [
                {"id": "c1", "function": "bash", "arguments": {"cmd": "ls"}, "view": {"content": "ls"}},
                {"id": "c2", "function": "python", "arguments": {"code": "1"}},
            ],
        },
        {"role": "tool", "tool_call_id": "c1", "function": "bash", "content": "attachment://listing"},
        {
            "role": "tool",
            "tool_call_id": "c2",
            "function": "python",
            "content": "",
            "error": {"type": "timeout", "message": "Too slow."},
        },
        {
            "id": "m2",
            "role": "assistant",
            "content": "flag",
            "tool_calls": [{"id": "c3", "function": "submit", "arguments": {"answer": "flag"}}],
        },
    ],
    "output": {
        "model": "m-1",
        "choices": [{"message": {"role": "assistant", "content": "flag"}, "stop_reason": "stop"}],
    },
    "scores": {"includes": {"value": "C", "answer": "flag", "explanation": "attachment://why"}},
    "store": {"notes": ["attachment://listing"]},
    "model_usage": {
        "openai/m-1": {"input_tokens": 100, "output_tokens": 20, "total_tokens": 120},
        "openai/judge": {"input_tokens": 10, "output_tokens": 2, "total_tokens": 12, "total_cost": 0.5},
    },
    "total_time": 9.5,
    "working_time": 4,
    "error_retries": [],
    "attachments": {"question": "Find the flag.", "listing": "a.txt", "why": "It is there.", "late": "sent"},
    "events": [
        {"event": "span_begin", "id": "s1", "type": "solver", "name": "agent", "timestamp": "2026-03-01T10:00:01Z"},
        {
            "event": "model",
            "span_id": "s1",
            "timestamp": "2026-03-01T10:00:02Z",
            "completed": "2026-03-01T10:00:04Z",
            "model": "openai/m-1",
            "output": {
                "model": "m-1-2026",
                "choices": [{"message": {"id": "m1"}, "stop_reason": "tool_calls"}],
                "usage": {"input_tokens": 60, "output_tokens": 8},
                "time": 1.5,
            },
        },
        {
            "event": "tool",
            "id": "c1",
            "function": "bash",
            "timestamp": "2026-03-01T10:00:04Z",
            "completed": "2026-03-01T10:00:04.500Z",
            "result": "a.txt",
            "events": [{"event": "logger", "timestamp": "2026-03-01T10:00:04.100Z"}],
        },
        {
            "event": "tool",
            "id": "c3",
            "function": "submit",
            "timestamp": "2026-03-01T10:00:07Z",
            "result": "attachment://late",
        },
        {
            "event": "tool",
            "id": "c9",
            "function": "search",
            "arguments": {"q": "flag"},
            "timestamp": "2026-03-01T10:00:06Z",
            "completed": "2026-03-01T10:00:06.250Z",
            "error": {"type": "unknown", "message": "Offline."},
            "result": "",
            "agent": "helper",
        },
        {"event": "span_begin", "id": "s2", "type": "scorers", "name": "scorers"},
        {"event": "span_begin", "id": "s3", "parent_id": "s2", "type": "scorer", "name": "includes"},
        {"event": "span_begin", "id": "s4", "parent_id": "s3", "type": "tool", "name": "inner"},
        {
            "event": "model",
            "span_id": "s4",
            "model": "openai/judge",
            "output": {"choices": [{"message": {"id": "m2"}}]},
        },
        {"event": "score", "span_id": "s3", "timestamp": "2026-03-01T10:00:09Z", "score": {"value": "C"}},
    ],
}


def write_archive(path: Path, *samples: Any, names: tuple[str, ...] = ("header.json",), **header: Any) -> Path:
    """Write an archive; `names` are the members that hold the header."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name in names:
            archive.writestr(name, json.dumps({"version": 2, "eval": TASK, **header}))
        for place, sample in enumerate(samples, start=1):
            text = sample if isinstance(sample, str) else json.dumps(sample)
            archive.writestr(f"samples/{place}_epoch_1.json", text)
    return path


def write_object(path: Path, *samples: Any, **members: Any) -> Path:
    """Write a log as one object over several lines."""
    path.write_text(json.dumps({"version": 2, "eval": TASK, **members, "samples": list(samples)}, indent=1))
    return path
