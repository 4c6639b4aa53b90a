"""The package and the program give the same, bit for bit, for all samples."""
import json
import subprocess

import pytest

import sotto
from conftest import SAMPLES

FILES = sorted(path.name for path in SAMPLES.glob("*.flac"))


@pytest.fixture(scope="module")
def by_program(program, tmp_path_factory):
    folder = tmp_path_factory.mktemp("program")
    command = [program, "transcribe", "--quiet", "--device", "cpu", "--word-timestamps"]
    subprocess.run([*command, "-f", "json,srt", "-o", folder, *(SAMPLES / name for name in FILES)], check=True)
    return folder


def test_there_are_samples():
    assert len(FILES) >= 10


@pytest.mark.parametrize("name", FILES)
def test_documents_are_equal(model, by_program, name):
    result = model.transcribe(SAMPLES / name, word_timestamps=True)
    stem = name[: -len(".flac")]
    assert result.document("srt") == (by_program / f"{stem}.srt").read_text(encoding="utf-8")
    ours = json.loads(result.document("json"))
    theirs = json.loads((by_program / f"{stem}.json").read_text(encoding="utf-8"))
    for document in (ours, theirs):
        for of_the_run in ("model", "device", "checkpoint"):  # as they were written, and where the program keeps its place
            document["options"].pop(of_the_run)
        document["device_record"].pop("why")
    assert ours == theirs
    assert [segment.text for segment in result.segments] == [each["text"] for each in theirs["segments"]]


def test_an_array_gives_the_same_as_its_file(model):
    path = SAMPLES / "slt_en.flac"
    from_file = model.transcribe(path)
    from_array = model.transcribe(sotto.decode_audio(path))
    assert list(from_file.segments) == list(from_array.segments)
