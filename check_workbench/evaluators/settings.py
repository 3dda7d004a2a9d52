"""Evaluators by name, as `check-workbench.toml` in the working folder or a parent describes them."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Any

from check_workbench.errors import InputError, UnknownNameError
from check_workbench.evaluators.recorded import Recorded

if TYPE_CHECKING:
    from check_workbench.evaluators.protocol import Evaluator

FILE = "check-workbench.toml"


def open_evaluator(name: str) -> Evaluator:
    """Open the evaluator that the settings name.

    Parameters
    ----------
    name
        `NAME` of a table `[evaluators.NAME]` with `type = "recorded"` and `path`, the file of recorded answers,
        relative to the settings.

    Raises
    ------
    UnknownNameError
        If the settings have no such evaluator.
    InputError
        If there are no settings, or they describe no evaluator of a known type.
    """
    file = _settings_file(Path.cwd())
    if file is None:
        raise InputError(f"evaluator {name!r} needs settings: no {FILE} is in the working folder or a parent")
    described = _described(file)
    if name not in described:
        raise UnknownNameError.of(f"evaluator in {file}", name, described)
    settings = described[name]
    kind, path = settings.get("type"), settings.get("path")
    if kind != "recorded":
        raise InputError(f"{file}, [evaluators.{name}]: type must be 'recorded', got {kind!r}")
    if not isinstance(path, str):
        raise InputError(f"{file}, [evaluators.{name}]: path must name a file of recorded answers, got {path!r}")
    return Recorded.open(file.parent / path, name=name)


def _settings_file(folder: Path) -> Path | None:
    return next((found for place in (folder, *folder.parents) if (found := place / FILE).is_file()), None)


def _described(file: Path) -> dict[str, dict[str, Any]]:
    try:
        settings = tomllib.loads(file.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InputError(f"{file} must be TOML: {error}") from error
    described = settings.get("evaluators", {})
    if not isinstance(described, dict) or not all(isinstance(one, dict) for one in described.values()):
        raise InputError(f"{file}: evaluators must be tables such as [evaluators.main]")
    return described
