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


def _pool(rng: random.Random) -> str:
    words = rng.choices(_WORDS, k=_POOL // 5)
    return " ".join(words)


def _text(rng: random.Random, pool: str, size: int) -> str:
    start = rng.randrange(len(pool) - size)
    return pool[start : start + size]


def _iso(seconds: float) -> str:
    import datetime as dt

    return dt.datetime.fromtimestamp(seconds, tz=dt.UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
