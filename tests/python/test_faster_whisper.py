"""faster_whisper's names over Sotto."""
import dataclasses
import inspect
import io
import wave

import numpy as np
import pytest

import sotto
from conftest import SAMPLES
from sotto.compat.faster_whisper import (
    BatchedInferencePipeline,
    Segment,
    TranscriptionInfo,
    VadOptions,
    WhisperModel,
    Word,
    available_models,
    decode_audio,
    download_model,
    format_timestamp,
)

PATH = str(SAMPLES / "slt_en.flac")
LONG = str(SAMPLES / "bdl_en_long.flac")


@pytest.fixture(scope="module")
def whisper():
    return WhisperModel("nano", device="cpu", compute_type="int8")


def test_results_have_the_shape(whisper, model):
    segments, info = whisper.transcribe(PATH, word_timestamps=True)
    assert inspect.isgenerator(segments)
    found = list(segments)
    assert all(isinstance(each, Segment) and isinstance(each.words[0], Word) for each in found)
    assert [each.id for each in found] == [1, 2, 3]
    ours = model.transcribe(PATH, word_timestamps=True, vad=False)
    assert [each.text for each in found] == [each.text for each in ours.segments]
    assert [field.name for field in dataclasses.fields(Segment)] == (
        "id seek start end text tokens avg_logprob compression_ratio no_speech_prob words temperature".split()
    )
    assert isinstance(info, TranscriptionInfo)
    assert (info.language, info.duration_after_vad) == ("en", info.duration)
    assert info.language_probability > 0.9 and info.all_language_probs[0][0] == "en"
    assert info.transcription_options.beam_size == 5
    assert info.transcription_options.temperatures == [0.0, 0.2, 0.4, 0.6, 0.8, 1.0]
    assert info.vad_options == VadOptions()


def test_without_words_there_are_none(whisper):
    segments, info = whisper.transcribe(PATH, language="en")
    assert next(segments).words is None
    assert info.language_probability == 1 and info.all_language_probs is None


def test_inputs(whisper):
    with open(PATH, "rb") as file:
        from_file = [each.text for each in whisper.transcribe(file)[0]]
    from_array = [each.text for each in whisper.transcribe(decode_audio(PATH))[0]]
    assert from_file == from_array == [each.text for each in whisper.transcribe(PATH)[0]]


def test_options_are_passed_on(whisper):
    def text(**options):
        return "".join(each.text for each in whisper.transcribe(PATH, **options)[0])

    prefixed = text(prefix="Well,", beam_size=1, temperature=0.0, suppress_tokens=None, max_new_tokens=30)
    assert prefixed.strip().startswith("Well")
    assert text(compression_ratio_threshold=None, log_prob_threshold=None, no_speech_threshold=None) == text()
    filtered = whisper.transcribe(PATH, vad_filter=True, vad_parameters={"min_silence_duration_ms": 300})
    assert list(filtered[0]) and filtered[1].vad_options.min_silence_duration_ms == 300


def test_clips(whisper):
    segments, info = whisper.transcribe(LONG, clip_timestamps="5,10,12")
    found = list(segments)
    assert found[0].start >= 5 and info.duration > 15
    assert {bool(each.start >= 12 or each.end <= 10.05) for each in found} == {True}
    assert any(each.start >= 12 for each in found)
    by_list = whisper.transcribe(LONG, clip_timestamps=[5.0, 10.0, 12.0])[0]
    assert [each.text for each in by_list] == [each.text for each in found]


def test_batched(whisper):
    segments, info = BatchedInferencePipeline(whisper).transcribe(LONG, without_timestamps=False)
    assert "creatures of the sun" in "".join(each.text for each in segments)
    assert info.transcription_options.without_timestamps is False
    cut = BatchedInferencePipeline(whisper).transcribe(LONG, clip_timestamps=[{"start": 5.0, "end": 10.0}])[0]
    assert all(5 <= each.start and each.end <= 10.05 for each in cut)


def test_what_means_nothing_here_is_told_once(whisper, told):
    for _ in range(2):
        whisper.transcribe(PATH, chunk_length=15, log_progress=True, hallucination_silence_threshold=2.0)
        BatchedInferencePipeline(whisper).transcribe(PATH, batch_size=16)
        whisper.transcribe(PATH, vad_filter=True, vad_parameters=VadOptions(neg_threshold=0.2))
        WhisperModel("nano", device="cpu", num_workers=4, download_root="/tmp", flash_attention=True)
    names = sorted(str(each.message).split("'")[1] for each in told)
    assert names == sorted(
        "chunk_length log_progress hallucination_silence_threshold batch_size neg_threshold "
        "num_workers download_root flash_attention".split()
    )
    assert {each.filename for each in told} == {__file__}


def test_what_is_unknown_is_a_type_error(whisper):
    with pytest.raises(TypeError, match="beam_width"):
        whisper.transcribe(PATH, beam_width=5)
    with pytest.raises(TypeError, match="quantum"):
        WhisperModel("nano", quantum=True)
    with pytest.raises(TypeError):
        whisper.transcribe(PATH, vad_parameters={"loudness": 3})


def test_what_cannot_be_done_is_refused(whisper):
    with pytest.raises(sotto.UnsupportedError, match="initial_prompt"):
        whisper.transcribe(PATH, initial_prompt=[1, 2, 3])
    with pytest.raises(sotto.UnsupportedError, match="files"):
        WhisperModel("nano", files={"model.bin": b""})
    with pytest.raises(sotto.UnsupportedError, match="features"):
        whisper.detect_language(features=np.zeros((80, 3000)))
    with pytest.raises(OSError):
        WhisperModel("/no/such/model")


def test_devices(told):
    WhisperModel("nano", device="cuda", device_index=[77, 78])
    texts = [str(each.message) for each in told]
    assert any("device_index" in text for text in texts) and any("cuda:77" in text for text in texts)


def test_languages(whisper):
    code, probability, languages = whisper.detect_language(decode_audio(str(SAMPLES / "pico_de.flac")))
    assert (code, probability) == languages[0] and code == "de"
    assert {"en", "de"} <= set(whisper.supported_languages)


def test_helpers():
    assert {"tiny", "large-v3", "turbo"} <= set(available_models())
    assert format_timestamp(3661.5) == "01:01:01.500"
    assert format_timestamp(61.25) == "01:01.250"
    assert format_timestamp(1.0, always_include_hours=True, decimal_marker=",") == "00:00:01,000"
    left, right = decode_audio(two_channels(), split_stereo=True)
    assert len(left) == len(right) and np.abs(left).max() > 0.4 and np.abs(right).max() == 0
    with pytest.raises(sotto.UsageError):
        decode_audio(PATH, sampling_rate=8000)
    with pytest.raises(OSError):
        download_model("tiny-that-nobody-has")


def two_channels():
    """A WAV file with sound on the left alone."""
    file = io.BytesIO()
    with wave.open(file, "wb") as writer:
        writer.setnchannels(2)
        writer.setsampwidth(2)
        writer.setframerate(16000)
        both = np.zeros((16000, 2), dtype="<i2")
        both[:, 0] = 16000
        writer.writeframes(both.tobytes())
    file.seek(0)
    return file
