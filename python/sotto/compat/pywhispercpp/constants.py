from __future__ import annotations

import os
from pathlib import Path
from typing import Any, Dict, Tuple

from ...audio import SAMPLE_RATE

WHISPER_SAMPLE_RATE = SAMPLE_RATE
PACKAGE_NAME = "pywhispercpp"
MODELS_DIR = Path(os.environ.get("XDG_DATA_HOME") or Path.home() / ".local/share") / PACKAGE_NAME / "models"

_QUANTISED = {
    "tiny": "-q5_1 -q8_0",
    "tiny.en": "-q5_1 -q8_0",
    "base": "-q5_1 -q8_0",
    "base.en": "-q5_1 -q8_0",
    "small": "-q5_1 -q8_0",
    "small.en": "-q5_1 -q8_0",
    "medium": "-q5_0 -q8_0",
    "medium.en": "-q5_0 -q8_0",
    "large-v1": "",
    "large-v2": "-q5_0 -q8_0",
    "large-v3": "-q5_0",
    "large-v3-turbo": "-q5_0 -q8_0",
}
AVAILABLE_MODELS = sorted(name + kind for name, kinds in _QUANTISED.items() for kind in ["", *kinds.split()])


def _entry(kind: type, default: Any, description: str) -> Dict[str, Any]:
    return {"type": kind, "description": description, "options": None, "default": default}


PARAMS_SCHEMA: Dict[str, Dict[str, Any]] = {
    "n_threads": _entry(int, None, "CPU threads; of the constructor only"),
    "n_max_text_ctx": _entry(int, 16384, "most tokens of earlier text that a window is given"),
    "offset_ms": _entry(int, 0, "where in the audio to begin, in milliseconds"),
    "duration_ms": _entry(int, 0, "how much of the audio to take, in milliseconds; 0: all"),
    "translate": _entry(bool, False, "write English, whatever is spoken"),
    "no_context": _entry(bool, True, "ignored: every call begins without the text of earlier calls"),
    "no_timestamps": _entry(bool, False, "segments are whole windows"),
    "single_segment": _entry(bool, False, "segments are whole windows"),
    "print_special": _entry(bool, False, "ignored: nothing is printed"),
    "print_progress": _entry(bool, True, "ignored: nothing is printed"),
    "print_realtime": _entry(bool, False, "ignored: nothing is printed"),
    "print_timestamps": _entry(bool, True, "ignored: nothing is printed"),
    "token_timestamps": _entry(bool, False, "times of words, for max_len"),
    "thold_pt": _entry(float, 0.01, "ignored: words are timed by the model's attention"),
    "thold_ptsum": _entry(float, 0.01, "ignored: words are timed by the model's attention"),
    "max_len": _entry(int, 0, "most characters of a segment, cut between words; 0: as the model cuts"),
    "split_on_word": _entry(bool, False, "ignored: segments are always cut between words"),
    "max_tokens": _entry(int, 0, "most tokens for one window; 0: half of what the model has room for"),
    "debug_mode": _entry(bool, False, "ignored"),
    "audio_ctx": _entry(int, 0, "ignored: a window is always 30 seconds"),
    "tdrz_enable": _entry(bool, False, "ignored: speakers are not told apart"),
    "initial_prompt": _entry(str, None, "text that the model takes as spoken before the audio"),
    "prompt_tokens": _entry(tuple, None, "refused: the prompt is text"),
    "prompt_n_tokens": _entry(int, 0, "refused with prompt_tokens"),
    "carry_initial_prompt": _entry(bool, False, "give the initial prompt to every window"),
    "language": _entry(str, "en", "spoken language; None, '' or 'auto': find it out"),
    "detect_language": _entry(bool, False, "find out the language"),
    "suppress_blank": _entry(bool, True, "a window's text does not begin with a space alone"),
    "suppress_non_speech_tokens": _entry(bool, False, "another name of suppress_nst"),
    "suppress_nst": _entry(bool, False, "leave out symbols that are not speech"),
    "suppress_regex": _entry(str, "", "ignored: tokens are not suppressed by pattern"),
    "temperature": _entry(float, 0.0, "first temperature to try"),
    "max_initial_ts": _entry(float, 1.0, "the first text of a window starts at most this many seconds into it"),
    "length_penalty": _entry(float, -1.0, "texts are compared by their length to this power; below 0: 1"),
    "temperature_inc": _entry(float, 0.2, "what is added to the temperature until 1 while a text is not good enough"),
    "entropy_thold": _entry(float, 2.4, "ignored: repetition is found by its compression ratio"),
    "logprob_thold": _entry(float, -1.0, "a text with a lower average log-probability is tried again"),
    "no_speech_thold": _entry(float, 0.6, "a window with a higher no-speech probability may count as silence"),
    "greedy": _entry(dict, {"best_of": 5}, "best_of: texts drawn at temperatures above 0"),
    "beam_search": _entry(dict, {"beam_size": -1, "patience": -1.0}, "for params_sampling_strategy other than 0"),
    "vad": _entry(bool, False, "leave out stretches without speech"),
    "vad_model_path": _entry(str, None, "ignored: Sotto has its own speech detector"),
}

_NOT_PRINTED = "Sotto prints nothing"
_BY_ATTENTION = "words are timed by the model's attention"
# What needs no word because it is so anyway, and why everything else is ignored.
IGNORED: Dict[str, Tuple[Any, str]] = {
    "no_context": (True, "every call begins without the text of earlier calls"),
    "print_special": (False, _NOT_PRINTED),
    "print_progress": (False, _NOT_PRINTED),
    "print_realtime": (False, _NOT_PRINTED),
    "print_timestamps": (False, _NOT_PRINTED),
    "thold_pt": (0.01, _BY_ATTENTION),
    "thold_ptsum": (0.01, _BY_ATTENTION),
    "split_on_word": (True, "segments are always cut between words"),
    "debug_mode": (False, "there is none"),
    "audio_ctx": (0, "a window is always 30 seconds"),
    "tdrz_enable": (False, "speakers are not told apart"),
    "suppress_regex": ("", "tokens are not suppressed by pattern"),
    "entropy_thold": (2.4, "repetition is found by its compression ratio"),
    "vad_model_path": (None, "Sotto has its own speech detector"),
}
