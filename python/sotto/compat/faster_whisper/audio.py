from __future__ import annotations

from typing import Any, BinaryIO, Tuple, Union

import numpy as np
import numpy.typing as npt

from ...audio import SAMPLE_RATE
from ...audio import decode_audio as _decode
from ...errors import UsageError

Samples = npt.NDArray[np.float32]


def decode_audio(
    input_file: Union[str, BinaryIO], sampling_rate: int = SAMPLE_RATE, split_stereo: bool = False
) -> Union[Samples, Tuple[Samples, Samples]]:
    """All samples of a file at 16 kHz: mixed to mono, or the left and the right channel."""
    if sampling_rate != SAMPLE_RATE:
        raise UsageError(f"Whisper models hear {SAMPLE_RATE} Hz; audio is decoded to nothing else")
    if not split_stereo:
        return _decode(input_file)
    source: Any = input_file
    if hasattr(source, "read"):
        source = source.read()  # both channels read it from its beginning
    return _decode(source, channel=0), _decode(source, channel=1)
