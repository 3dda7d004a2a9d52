"""Write the Phoenix files beside this script with Phoenix itself, where arize-phoenix is installed.

A server with an empty SQLite database is started in a temporary folder and stopped at the end; nothing leaves the
machine.
"""

from __future__ import annotations

import contextlib
import http.client
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

HERE = Path(__file__).parent
PORT = 6166
URL = f"http://127.0.0.1:{PORT}"
PROJECT = "shop"


@contextlib.contextmanager
def served() -> Iterator[None]:
    with tempfile.TemporaryDirectory() as folder:
        env = {
            **os.environ,
            "PHOENIX_WORKING_DIR": folder,
            "PHOENIX_PORT": str(PORT),
            "PHOENIX_GRPC_PORT": str(PORT + 1),
            "PHOENIX_TELEMETRY_ENABLED": "false",
            "PHOENIX_ALLOW_EXTERNAL_RESOURCES": "false",
        }
        with subprocess.Popen([sys.executable, "-m", "phoenix.server.main", "serve"], env=env) as server:
            try:
                wait()
                yield
            finally:
                server.terminate()


def wait() -> None:
    for _ in range(120):
        with contextlib.suppress(OSError):
            fetched("/healthz")
            return
        time.sleep(1)
    raise SystemExit("Phoenix did not start")


def trace() -> None:
    """Record one agent that asks a model and fails to pay."""
    from opentelemetry.trace import Status, StatusCode
    from phoenix.otel import register

    provider = register(
        project_name=PROJECT,
        endpoint=f"{URL}/v1/traces",
        batch=False,
        set_global_tracer_provider=False,
        verbose=False,
    )
    tracer = provider.get_tracer("made")
    with tracer.start_as_current_span("agent", openinference_span_kind="agent") as agent:
        agent.set_input({"question": "go"})
        agent.set_output("gone")
        agent.set_attribute("session.id", "c-1")
        with tracer.start_as_current_span("chat", openinference_span_kind="llm") as chat:
            chat.set_attribute("llm.model_name", "m-1")
            chat.set_attribute("llm.token_count.prompt", 9)
            chat.set_attribute("llm.token_count.completion", 3)
            chat.set_attribute("llm.input_messages.0.message.role", "user")
            chat.set_attribute("llm.input_messages.0.message.content", "go")
            chat.set_attribute("llm.output_messages.0.message.role", "assistant")
            chat.set_attribute("llm.output_messages.0.message.content", "I pay.")
        with tracer.start_as_current_span("pay", openinference_span_kind="tool") as pay:
            pay.set_attribute("tool.name", "pay")
            pay.set_input({"amount": 7})
            pay.set_status(Status(StatusCode.ERROR, "no money"))


def annotate(client: Any, spans: list[dict[str, Any]]) -> None:
    ids = {span["name"]: span["context"]["span_id"] for span in spans}
    said: list[dict[str, Any]] = [
        {"span_id": ids["agent"], "annotation_name": "review", "label": "correct", "score": 1, "explanation": "fine"},
        {"span_id": ids["chat"], "annotation_name": "stars", "score": 4},
        {"span_id": ids["agent"], "annotation_name": "toxicity", "annotator_kind": "LLM", "label": "polite"},
        {"span_id": ids["agent"], "annotation_name": "length", "annotator_kind": "CODE", "score": 0.5},
    ]
    said[2].update(score=0.1, explanation="kind words", metadata={"model": "judge-1"})
    for one in said:
        client.spans.add_span_annotation(**{"annotator_kind": "HUMAN", **one}, sync=True)
    trace_id = spans[0]["context"]["trace_id"]
    client.traces.add_trace_annotation(trace_id=trace_id, annotation_name="work", label="fail", sync=True)


def fetched(path: str) -> str:
    connection = http.client.HTTPConnection("127.0.0.1", PORT)
    connection.request("GET", path)
    return connection.getresponse().read().decode()


def write(client: Any, spans: list[dict[str, Any]]) -> None:
    """Write each of the forms in which spans and annotations come out."""
    said = client.spans.get_span_annotations(spans=spans, project_identifier=PROJECT)
    lines("phoenix_spans_then_annotations.jsonl", [*spans, *said])
    frame = client.spans.get_spans_dataframe(project_identifier=PROJECT)
    annotations = client.spans.get_span_annotations_dataframe(spans_dataframe=frame, project_identifier=PROJECT)
    joined = annotations.join(frame, how="inner")
    for name, made in (("frame", frame), ("joined", joined)):
        made.to_json(HERE / f"phoenix_{name}.jsonl", orient="records", lines=True, date_format="iso")
    (HERE / "phoenix_page.json").write_text(fetched(f"/v1/projects/{PROJECT}/spans?limit=2"))
    path = f"/v1/projects/{PROJECT}/trace_annotations?trace_ids={spans[0]['context']['trace_id']}"
    (HERE / "phoenix_trace_annotations.json").write_text(fetched(path))


def lines(name: str, records: list[Any]) -> None:
    (HERE / name).write_text("".join(f"{json.dumps(record)}\n" for record in records))


def main() -> None:
    from phoenix.client import Client

    with served():
        trace()
        client = Client(base_url=URL)
        spans: list[dict[str, Any]] = []
        while len(spans) < 3:
            time.sleep(1)
            spans = list(client.spans.get_spans(project_identifier=PROJECT))
        annotate(client, spans)
        write(client, spans)


if __name__ == "__main__":
    main()
