"""Transcripts as documents."""
from __future__ import annotations

import os
from typing import Dict, TextIO, Union

from . import _native
from .options import OptionValue
from .transcription import Transcription


def output_formats() -> Dict[str, str]:
    """The formats that can be written, and what each is."""
    return dict(_native.output_formats())


def write(
    result: Transcription,
    format: str,
    path: Union[str, "os.PathLike[str]", TextIO],
    **options: OptionValue,
) -> None:
    """Writes a transcript ("srt", "json", ...) to a path or a text file object, when all of it is there."""
    document = result.document(format, **options)
    if isinstance(path, (str, os.PathLike)):
        with open(path, "w", encoding="utf-8", newline="\n") as file:
            file.write(document)
    else:
        path.write(document)
