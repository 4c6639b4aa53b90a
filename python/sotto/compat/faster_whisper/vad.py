from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import Any, Dict, Mapping, Optional, Union

from .._ignored import ignore_changed

_OTHER_DETECTOR = "Sotto's own speech detector has no such setting"


@dataclass
class VadOptions:
    threshold: float = 0.5
    neg_threshold: Optional[float] = None
    min_speech_duration_ms: int = 0
    max_speech_duration_s: float = float("inf")
    min_silence_duration_ms: int = 2000
    speech_pad_ms: int = 400
    min_silence_at_max_speech: int = 98
    use_max_poss_sil_at_max_speech: bool = True


def vad_options_from(given: Union[None, Mapping[str, Any], VadOptions]) -> VadOptions:
    if isinstance(given, VadOptions):
        return given
    return VadOptions(**(given or {}))


def engine_options(vad: VadOptions) -> Dict[str, Any]:
    ignored = ("neg_threshold", "min_silence_at_max_speech", "use_max_poss_sil_at_max_speech")
    defaults = asdict(VadOptions())
    ignore_changed("VadOptions", asdict(vad), {name: (defaults[name], _OTHER_DETECTOR) for name in ignored})
    return {
        "vad_threshold": vad.threshold,
        "vad_min_speech_duration_ms": vad.min_speech_duration_ms,
        "vad_max_speech_duration_s": 0 if math.isinf(vad.max_speech_duration_s) else vad.max_speech_duration_s,
        "vad_min_silence_duration_ms": vad.min_silence_duration_ms,
        "vad_speech_pad_ms": vad.speech_pad_ms,
    }
