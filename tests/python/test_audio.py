"""Every kind of input."""
import array
import io
import pathlib

import numpy as np
import pytest

import sotto
from conftest import SAMPLES

PATH = SAMPLES / "pico_en_short.flac"
TEXT = "He still kept his eyes fixed on him as he spoke."


@pytest.fixture(scope="module")
def samples():
    return sotto.decode_audio(PATH)


class Pipe(io.RawIOBase):
    """A file object that cannot seek, and reads little at a time."""

    def __init__(self, data):
        super().__init__()
        self._data = io.BytesIO(data)

    def readable(self):
        return True

    def read(self, size=-1):
        return self._data.read(min(size, 1000))


def chunks_of(data, size):
    return (data[start : start + size] for start in range(0, len(data), size))


FORMS = {
    "str": lambda: str(PATH),
    "path": lambda: PATH,
    "bytes": PATH.read_bytes,
    "bytearray": lambda: bytearray(PATH.read_bytes()),
    "memoryview": lambda: memoryview(PATH.read_bytes()),
    "file": lambda: PATH.open("rb"),
    "BytesIO": lambda: io.BytesIO(PATH.read_bytes()),
    "pipe": lambda: Pipe(PATH.read_bytes()),
    "iterator of bytes": lambda: chunks_of(PATH.read_bytes(), 999),
    "list of bytes": lambda: list(chunks_of(PATH.read_bytes(), 5000)),
    "array": lambda: sotto.decode_audio(PATH),
    "iterator of arrays": lambda: chunks_of(sotto.decode_audio(PATH), 1601),
    "numbers": lambda: sotto.decode_audio(PATH).tolist(),
    "array.array": lambda: array.array("f", sotto.decode_audio(PATH).tobytes()),
}


@pytest.mark.parametrize("form", FORMS)
def test_every_form_gives_the_same_samples(samples, form):
    np.testing.assert_array_equal(sotto.decode_audio(FORMS[form]()), samples)


@pytest.mark.parametrize("form", ["bytes", "pipe", "iterator of arrays"])
def test_every_way_of_reading_is_transcribed(model, form):
    assert model.transcribe(FORMS[form]()).text == TEXT


# Full scale of each type, and how far the values may be off.
TYPES = {
    "float16": (1.0, 1e-3),
    "float32": (1.0, 0),
    "float64": (1.0, 1e-7),
    "longdouble": (1.0, 1e-7),
    "int8": (2.0**7, 2**-7),
    "int16": (2.0**15, 0),
    "int32": (2.0**31, 1e-7),
    "int64": (2.0**63, 1e-7),
    "uint8": (2.0**7, 2**-7),
    "uint16": (2.0**15, 2**-15),
    "uint32": (2.0**31, 1e-7),
    "uint64": (2.0**63, 1e-7),
}


@pytest.mark.parametrize("name", TYPES)
@pytest.mark.parametrize("order", ["=", ">"])
def test_every_type_of_number(samples, name, order):
    scale, off = TYPES[name]
    wide = samples[:20000].astype(np.longdouble) * scale
    if name.startswith("uint"):
        wide += scale
    array = wide.astype(name).astype(np.dtype(name).newbyteorder(order))
    np.testing.assert_allclose(sotto.decode_audio(array), samples[:20000], rtol=0, atol=off)


@pytest.mark.parametrize("name", ["bool", "complex64", "datetime64[s]", "U3"])
def test_other_types_are_refused(name):
    with pytest.raises(TypeError, match="floating-point numbers or integers"):
        sotto.decode_audio(np.zeros(10, dtype=name))


