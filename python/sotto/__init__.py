"""Speech to text on your own hardware, with any Whisper model. See docs/python.md.

>>> segments, info = sotto.Model("nano").transcribe("talk.mp3")
"""
from __future__ import annotations

import logging

from . import _native
from .audio import SAMPLE_RATE, AudioInput, decode_audio
from .devices import Device, devices, doctor, findings
from .errors import (
    AudioError,
    CancelledError,
    DeviceError,
    Error,
    FileError,
    InternalError,
    ModelError,
    OutOfMemoryError,
    UnsupportedError,
    UsageError,
)
from .model import Model
from .options import options_schema
from .output import output_formats, write
from .transcription import Info, Segment, Segments, Transcription, Word

__version__: str = _native.version()

__all__ = [
    "AudioError",
    "AudioInput",
    "CancelledError",
    "Device",
    "DeviceError",
    "Error",
    "FileError",
    "Info",
    "InternalError",
    "Model",
    "ModelError",
    "OutOfMemoryError",
    "SAMPLE_RATE",
    "Segment",
    "Segments",
    "Transcription",
    "UnsupportedError",
    "UsageError",
    "Word",
    "decode_audio",
    "devices",
    "doctor",
    "findings",
    "languages",
    "options_schema",
    "output_formats",
    "write",
]


def languages() -> dict[str, str]:
    """Codes and English names of the languages that Whisper models may know."""
    return dict(_native.languages())


# The engine's messages go where the program's logging sends them, and nowhere by default.
_logger = logging.getLogger("sotto")
_logger.addHandler(logging.NullHandler())
_native.set_log(lambda level, text: _logger.log((level + 1) * 10, text))
