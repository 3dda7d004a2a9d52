"""House rules: what importing costs, what resolves, how long files are, and what no file may say."""

from __future__ import annotations

import importlib
import pkgutil
import re
import subprocess
import sys
from pathlib import Path
from statistics import median

import pytest

import check_workbench

ROOT = Path(__file__).parent.parent
HEAVY = ("ibis", "sklearn", "scipy", "ipywidgets", "matplotlib", "duckdb", "pandas", "numpy", "yaml", "jsonschema")
SOURCES = sorted(p for p in (ROOT / "check_workbench").rglob("*.py") if "__pycache__" not in p.parts)
MODULES = [".".join(p.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__") for p in SOURCES]
TEXTS = (".py", ".md", ".toml", ".yaml", ".yml", ".json", ".jsonl", ".csv", ".ipynb", ".svg", ".ts", ".tsx", ".css", "")
MACHINE = re.compile(r"(?<![\w.])/(?:root|home|Users|tmp|work|mnt|opt|var)/[\w.-]+")


def python(code: str) -> str:
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT)
    return done.stdout.strip()


def tracked() -> list[Path]:
    try:
        listed = subprocess.run(["git", "ls-files", "-z"], capture_output=True, text=True, check=True, cwd=ROOT).stdout
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("needs a git checkout to know which files belong to the project")
    return [ROOT / name for name in listed.split("\0") if name and (ROOT / name).is_file()]


@pytest.mark.parametrize("name", MODULES)
def test_every_submodule_imports(name: str) -> None:
    importlib.import_module(name)


@pytest.mark.parametrize("name", check_workbench.__all__)
def test_every_public_name_resolves_and_has_a_docstring(name: str) -> None:
    assert getattr(check_workbench, name).__doc__


def test_public_names_resolve_after_every_submodule_was_imported() -> None:
    code = f"""
import importlib, check_workbench as cw
for name in {MODULES!r}:
    importlib.import_module(name)
print([name for name in cw.__all__ if not callable(getattr(cw, name))])
"""
    assert python(code) == "[]"


def test_an_unknown_public_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'calibrat'"):
        _ = check_workbench.calibrat


@pytest.mark.parametrize("module", ["check_workbench", "check_workbench.cli"])
def test_importing_loads_no_heavy_library(module: str) -> None:
    loaded = python(f"import sys, {module}; print([n for n in {HEAVY!r} if n in sys.modules])")
    assert loaded == "[]"


def test_importing_is_fast() -> None:
    code = "import time; t = time.process_time(); import check_workbench.cli; print(time.process_time() - t)"
    assert min(float(python(code)) for _ in range(3)) < 0.3


def test_files_are_short() -> None:
    lengths = {str(p.relative_to(ROOT)): len(p.read_text(encoding="utf-8").splitlines()) for p in SOURCES}
    assert {name: n for name, n in lengths.items() if n > 350} == {}
    assert median(lengths.values()) <= 120


def test_there_is_no_module_for_odds_and_ends() -> None:
    banned = {"utils", "util", "helpers", "helper", "common", "misc"}
    assert [p for p in SOURCES if p.stem in banned or banned & set(p.parent.parts)] == []


def test_no_module_bears_the_name_of_a_public_function() -> None:
    top = {m.name for m in pkgutil.iter_modules(check_workbench.__path__)}
    assert top & set(check_workbench.__all__) == set()


def test_no_file_names_a_place_on_somebodys_machine() -> None:
    found = []
    for path in tracked():
        if path.suffix not in TEXTS or path.name == "test_package.py":
            continue
        text = path.read_text(encoding="utf-8", errors="replace")
        found += [f"{path.relative_to(ROOT)}: {m.group()}" for m in MACHINE.finditer(text)]
    assert found == []


def test_the_version_is_that_of_the_installed_distribution() -> None:
    from importlib.metadata import PackageNotFoundError, version

    try:
        installed = version("check-workbench")
    except PackageNotFoundError:
        pytest.skip("check-workbench is not installed here, only on the path")
    assert installed == check_workbench.__version__


def test_notebooks_are_listed_in_the_readme() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert [p.name for p in (ROOT / "notebooks").glob("*.ipynb") if p.name not in readme] == []


def test_every_console_script_resolves() -> None:
    import tomllib

    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    for target in project["scripts"].values():
        module, name = target.split(":")
        assert callable(getattr(importlib.import_module(module), name))