def test_layouts(samples):
    stereo = np.stack([samples, np.zeros_like(samples)])  # channels first
    half = sotto.decode_audio(stereo)
    np.testing.assert_allclose(half, samples / 2, atol=2**-15)
    np.testing.assert_array_equal(sotto.decode_audio(stereo.T.copy()), half)
    np.testing.assert_array_equal(sotto.decode_audio(stereo, channel=0), samples)
    np.testing.assert_array_equal(sotto.decode_audio(stereo[0:1]), samples)
    np.testing.assert_array_equal(sotto.decode_audio(samples[::-1][::-1]), samples)  # a view that is not contiguous
    twice = np.repeat(samples, 2)[::2]
    np.testing.assert_array_equal(sotto.decode_audio(twice), samples)
    with pytest.raises(ValueError, match="one or two axes"):
        sotto.decode_audio(np.zeros((2, 2, 2)))


@pytest.mark.parametrize("rate", [8000, 22050, 44100, 48000])
def test_sample_rates(rate):
    seconds = np.arange(rate) / rate
    tone = np.sin(2 * np.pi * 440 * seconds)
    heard = sotto.decode_audio(tone, sample_rate=rate)
    assert abs(len(heard) - 16000) <= 2
    expected = np.sin(2 * np.pi * 440 * np.arange(len(heard)) / 16000)
    assert np.abs(heard[500:-500] - expected[500:-500]).max() < 0.02


def test_iterators_of_arrays_may_have_a_rate(model, samples):
    doubled = np.repeat(samples, 2)
    halves = chunks_of(doubled, 7777)
    assert model.transcribe(halves, sample_rate=32000).text == TEXT


def test_chunks_must_be_alike(samples):
    with pytest.raises(ValueError, match="the first one had 1 of f4"):
        sotto.decode_audio([samples, samples.astype("i2")])


class Broken(Exception):
    pass


def test_what_an_iterator_raises_is_heard(model, samples):
    def breaking():
        yield samples
        raise Broken("the cable came off")

    with pytest.raises(Broken, match="cable"):
        list(model.transcribe(breaking()).segments)
    with pytest.raises(Broken, match="cable"):
        sotto.decode_audio(breaking())


def test_what_a_file_object_raises_is_heard(model):
    class File:
        def read(self, size):
            raise Broken("unplugged")

    with pytest.raises(Broken, match="unplugged"):
        model.transcribe(File())


def test_inputs_that_make_no_sense(model):
    with pytest.raises(TypeError, match="not int"):
        model.transcribe(7)
    with pytest.raises(TypeError, match="binary mode"):
        model.transcribe(io.StringIO("text"))
    with pytest.raises(sotto.AudioError, match="format is unknown"):
        model.transcribe(b"no audio at all" * 100)
    with pytest.raises(sotto.UsageError, match="sample rate of 5 Hz"):
        model.transcribe(np.zeros(100), sample_rate=5)
    with pytest.raises(sotto.AudioError, match="0 bytes"):
        model.transcribe(iter([]))
    with pytest.raises(OSError, match="does not exist"):
        model.transcribe(pathlib.Path("/no/such/file.mp3"))


def test_silence_has_no_segments(model):
    result = model.transcribe(np.zeros(16000 * 5, dtype=np.int16))
    assert list(result.segments) == []
    assert result.info.complete
    assert result.info.duration == 5
    assert result.text == ""
    assert list(model.transcribe(np.zeros(0, dtype=np.float32)).segments) == []


def test_a_long_array_is_not_copied(tmp_path):
    """Ten minutes of samples are 38 MB; transcribing them must not need that again."""
    import subprocess
    import sys

    script = """
import resource, numpy as np, sotto
def peak(): return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
model = sotto.Model(device="cpu")
noise = np.random.default_rng(1).standard_normal(16000 * 600, dtype=np.float32) * np.float32(1e-4)
list(model.transcribe(noise[: 16000 * 60], vad=True).segments)
before = peak()
list(model.transcribe(noise, vad=True).segments)
print((peak() - before) / noise.nbytes)
"""
    answer = subprocess.run([sys.executable, "-c", script], check=True, capture_output=True, text=True)
    assert float(answer.stdout) < 0.5
