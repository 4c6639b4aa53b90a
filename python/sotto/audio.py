"""Every kind of audio that a caller may have, as the engine's stream."""
from __future__ import annotations

import os
from itertools import chain
from typing import Any, BinaryIO, Callable, Dict, Iterable, Iterator, Optional, Tuple, Union, cast

import numpy as np
import numpy.typing as npt

from . import _native

Array = npt.NDArray[Any]
AudioInput = Union[
    str, "os.PathLike[str]", bytes, bytearray, memoryview, BinaryIO, Array, Iterable[Union[bytes, Array]]
]

SAMPLE_RATE = 16000

_FILE = 0  # sotto_audio_format
_FORMATS = {"u1": 1, "i2": 2, "i4": 3, "f4": 4, "f8": 5}

# Types that the engine does not read: to the nearest one that it does, with full scale kept.
_CONVERSIONS: Dict[str, Tuple[str, Callable[[Array], Array]]] = {
    "f2": ("f4", lambda x: x),
    "f12": ("f8", lambda x: x),
    "f16": ("f8", lambda x: x),
    "i1": ("i2", lambda x: x.astype("i2") << 8),
    "u2": ("i2", lambda x: x.astype("i4") - 2**15),
    "u4": ("i4", lambda x: x.astype("i8") - 2**31),
    "i8": ("i4", lambda x: x >> 32),
    "u8": ("i4", lambda x: (x >> np.uint64(32)).astype("i8") - 2**31),
}

Texts = Dict[str, str]


class Reader:
    """A caller's functions, for the engine: what they raise is kept here, and ends the audio."""

    def __init__(self, read: Callable[[int], Any], seek: Optional[Callable[[int, int], int]] = None) -> None:
        self._read = read
        self._seek = seek
        self.error: Optional[BaseException] = None

    def read(self, size: int) -> Any:
        try:
            piece = self._read(size)
            return b"" if piece is None else piece
        except BaseException as error:
            self.error = error
            return None

    def seek(self, offset: int, whence: int) -> int:
        try:
            assert self._seek is not None
            return self._seek(offset, whence)
        except OSError:
            return -1
        except BaseException as error:
            self.error = error
            return -1


class OpenedAudio:
    """An input that is ready to be read once."""

    def __init__(self, open_native: Callable[[], _native.Audio], reader: Optional[Reader] = None) -> None:
        self.reader = reader
        try:
            self.native = open_native()
        finally:
            self.raise_reader_error()  # what the caller's own function raised says more

    def raise_reader_error(self) -> None:
        if self.reader is not None and self.reader.error is not None:
            raise self.reader.error


def open_audio(audio: AudioInput, sample_rate: int, texts: Texts) -> OpenedAudio:
    """Opens any kind of input. `sample_rate` is that of arrays; files know their own."""
    if isinstance(audio, (str, os.PathLike)):
        path = os.fspath(audio)
        return OpenedAudio(lambda: _native.Audio.open_file(path, texts))
    if hasattr(audio, "__array__") or _is_numbers(audio):
        return _open_array(np.asarray(audio), sample_rate, texts)
    buffer = _as_buffer(audio)
    if buffer is not None and buffer.itemsize > 1:
        return _open_array(np.asarray(buffer), sample_rate, texts)
    if buffer is not None:
        return OpenedAudio(lambda: _native.Audio.open_buffer(buffer, "", _FILE, 0, 0, -1, texts))
    if callable(getattr(audio, "read", None)):
        return _open_file_object(cast(BinaryIO, audio), texts)
    if hasattr(audio, "__iter__"):
        return _open_chunks(iter(cast(Iterable[Union[bytes, Array]], audio)), sample_rate, texts)
    raise TypeError(
        "audio must be a path, bytes, a binary file object, an array of samples or an iterable of chunks, "
        f"not {type(audio).__name__}"
    )


def _as_buffer(audio: Any) -> Optional[memoryview]:
    try:
        return memoryview(audio)
    except TypeError:
        return None


def _is_numbers(audio: Any) -> bool:
    return isinstance(audio, (list, tuple)) and (not audio or isinstance(audio[0], (int, float)))


def _open_file_object(file: BinaryIO, texts: Texts) -> OpenedAudio:
    def read(size: int) -> Any:
        piece = file.read(size)
        if isinstance(piece, str):
            raise TypeError("the file object must be opened in binary mode")
        return piece

    seekable = callable(getattr(file, "seekable", None)) and file.seekable()
    reader = Reader(read, file.seek if seekable else None)
    name = getattr(file, "name", "")
    return _open_reader(reader, name if isinstance(name, str) else "", _FILE, 0, 0, -1.0, texts)


