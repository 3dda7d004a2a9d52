"""The reference text of the speed table: recorded runs with unique inputs and outputs, the same for the same seed."""

from __future__ import annotations

import json
import random
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

RUNS = 100_000
SPANS = 2_000_000
SEED = 7
TOOLS = tuple(
    f"{verb}_{noun}" for verb in ("get", "find", "update", "cancel") for noun in ("order", "customer", "refund")
)
_WORDS = [
    "order",
    "refund",
    "customer",
    "payment",
    "reservation",
    "item",
    "policy",
    "ticket",
    "status",
    "window",
    "carrier",
    "address",
    "invoice",
    "balance",
    "approved",
    "pending",
    "shipped",
    "returned",
    "delivered",
    "cancelled",
    "window",
    "seat",
    "gift",
    "card",
    "voucher",
    "Zürich",
    "naïve",
    "東京",
    "total",
]
_POOL = 1 << 20
_START = 1_767_225_600.0


def records(*, runs: int = RUNS, seed: int = SEED) -> Iterator[dict[str, Any]]:
    """Yield runs of 5 to 35 spans: 12 tools, a tenth of the calls failed, times in order.

    Parameters
    ----------
    runs
        How many.
    seed
        Of the generator.
    """
    rng = random.Random(seed)  # noqa: S311
    pool = _pool(rng)
    for number in range(runs):
        at = _START + number * 40
        spans = []
        for place in range(rng.randint(5, 35)):
            seconds = 0.05 + rng.random()
            spans.append(_span(rng, pool, (number, place), (at, seconds)))
            at += seconds
        yield {
            "run_id": f"run-{number:06d}",
            "workflow": f"agent-{number % 5}",
            "status": "ok" if rng.random() < 0.9 else "error",
            "started_at": _iso(_START + number * 40),
            "ended_at": _iso(at),
            "input": _text(rng, pool, 120),
            "final_output": _text(rng, pool, 300),
            "metrics": {"total_tokens": rng.randint(1_000, 90_000)},
            "spans": spans,
        }


def write(path: Path, *, runs: int = RUNS, seed: int = SEED) -> Path:
    """Write the reference text as JSON lines, unless the file is there already."""
    if not path.exists():
        part = path.with_suffix(".part")
        with part.open("w", encoding="utf-8") as out:
            out.writelines(json.dumps(record, ensure_ascii=False) + "\n" for record in records(runs=runs, seed=seed))
        part.rename(path)
    return path


def write_chats(path: Path, *, runs: int, seed: int = SEED) -> Path:
    """Write the same runs as one JSON array of chats with tool calls, unless the file is there already."""
    if not path.exists():
        part = path.with_suffix(".part")
        with part.open("w", encoding="utf-8") as out:
            for place, record in enumerate(records(runs=runs, seed=seed)):
                out.write(("[" if place == 0 else ",\n") + json.dumps(_chat(place, record), ensure_ascii=False))
            out.write("]\n")
        part.rename(path)
    return path


def write_otlp(path: Path, *, runs: int, seed: int = SEED) -> Path:
    """Write the same runs as one OTLP document, spans of 25 traces to a block, unless the file is there already."""
    if not path.exists():
        part = path.with_suffix(".part")
        with part.open("w", encoding="utf-8") as out:
            out.write('{"resourceSpans": [')
            block: list[dict[str, Any]] = []
            for place, record in enumerate(records(runs=runs, seed=seed), start=1):
                block += _otlp_spans(place, record)
                if place % 25 == 0 or place == runs:
                    out.write(json.dumps(_otlp_block(block), ensure_ascii=False) + ("" if place == runs else ",\n"))
                    block = []
            out.write("]}\n")
        part.rename(path)
    return path


def _span(
    rng: random.Random,
    pool: str,
    unique: tuple[int, int],
    times: tuple[float, float],
) -> dict[str, Any]:
    failed = rng.random() < 0.1
    start, seconds = times
    name = f"{unique[0]}-{unique[1]}"
    return {
        "type": "tool",
        "name": TOOLS[rng.randrange(len(TOOLS))],
        "span_id": f"s{unique[1]}",
        "input": {"id": name, "amount": rng.randint(1, 9_999) / 100, "text": _text(rng, pool, rng.randint(60, 250))},
        "output": f"{name} {_text(rng, pool, rng.randint(200, 980))}",
        "status": "error" if failed else "ok",
        "error": "timed out" if failed else None,
        "started_at": _iso(start),
        "ended_at": _iso(start + seconds),
        "tokens_in": rng.randint(100, 4_000),
        "attributes": {"attempt": rng.randint(1, 3)},
    }


