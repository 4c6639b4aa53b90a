"""pywhispercpp's names over Sotto."""
import math

import numpy as np
import pytest

import sotto
from conftest import SAMPLES
from sotto.compat.pywhispercpp import constants, utils
from sotto.compat.pywhispercpp.model import Model, Segment

PATH = str(SAMPLES / "slt_en.flac")


@pytest.fixture(scope="module")
def whisper():
    return Model("nano", n_threads=2, use_gpu=False)


def test_segments(whisper):
    segments = whisper.transcribe(PATH)
    assert isinstance(segments, list) and len(segments) == 3
    first = segments[0]
    assert isinstance(first, Segment) and isinstance(first.t0, int)
    assert first.t0 == 40 and 400 < first.t1 < 500
    assert first.text.startswith("He could hardly") and first.text == first.text.strip()
    assert math.isnan(first.probability)
    assert str(first) == repr(first) == f"t0={first.t0}, t1={first.t1}, text={first.text}, probability=nan"
    assert 0 < whisper.transcribe(PATH, extract_probability=True)[0].probability <= 1
    assert [each.text for each in whisper.transcribe(sotto.decode_audio(PATH))] == [each.text for each in segments]


def test_defaults_are_those_of_pywhispercpp(whisper):
    params = whisper.get_params()
    assert params["language"] == "en" and params["no_context"] is True and params["n_threads"] == 2
    schema = Model.get_params_schema()
    assert schema is constants.PARAMS_SCHEMA
    assert set(params) == set(schema)
    assert all(set(entry) == {"type", "description", "options", "default"} for entry in schema.values())


def test_parameters_stay(whisper):
    own = Model("nano", context_params={"use_gpu": False, "gpu_device": 0, "flash_attn": True})
    own.transcribe(PATH, offset_ms=5000)
    assert own.get_params()["offset_ms"] == 5000
    again = own.transcribe(PATH)
    assert again[0].t0 >= 500 and again[0].text.startswith("I wouldn't")
    short = own.transcribe(PATH, offset_ms=0, duration_ms=5000)
    assert all(each.t1 <= 510 for each in short)


def test_lengths(whisper):
    words = Model("nano", use_gpu=False).transcribe(PATH, max_len=1, token_timestamps=True, split_on_word=True)
    assert [each.text for each in words[:3]] == ["He", "could", "hardly"]
    pieces = Model("nano", use_gpu=False).transcribe(PATH, max_len=20)
    assert max(len(each.text) for each in pieces) <= 20
    one = Model("nano", use_gpu=False).transcribe(PATH, single_segment=True)
    assert len(one) == 1


def test_languages(whisper):
    german = str(SAMPLES / "pico_de.flac")
    (code, probability), languages = whisper.auto_detect_language(german)
    assert code == "de" and languages["de"] == probability
    by_itself = Model("nano", use_gpu=False, language="auto").transcribe(german)
    assert by_itself[0].text != ""
    assert "de" in Model.available_languages() and Model.lang_max_id() == len(Model.available_languages()) - 1


def test_callbacks(whisper):
    seen = []
    segments = whisper.transcribe(PATH, new_segment_callback=seen.append)
    assert seen == segments
    asked = []
    assert whisper.transcribe(np.tile(sotto.decode_audio(PATH), 20), abort_callback=lambda: not asked.append(1)) == []
    assert asked


def test_other_decoders():
    beam = Model("nano", params_sampling_strategy=1, use_gpu=False, beam_search={"beam_size": 3, "patience": 1.0})
    assert len(beam.transcribe(PATH, n_processors=2)) >= 1
    assert beam._options()["beam_size"] == 3
    greedy = Model("nano", use_gpu=False, temperature=0.2, temperature_inc=0.4, greedy={"best_of": 2})
    options = greedy._options()
    assert options["beam_size"] == 1 and options["best_of"] == 2 and options["temperature"] == [0.2, 0.6, 1.0]


def test_what_means_nothing_here_is_told_once(told):
    for _ in range(2):
        model = Model("nano", use_gpu=False, print_realtime=True, use_openvino=True, redirect_whispercpp_logs_to=None)
        model.transcribe(PATH, audio_ctx=768, n_threads=7, print_progress=False, entropy_thold=2.8)
    names = sorted(str(each.message).split("'")[1] for each in told)
    assert names == sorted("print_realtime use_openvino redirect_whispercpp_logs_to audio_ctx n_threads entropy_thold".split())
    assert {each.filename for each in told} == {__file__}


def test_what_is_unknown_is_a_type_error(whisper):
    with pytest.raises(TypeError, match="speed_up"):
        whisper.transcribe(PATH, speed_up=True)
    with pytest.raises(TypeError, match="tiles"):
        Model("nano", tiles=3)
    with pytest.raises(TypeError, match="Unknown context_params keys: tiles"):
        Model("nano", context_params={"tiles": 3})
    with pytest.raises(sotto.UnsupportedError, match="prompt_tokens"):
        whisper.transcribe(PATH, prompt_tokens=(1, 2))
    with pytest.raises(FileNotFoundError):
        whisper.transcribe("/no/such/file.mp3")


def test_gpu_parameters_belong_to_the_model(told):
    Model("nano", use_gpu=True, gpu_device=77)
    assert any("no GPU 77" in str(each.message) for each in told)


def test_system_info():
    assert f"Sotto {sotto.__version__}" in Model.system_info() and "cpu" in Model.system_info()


def test_models_are_found_by_name(tmp_path, monkeypatch):
    file = tmp_path / "ggml-tiny.bin"
    file.write_bytes(b"")
    assert utils.resolve_model_path("tiny", str(tmp_path)) == str(file)
    assert utils.resolve_model_path("base", str(tmp_path)) == "base"
    assert utils.resolve_model_path(str(file)) == str(file)
    assert "tiny" in constants.AVAILABLE_MODELS and constants.WHISPER_SAMPLE_RATE == 16000


def test_writers(tmp_path):
    segments = [Segment(0, 376, "One, two."), Segment(376, 361344, 'Three "four".')]
    assert utils.to_timestamp(376) == "00:00:03,760"
    assert utils.to_timestamp(361344, separator=".") == "01:00:13.440"
    assert utils.output_txt(segments, str(tmp_path / "a")).read_text() == 'One, two.\nThree "four".\n'
    assert utils.output_srt(segments, str(tmp_path / "a")).read_text() == (
        '1\n00:00:00,000 --> 00:00:03,760\nOne, two.\n\n2\n00:00:03,760 --> 01:00:13,440\nThree "four".\n\n'
    )
    assert utils.output_vtt(segments, str(tmp_path / "a.vtt")).read_text() == (
        'WEBVTT\n\n00:00:00.000 --> 00:00:03.760\nOne, two.\n\n00:00:03.760 --> 01:00:13.440\nThree "four".\n\n'
    )
    assert utils.output_csv(segments, str(tmp_path / "a")).read_text() == (
        '0, 3760, "One, two."\n3760, 3613440, "Three "four"."\n'
    )
