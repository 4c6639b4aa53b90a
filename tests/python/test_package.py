"""The package as a whole: its options, its types, its files, and what the documents say of it."""
import ast
import importlib
import inspect
import json
import os
import pathlib
import re
import subprocess
import sys
from importlib import metadata

import pytest

import sotto
from conftest import ROOT
from sotto.compat import faster_whisper
from sotto.compat.pywhispercpp import constants as pywhispercpp_constants
from sotto.compat.pywhispercpp import model as pywhispercpp_model
from sotto.compat.pywhispercpp import utils as pywhispercpp_utils

SITE = pathlib.Path(os.environ["SOTTO_SITE"])


def test_the_installed_package_is_tested():
    assert pathlib.Path(sotto.__file__).parent == SITE / "sotto"
    assert metadata.version("sotto") == sotto.__version__


def test_the_wheel_holds_the_engine():
    names = {path.name for path in (SITE / "sotto").iterdir()}
    assert {"libsotto.so.0", "sotto-probe", "py.typed", "_native.pyi"} <= names
    assert os.access(SITE / "sotto" / "sotto-probe", os.X_OK)
    with open("/proc/self/maps", encoding="utf-8") as maps:
        loaded = {line.split()[-1] for line in maps if "libsotto" in line}
    assert loaded == {str(SITE / "sotto" / "libsotto.so.0")}


def test_the_schema_is_the_option_list(program):
    listed = json.loads(subprocess.run([program, "config", "--json"], check=True, capture_output=True).stdout)
    schema = {entry["name"]: entry for entry in sotto.options_schema()}
    assert list(schema) == [each["name"].replace("-", "_") for each in listed["options"]]
    for name, entry in schema.items():
        assert isinstance(entry["default"], entry["type"]) and entry["description"], name
        assert entry["choices"] is None or entry["default"] in entry["choices"] or entry["default"] == "", name
    assert schema["beam_size"]["default"] == 5
    assert schema["device"]["of_model"] and not schema["beam_size"]["of_model"]


def test_every_default_may_be_given(model):
    given = {entry["name"]: entry["default"] for entry in sotto.options_schema() if not entry["of_model"]}
    path = ROOT / "samples" / "pico_en_short.flac"
    assert model.transcribe(path, **given).text == model.transcribe(path).text


def test_all_names_exist():
    for module in (sotto, faster_whisper):
        assert all(hasattr(module, name) for name in module.__all__)
    assert sotto.languages()["de"] == "german"


def run_mypy(*arguments):
    environment = {**os.environ, "MYPYPATH": str(SITE)}
    return subprocess.run([sys.executable, "-m", *arguments], capture_output=True, text=True, env=environment, cwd=SITE)


def test_types():
    pytest.importorskip("mypy", reason="mypy, which checks the types, is not installed")
    cache = pathlib.Path(os.environ["SOTTO_SCRATCH"]) / "mypy-cache"
    config = ROOT / "pyproject.toml"
    checked = run_mypy("mypy", "--strict", "--config-file", str(config), "--cache-dir", str(cache), "-p", "sotto")
    assert checked.returncode == 0, checked.stdout + checked.stderr


def test_the_stub_is_the_extension():
    pytest.importorskip("mypy", reason="mypy, which checks the stub, is not installed")
    allowed = ROOT / "tests/python/stubtest_allowlist.txt"
    checked = run_mypy("mypy.stubtest", "sotto._native", "--allowlist", str(allowed), "--ignore-unused-allowlist")
    assert checked.returncode == 0, checked.stdout + checked.stderr


# --- documents ---
def snippets():
    for path in [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]:
        for number, code in enumerate(re.findall(r"<!-- run -->\n```python\n(.*?)```", path.read_text(), re.S), 1):
            yield pytest.param(code, id=f"{path.name}-{number}")


@pytest.mark.parametrize("code", snippets())
def test_snippets_run(code, tmp_path):
    (tmp_path / "samples").symlink_to(ROOT / "samples")
    subprocess.run([sys.executable, "-W", "ignore", "-c", code], check=True, cwd=tmp_path, timeout=120)


def test_the_readme_has_its_example_of_five_lines():
    code = next(iter(snippets())).values[0]
    assert len(code.strip().splitlines()) == 5


@pytest.mark.parametrize("path", sorted((ROOT / "examples").glob("*.py")), ids=lambda path: path.name)
def test_examples_run(path):
    sample = str(ROOT / "samples" / "pico_en_short.flac")
    answer = subprocess.run([sys.executable, path, sample], check=True, capture_output=True, text=True)
    assert "kept his eyes" in answer.stdout


def listed_names():
    """Names in the tables of docs/python.md, by the heading that they stand under."""
    names, heading = {}, ""
    for line in (ROOT / "docs/python.md").read_text().splitlines():
        if line.startswith("#"):
            heading = line.lstrip("# ")
        elif line.startswith("| `"):
            first, state = line.split("|")[1:3]
            if heading in ("faster_whisper", "pywhispercpp"):
                assert state.strip() in ("supported", "ignored", "absent", "refused"), line
            names.setdefault(heading, set()).update(re.findall(r"`([^`]+)`", first))
    return names


def parameters(function):
    return {name for name in inspect.signature(function).parameters if name not in ("self", "params", "model_kwargs")}


def test_the_table_of_faster_whisper_is_complete():
    listed = listed_names()["faster_whisper"]
    expected = set(faster_whisper.__all__)
    for function in (
        faster_whisper.WhisperModel.__init__,
        faster_whisper.WhisperModel.transcribe,
        faster_whisper.WhisperModel.detect_language,
        faster_whisper.BatchedInferencePipeline.transcribe,
        faster_whisper.decode_audio,
        faster_whisper.download_model,
        faster_whisper.format_timestamp,
        faster_whisper.VadOptions,
    ):
        expected |= parameters(function)
    assert expected - listed == set()


def test_the_table_of_pywhispercpp_is_complete():
    listed = listed_names()["pywhispercpp"]
    expected = set(pywhispercpp_constants.PARAMS_SCHEMA)
    for module in (pywhispercpp_model, pywhispercpp_utils, pywhispercpp_constants):
        tree = ast.parse(inspect.getsource(module))
        for node in tree.body:
            if isinstance(node, (ast.FunctionDef, ast.ClassDef)) and not node.name.startswith("_"):
                expected.add(node.name)
    methods = inspect.getmembers(pywhispercpp_model.Model, inspect.isfunction)
    expected |= {name for name, _ in methods if not name.startswith("_")}
    for function in (pywhispercpp_model.Model.__init__, pywhispercpp_model.Model.transcribe):
        expected |= parameters(function)
    assert expected - listed == set()


def test_modules_of_the_drop_ins_can_be_imported():
    for name in ("faster_whisper.transcribe", "faster_whisper.vad", "faster_whisper.audio", "faster_whisper.utils"):
        importlib.import_module(f"sotto.compat.{name}")
