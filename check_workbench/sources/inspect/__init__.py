"""Logs of Inspect: `.eval` archives and `.json` files, one run for each sample and epoch.

| log | run |
|---|---|
| a sample's `uuid`; without one `eval.run_id`, `eval.task_id`, the sample's `id` and `epoch`, by `/` | `run_id` |
| `eval.task` | `workflow` |
| `input`: its text, or that of its first user message | `input` |
| `messages` | spans and `system_prompt`; see `messages`, `inspect_messages` |
| a tool message's `error` | `error` and `status` of the call |
| the model event with a reply's id (by place in older logs) | times, tokens and model of the `llm` span |
| the tool event with a call's id | times of the `tool` span, and the result of a call that no message answers |
| a tool event that no message shows, as a sub-agent makes | a `tool` span behind the others, `in_messages` false |
| `output.completion`, else the text of its first choice, else the last reply | `final_output` |
| `error` | `status` `error`; else a `limit` makes it `interrupted`, an empty final output `no_output` |
| `model_usage`, added up, what scorers' model events used left out | `metrics`: tokens, `total_cost` |
| `total_time`, `working_time` | `metrics.duration_ms`, `metrics.working_ms` |
| `store` | `state` |
| `scores` | answers, and decisions where a person edited them; see `inspect_scores` |
| `target`, `metadata`, `choices`, `limit`, `model_usage`, … | `attributes` |
| `answer` and `metadata` of scores; kinds of events, counted; what `eval` says of the task | `attributes` |

`attachment://` references are resolved in messages, input, output, scores, store and results. Left out: other
events, of which `attributes.events` keeps the number; `view`, which shows a call's arguments once more; reductions
and results of the whole log. An archive that lacks `header.json` comes of an evaluation that has not ended: its
journal names the task, and what samples there are count. No member of an archive is unpacked beyond a limit. NaN and
infinity, which Inspect may write, are null in an archive, with a note; in a `.json` file they reject their sample.
"""

from __future__ import annotations

import zipfile
from typing import TYPE_CHECKING, Any

from check_workbench.errors import InputError
from check_workbench.sources.format import Format, Note, Rejected
from check_workbench.sources.heads import BROKEN_ZIP
from check_workbench.sources.inspect.archive import unpacked
from check_workbench.sources.inspect.samples import read_sample
from check_workbench.sources.json_items import members, opened

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from check_workbench.records import Decision, Run
    from check_workbench.results import Answer
    from check_workbench.sources.format import Head, Origin
    from check_workbench.sources.inspect.archive import Unpacked

    _Record = Run | Decision | Answer | Rejected | Note

_HEADER, _START = "header.json", "_journal/start.json"
_SAMPLES = "samples/"
_READ = ("eval", "results")
"""Members of a log that are read beside its samples."""


def _detect(head: Head) -> str | None:
    if head.kind == "zip":
        found = _START in head.names or (_HEADER in head.names and any(map(_is_sample, head.names)))
        return "it is an archive with the header and samples of an Inspect log" if found else None
    task = head.first.get("eval")
    if not isinstance(task, dict) or "task" not in task or not {"run_id", "task_id"} & task.keys():
        return None
    return "its eval names the task of an Inspect log"


def _read(path: Path, origin: Origin) -> Iterator[_Record]:
    if zipfile.is_zipfile(path):
        yield from _read_archive(path, origin)
    else:
        yield from _read_json(path, origin)


def _read_archive(path: Path, origin: Origin) -> Iterator[_Record]:
    try:
        archive = zipfile.ZipFile(path)
    except BROKEN_ZIP as error:
        yield Rejected(file=origin.file, line=1, reason=f"the archive is damaged: {error}")
        return
    with archive:
        yield from _archived(archive, origin)


def _is_sample(name: str) -> bool:
    return name.startswith(_SAMPLES) and name.endswith(".json")


def _archived(archive: zipfile.ZipFile, origin: Origin) -> Iterator[_Record]:
    infos = {info.filename: info for info in archive.infolist()}
    samples = [info for name, info in infos.items() if _is_sample(name)]
    noted = False
    log: Mapping[str, Any] = {}
    for name in (_HEADER, _START):
        if name in infos and not log:
            header = _unpacked(archive, infos[name], origin, 1)
            if isinstance(header, Rejected):
                yield header
            else:
                log = header.value if isinstance(header.value, dict) else {}
    if _HEADER not in infos:
        yield Note(file=origin.file, text=f"it has no {_HEADER}: the evaluation has not ended")
    for place, info in enumerate(samples, start=1):
        found = _unpacked(archive, info, origin, place)
        if isinstance(found, Rejected):
            yield found
            continue
        if found.changed and not noted:
            noted = True
            yield Note(file=origin.file, text="NaN and infinity, which JSON has no numbers for, were read as null")
        yield from _sample(found.value, log, origin, place)
    yield from _missing(log, len(samples), origin)


def _unpacked(archive: zipfile.ZipFile, info: zipfile.ZipInfo, origin: Origin, line: int) -> Unpacked | Rejected:
    try:
        return unpacked(archive, info)
    except InputError as error:
        return Rejected(file=origin.file, line=line, reason=str(error))


def _read_json(path: Path, origin: Origin) -> Iterator[_Record]:
    log: dict[str, Any] = {}
    place, count = 0, 0
    with opened(path) as stream:
        for found in members(stream, origin.file, _is_samples):
            if isinstance(found, Rejected):
                yield found
                continue
            if found.place != place:
                yield from _missing(log, count, origin)
                log, place, count = {}, found.place, 0
            if not _is_samples(found.key):
                log[found.key] = found.value if found.key in _READ else None
            elif found.value is not None:
                count += 1
                yield from _sample(found.value, log, origin, found.line)
    yield from _missing(log, count, origin)


def _is_samples(key: str) -> bool:
    return key == "samples"


def _sample(value: Any, log: Mapping[str, Any], origin: Origin, line: int) -> Iterator[_Record]:
    task = log.get("eval")
    try:
        yield from read_sample(value, task if isinstance(task, dict) else {})
    except ValueError as error:
        yield Rejected(file=origin.file, line=line, reason=str(error))
    except RecursionError:
        yield Rejected(file=origin.file, line=line, reason="it is nested too deeply")


def _missing(log: Mapping[str, Any], count: int, origin: Origin) -> Iterator[Note]:
    """Say how many samples the log counts that are not in it."""
    results = log.get("results")
    total = results.get("completed_samples", results.get("total_samples")) if isinstance(results, dict) else None
    if isinstance(total, int) and total > count:
        yield Note(file=origin.file, text=f"the log counts {total:,} samples, but only {count:,} are in it")


FORMAT = Format(
    name="inspect",
    summary="Inspect logs, .eval archives and .json files, one run a sample and epoch",
    detect=_detect,
    read=_read,
)
