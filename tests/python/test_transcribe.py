"""Segments as they come, and everything around them."""
import dataclasses
import gc
import logging
import signal
import subprocess
import sys
import threading
import time

import pytest

import sotto
from conftest import SAMPLES

PATH = SAMPLES / "slt_en.flac"


def test_segments_and_info(model):
    segments, info = model.transcribe(PATH, word_timestamps=True)
    found = list(segments)
    assert len(found) == 3
    assert [segment.id for segment in found] == [0, 1, 2]
    first = found[0]
    assert first.text.startswith(" He could hardly believe")
    assert 0 <= first.start < first.end <= found[1].start
    assert "".join(word.text for word in first.words) == first.text
    assert all(first.start <= word.start <= word.end <= first.end for word in first.words)
    assert first.tokens and first.language == "en" and first.suspect == ""
    assert dataclasses.asdict(first)["avg_logprob"] < 0
    assert info.language == "en" and info.language_probability > 0.9
    assert info.all_language_probs[0][0] == "en"
    assert sum(probability for _, probability in info.all_language_probs) == pytest.approx(1)
    assert info.duration == pytest.approx(12.385, abs=0.01)
    assert info.complete and info.model == "nano"
    with pytest.raises(StopIteration):
        next(segments)


@pytest.mark.usefixtures("one_ahead")
def test_segments_come_before_the_end(model, long_speech):
    segments, info = model.transcribe(long_speech)
    assert next(segments).text
    assert not info.complete
    assert info.language == "en"
    segments.cancel()
    rest = list(segments)
    assert not info.complete and len(rest) < 40


@pytest.mark.usefixtures("one_ahead")
def test_work_waits_for_its_reader(model, long_speech):
    progress = []
    segments, info = model.transcribe(long_speech, on_progress=lambda done, total: progress.append(done))
    assert info.language == "en"  # the first segment is ready or about to be; nobody takes it
    time.sleep(0.3)
    assert progress == [0]
    assert len(list(segments)) > 5
    assert info.complete and len(progress) > 3


def test_who_drops_the_segments_ends_the_work(model, long_speech):
    ended = threading.active_count()
    result = model.transcribe(long_speech)
    next(result.segments)
    del result
    gc.collect()
    for thread in [each for each in threading.enumerate() if each.name == "sotto"]:
        thread.join(10)
    assert threading.active_count() <= ended


def test_progress(model):
    seen = []
    result = model.transcribe(PATH, on_progress=lambda done, total: seen.append((done, total)))
    assert result.text
    assert seen[0][0] == 0 and seen == sorted(seen)
    assert 11 < seen[-1][0] <= seen[-1][1] == pytest.approx(12.385, abs=0.01)


def test_a_callback_that_raises_ends_the_work(model, long_speech):
    def on_progress(done, total):
        raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        list(model.transcribe(long_speech, on_progress=on_progress).segments)


def test_options(model):
    german = model.transcribe(SAMPLES / "pico_de.flac")
    assert german.info.language == "de"
    given = model.transcribe(PATH, language="en", temperature=[0.0, 0.4], suppress_tokens=[-1], beam_size=1)
    assert given.info.language == "en" and given.info.all_language_probs == []
    assert given.info.options["beam_size"] == 1
    assert model.transcribe(PATH, language=None).text
    with pytest.raises(TypeError, match="unexpected keyword argument 'beam_width'"):
        model.transcribe(PATH, beam_width=5)
    with pytest.raises(TypeError, match="unexpected keyword argument 'device'"):
        model.transcribe(PATH, device="cpu")
    with pytest.raises(sotto.UsageError, match="'beam-size' takes 1 to 64, not 0"):
        model.transcribe(PATH, beam_size=0)
    with pytest.raises(ValueError, match="takes a whole number, not 'five'"):
        model.transcribe(PATH, beam_size="five")
    with pytest.raises(sotto.Error, match="klingon"):
        model.transcribe(PATH, language="klingon")


