"""What can go wrong. Each class is also one of Python's own, where there is one that fits."""
from __future__ import annotations

from typing import Type


class Error(Exception):
    """A failure; its text is one sentence for people."""


class UsageError(Error, ValueError):
    """An argument or option makes no sense."""


class FileError(Error, OSError):
    """A file could not be read or written."""


class ModelError(Error):
    """A model is damaged, incomplete or of an unknown kind."""


class AudioError(Error):
    """The input holds no usable audio."""


class UnsupportedError(Error):
    """Valid, but this build, device or model cannot do it."""


class OutOfMemoryError(Error, MemoryError):
    """There is not enough memory, here or on the device."""


class CancelledError(Error):
    """The work was ended before it was done."""


class DeviceError(Error):
    """The device that was asked for cannot be used, and falling back was not allowed."""


class InternalError(Error):
    """A mistake in Sotto itself."""


# By the status codes of sotto.h.
_CLASSES: dict[int, Type[Error]] = {
    1: UsageError,
    2: FileError,
    3: ModelError,
    4: AudioError,
    5: UnsupportedError,
    6: OutOfMemoryError,
    7: CancelledError,
    8: DeviceError,
}


def from_status(status: int, sentence: str) -> Error:
    """The exception for a status of the C API; called by the extension."""
    return _CLASSES.get(status, InternalError)(sentence)