def _chat(place: int, record: dict[str, Any]) -> dict[str, Any]:
    messages: list[dict[str, Any]] = [{"role": "user", "content": record["input"]}]
    for span in record["spans"]:
        call = {"name": span["name"], "arguments": json.dumps(span["input"], ensure_ascii=False)}
        calls = [{"id": span["span_id"], "type": "function", "function": call}]
        messages.append({"role": "assistant", "content": None, "tool_calls": calls})
        answer = {"role": "tool", "tool_call_id": span["span_id"], "name": span["name"], "content": span["output"]}
        messages.append(answer)
    messages.append({"role": "assistant", "content": record["final_output"]})
    return {"task_id": place, "reward": 1.0, "info": {}, "traj": messages, "trial": 0}


def _otlp_block(spans: list[dict[str, Any]]) -> dict[str, Any]:
    scope = {"name": "opentelemetry.instrumentation.agents", "version": "1.2.0"}
    resource = _otlp_attributes(
        {"service.name": "refunds", "telemetry.sdk.language": "python", "host.name": "worker-7"}
    )
    return {"resource": {"attributes": resource}, "scopeSpans": [{"scope": scope, "spans": spans}]}


def _otlp_spans(place: int, record: dict[str, Any]) -> list[dict[str, Any]]:
    """Write the calls, then the agent's span around them, as a tracer exports them."""
    trace, root = f"{place:032x}", f"{place << 8:016x}"
    calls = [
        _otlp_call(trace, root, f"{(place << 8) + n:016x}", call) for n, call in enumerate(record["spans"], start=1)
    ]
    told = {
        "gen_ai.operation.name": "invoke_agent",
        "gen_ai.agent.name": record["workflow"],
        "gen_ai.conversation.id": f"session-{place % 1000}",
        "input.value": record["input"],
        "output.value": record["final_output"],
        "gen_ai.usage.input_tokens": record["metrics"]["total_tokens"],
    }
    return [
        *calls,
        {
            "traceId": trace,
            "spanId": root,
            "name": f"invoke_agent {record['workflow']}",
            "kind": 1,
            "startTimeUnixNano": _nanoseconds(record["started_at"]),
            "endTimeUnixNano": _nanoseconds(record["ended_at"]),
            "attributes": _otlp_attributes(told),
            "status": {"code": 2 if record["status"] == "error" else 0},
        },
    ]


def _otlp_call(trace: str, root: str, span: str, call: dict[str, Any]) -> dict[str, Any]:
    told = {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": call["name"],
        "gen_ai.tool.type": "function",
        "gen_ai.tool.call.id": f"call_{span}",
        "gen_ai.tool.call.arguments": json.dumps(call["input"], ensure_ascii=False),
        "gen_ai.tool.call.result": call["output"],
        "gen_ai.usage.input_tokens": call["tokens_in"],
        "attempt": call["attributes"]["attempt"],
        "session.id": "session-1",
    }
    return {
        "traceId": trace,
        "spanId": span,
        "parentSpanId": root,
        "name": f"execute_tool {call['name']}",
        "kind": 1,
        "startTimeUnixNano": _nanoseconds(call["started_at"]),
        "endTimeUnixNano": _nanoseconds(call["ended_at"]),
        "attributes": _otlp_attributes(told),
        "status": {"code": 2, "message": call["error"]} if call["error"] else {},
    }


def _otlp_attributes(told: dict[str, Any]) -> list[dict[str, Any]]:
    return [
        {"key": key, "value": {"intValue": str(value)} if isinstance(value, int) else {"stringValue": value}}
        for key, value in told.items()
    ]


def _nanoseconds(moment: str) -> str:
    import datetime as dt

    return str(round(dt.datetime.fromisoformat(moment).timestamp() * 1000)) + "000000"


def _pool(rng: random.Random) -> str:
    words = rng.choices(_WORDS, k=_POOL // 5)
    return " ".join(words)


def _text(rng: random.Random, pool: str, size: int) -> str:
    start = rng.randrange(len(pool) - size)
    return pool[start : start + size]


def _iso(seconds: float) -> str:
    import datetime as dt

    return dt.datetime.fromtimestamp(seconds, tz=dt.UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
