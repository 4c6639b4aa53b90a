"""faster_whisper's classes over Sotto: `from sotto.compat.faster_whisper import WhisperModel`."""
from __future__ import annotations

from ... import __version__
from .audio import decode_audio
from .transcribe import (
    BatchedInferencePipeline,
    Segment,
    TranscriptionInfo,
    TranscriptionOptions,
    WhisperModel,
    Word,
)
from .utils import available_models, download_model, format_timestamp
from .vad import VadOptions

__all__ = [
    "BatchedInferencePipeline",
    "Segment",
    "TranscriptionInfo",
    "TranscriptionOptions",
    "VadOptions",
    "WhisperModel",
    "Word",
    "__version__",
    "available_models",
    "decode_audio",
    "download_model",
    "format_timestamp",
]
