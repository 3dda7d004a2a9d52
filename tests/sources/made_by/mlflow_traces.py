"""Write the MLflow files beside this script with MLflow itself: `python mlflow_traces.py`, where mlflow is installed.

Traces go into a SQLite file in a temporary folder; nothing leaves the machine. MLflow 2 writes another schema than
MLflow 3: run once with each.
"""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
os.environ["MLFLOW_ENABLE_ASYNC_TRACE_LOGGING"] = "false"


def agent(mlflow: Any) -> str:
    """Trace one agent that asks a model and fails to pay, and return the id of the trace."""

    from mlflow.entities import SpanStatus, SpanStatusCode

    with mlflow.start_span("answer", span_type="AGENT") as root:
        root.set_inputs({"question": "go"})
        with mlflow.start_span("chat", span_type="CHAT_MODEL") as chat:
            chat.set_inputs({"messages": [{"role": "user", "content": "go"}]})
            chat.set_outputs({"choices": [{"message": {"role": "assistant", "content": "I pay."}}]})
            chat.set_attribute("mlflow.chat.tokenUsage", {"input_tokens": 9, "output_tokens": 3, "total_tokens": 12})
            chat.set_attribute("mlflow.llm.model", "m-1")
        with mlflow.start_span("pay", span_type="TOOL") as pay:
            pay.set_inputs({"amount": 7})
            pay.set_status(SpanStatus(SpanStatusCode.ERROR, description="no money"))
        root.set_outputs("gone")
    told = mlflow.get_last_active_trace_id() if hasattr(mlflow, "get_last_active_trace_id") else None
    return str(told or mlflow.get_last_active_trace().info.request_id)


def assess(mlflow: Any, trace_id: str) -> None:
    from mlflow.entities import AssessmentError, AssessmentSource

    span_id = next(span.span_id for span in mlflow.get_trace(trace_id).data.spans if span.name == "chat")
    ann = AssessmentSource(source_type="HUMAN", source_id="ann")
    judge = AssessmentSource(source_type="LLM_JUDGE", source_id="judge-1")
    code = AssessmentSource(source_type="CODE", source_id="length.py")
    say: Any = mlflow.log_feedback
    say(trace_id=trace_id, name="is_correct", value=False, rationale="not paid", source=ann)
    say(trace_id=trace_id, name="stars", value=4, source=ann, span_id=span_id)
    say(trace_id=trace_id, name="relevance", value="yes", rationale="on topic", source=judge)
    say(trace_id=trace_id, name="length", value=0.5, source=code)
    say(
        trace_id=trace_id,
        name="safety",
        error=AssessmentError(error_code="TIMEOUT", error_message="judge is away"),
        source=judge,
    )
    mlflow.log_expectation(trace_id=trace_id, name="expected_response", value="paid", source=ann)
    wrong = say(trace_id=trace_id, name="groundedness", value=True, source=judge)
    mlflow.override_feedback(trace_id=trace_id, assessment_id=wrong.assessment_id, value=False, source=ann)


def write(name: str, text: str, folder: str) -> None:
    """Write a file in which the temporary folder has no name."""
    escaped = folder.replace("/", "\\/")
    (HERE / name).write_text(text.replace(folder, "folder").replace(escaped, "folder"))


def main() -> None:
    import mlflow

    major = mlflow.__version__.partition(".")[0]
    here = Path.cwd()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        mlflow.set_tracking_uri(f"sqlite:///{folder}/traces.db")
        mlflow.set_experiment("shop")
        trace_id = agent(mlflow)
        if major >= "3":
            assess(mlflow, trace_id)
            frame = mlflow.search_traces()
            write(f"mlflow{major}_frame.jsonl", frame.to_json(orient="records", lines=True), folder)
        write(f"mlflow{major}_trace.json", mlflow.get_trace(trace_id).to_json(pretty=True) + "\n", folder)
        os.chdir(here)


if __name__ == "__main__":
    main()