def test_language_detection(model):
    languages = model.detect_language(SAMPLES / "pico_de.flac")
    assert languages[0][0] == "de" and languages[0][1] > 0.5
    assert {"en", "de"} <= {code for code, _ in languages}
    assert model.detect_language(PATH, languages="de,fr")[0][0] in ("de", "fr")


def test_threads_share_a_model(model):
    names = ["slt_en.flac", "pico_de.flac", "pico_en_short.flac", "bdl_en_long.flac"]
    alone = {name: model.transcribe(SAMPLES / name).text for name in names}
    together = {}

    def work(name):
        together[name] = model.transcribe(SAMPLES / name).text

    threads = [threading.Thread(target=work, args=(name,)) for name in names]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert together == alone


def test_the_interpreter_goes_on_meanwhile(model, long_speech):
    waiting = threading.Thread(target=model.transcribe(long_speech).document, args=("txt",))
    waiting.start()
    steps = 0
    while waiting.is_alive():
        steps += 1
    assert steps > 1000


def test_documents(model, tmp_path):
    result = model.transcribe(PATH, word_timestamps=True)
    for name in sotto.output_formats():
        sotto.write(result, name, tmp_path / f"talk.{name}")
        assert "believe" in (tmp_path / f"talk.{name}").read_text(encoding="utf-8")
    with open(tmp_path / "narrow.srt", "w", encoding="utf-8") as file:
        sotto.write(result, "srt", file, max_line_width=20, max_lines=1)
    lines = (tmp_path / "narrow.srt").read_text().splitlines()
    assert max(map(len, lines)) <= len("00:00:00,000 --> 00:00:00,000")
    assert result.text.startswith("He could hardly") and "\n" not in result.text
    with pytest.raises(sotto.UsageError, match="there is no output format 'docx'"):
        result.document("docx")
    assert len(list(result.segments)) == 3  # a document takes nothing away


def test_messages_go_to_logging(caplog):
    with caplog.at_level(logging.DEBUG, logger="sotto"), pytest.warns(RuntimeWarning):
        sotto.Model(device="cuda:77").unload()
    assert any("cuda:77" in record.message and record.levelname == "WARNING" for record in caplog.records)


INTERRUPTED = """
import os, signal, sys, threading, time
import numpy as np, sotto
model = sotto.Model(device="cpu")
speech = np.tile(sotto.decode_audio({path!r}), 100)
result = model.transcribe(speech)
{before}
threading.Timer(0.5, lambda: (print(time.monotonic(), flush=True), os.kill(os.getpid(), signal.SIGINT))).start()
try:
    {work}
    print("went on")
except KeyboardInterrupt:
    print(time.monotonic(), flush=True)
    print("complete" if result.info.complete else "stopped")
"""


@pytest.mark.parametrize(
    ("before", "work"),
    [("", "list(result.segments)"), ("", "result.text"), ("next(result.segments)", "time.sleep(60)")],
)
def test_ctrl_c(before, work):
    script = INTERRUPTED.format(path=str(SAMPLES / "bdl_en_long.flac"), before=before, work=work)
    answer = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60)
    sent, heard, state = answer.stdout.split()
    print(f"{work}: {(float(heard) - float(sent)) * 1000:.1f} ms from the signal to KeyboardInterrupt")
    assert state == "stopped" and answer.returncode == 0, answer.stderr


def test_a_program_may_end_in_the_middle():
    script = f"""
import numpy as np, sotto
model = sotto.Model(device="cpu")
results = [model.transcribe(np.tile(sotto.decode_audio({str(SAMPLES / 'bdl_en_long.flac')!r}), 50)) for _ in range(3)]
print(next(results[0].segments).id)
"""
    answer = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60)
    assert (answer.stdout, answer.stderr, answer.returncode) == ("0\n", "", 0)


def test_ctrl_c_without_a_handler_ends_the_program():
    script = INTERRUPTED.format(path=str(SAMPLES / "bdl_en_long.flac"), before="", work="list(result.segments)")
    script = script.replace("except KeyboardInterrupt", "except ZeroDivisionError")
    answer = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60)
    assert answer.returncode in (-signal.SIGINT, 130, 1) and "KeyboardInterrupt" in answer.stderr