def _open_reader(
    reader: Reader, name: str, form: int, rate: int, channels: int, duration: float, texts: Texts
) -> OpenedAudio:
    seek = reader.seek if reader._seek is not None else None
    return OpenedAudio(
        lambda: _native.Audio.open_reader(reader.read, seek, name, form, rate, channels, duration, texts), reader
    )


def _frames_by_channels(array: Array) -> Array:
    """Of two axes the shorter one is that of the channels."""
    if array.ndim == 1:
        return array.reshape(-1, 1)
    if array.ndim == 2:
        return array.T if array.shape[0] < array.shape[1] else array
    raise ValueError(f"an array of samples has one or two axes, not {array.ndim}")


def _check_type(array: Array) -> str:
    name = array.dtype.str[1:]
    if name not in _FORMATS and name not in _CONVERSIONS:
        raise TypeError(f"samples must be floating-point numbers or integers, not {array.dtype}")
    return name


def _engine_type(name: str) -> str:
    return _CONVERSIONS[name][0] if name in _CONVERSIONS else name


def _converted(piece: Array, name: str) -> Array:
    """A piece as the engine reads it: its own type, byte order and layout."""
    if name in _CONVERSIONS:
        wanted, convert = _CONVERSIONS[name]
        return np.ascontiguousarray(convert(piece), dtype=wanted)
    return np.ascontiguousarray(piece, dtype=name)


def _open_array(array: Array, rate: int, texts: Texts) -> OpenedAudio:
    name = _check_type(array)
    frames = _frames_by_channels(array)
    count, channels = frames.shape
    duration = count / rate if rate > 0 else -1.0
    form = _FORMATS[_engine_type(name)]
    if name in _FORMATS and frames.flags.c_contiguous and frames.dtype.isnative:  # read where it lies
        return OpenedAudio(lambda: _native.Audio.open_buffer(frames, "", form, rate, channels, duration, texts))
    position = 0

    def read(size: int) -> Array:
        nonlocal position
        step = max(1, size // (channels * np.dtype(_engine_type(name)).itemsize))
        piece = _converted(frames[position : position + step], name)
        position += step
        return piece

    return _open_reader(Reader(read), "", form, rate, channels, duration, texts)


def _open_chunks(chunks: Iterator[Union[bytes, Array]], rate: int, texts: Texts) -> OpenedAudio:
    """Pieces of a file, or arrays of samples that are all alike."""
    first = next(chunks, b"")
    every = chain([first], chunks)
    if isinstance(first, (bytes, bytearray, memoryview)):
        pieces: Iterator[Any] = every
        form, channels = _FILE, 0
    else:
        sample = np.asarray(first)
        name, channels = _check_type(sample), _frames_by_channels(sample).shape[1]
        form = _FORMATS[_engine_type(name)]
        pieces = (_chunk_samples(chunk, name, channels) for chunk in every)
    rest = memoryview(b"")

    def read(size: int) -> memoryview:
        nonlocal rest
        while len(rest) == 0:
            piece = next(pieces, None)
            if piece is None:
                return memoryview(b"")
            if len(piece) > 0:
                rest = memoryview(piece).cast("B")
        taken, rest = rest[:size], rest[size:]
        return taken

    return _open_reader(Reader(read), "", form, rate, channels, -1.0, texts)


def _chunk_samples(chunk: Any, name: str, channels: int) -> Array:
    array = np.asarray(chunk)
    frames = _frames_by_channels(array)
    if array.size > 0 and (_check_type(array) != name or frames.shape[1] != channels):
        raise ValueError(
            f"a chunk has {frames.shape[1]} channel(s) of {array.dtype}; the first one had {channels} of {name}"
        )
    return _converted(frames, name).reshape(-1)


def decode_audio(
    audio: AudioInput, sample_rate: int = SAMPLE_RATE, *, track: int = 0, channel: int = -1
) -> npt.NDArray[np.float32]:
    """All samples of an input, mono at 16 kHz; `channel` takes one of its channels instead of mixing them."""
    texts = {"track": str(track), "channel": str(channel)}
    opened = open_audio(audio, sample_rate, texts)
    blocks = []
    while True:
        block = np.empty(SAMPLE_RATE * 60, dtype=np.float32)
        count = opened.native.read_into(block)
        opened.raise_reader_error()
        blocks.append(block[:count])
        if count < len(block):
            return np.concatenate(blocks)
