from __future__ import annotations

import math
import os
from pathlib import Path
from typing import Any, Callable, Dict, List, Optional, TextIO, Tuple, Union

import numpy as np
import numpy.typing as npt

import sotto

from ...errors import UnsupportedError
from .._ignored import ignore, ignore_changed
from .constants import IGNORED, PARAMS_SCHEMA, WHISPER_SAMPLE_RATE
from .utils import resolve_model_path

AudioInput = Union[str, "os.PathLike[str]", npt.NDArray[Any]]

_CONTEXT = ("use_gpu", "gpu_device", "flash_attn")
_IGNORED_CONTEXT = ("dtw_token_timestamps", "dtw_aheads_preset", "dtw_n_top", "dtw_mem_size")
_NO_OPENVINO = "Sotto computes with kernels of its own"


class Segment:
    """A stretch of text; its times are in hundredths of a second."""

    def __init__(self, t0: int, t1: int, text: str, probability: float = np.nan) -> None:
        self.t0 = t0
        self.t1 = t1
        self.text = text
        self.probability = probability

    def __str__(self) -> str:
        return f"t0={self.t0}, t1={self.t1}, text={self.text}, probability={self.probability}"

    __repr__ = __str__


class Model:
    def __init__(
        self,
        model: str = "tiny",
        models_dir: Optional[str] = None,
        params_sampling_strategy: int = 0,
        redirect_whispercpp_logs_to: Union[bool, TextIO, str, None] = False,
        use_openvino: bool = False,
        openvino_model_path: Optional[str] = None,
        openvino_device: str = "CPU",
        openvino_cache_dir: Optional[str] = None,
        context_params: Optional[Dict[str, Any]] = None,
        **params: Any,
    ) -> None:
        if redirect_whispercpp_logs_to is not False:
            ignore("Model", "redirect_whispercpp_logs_to", "Sotto's messages go to Python's logging, as 'sotto'")
        ignore_changed(
            "Model",
            {
                "use_openvino": use_openvino,
                "openvino_model_path": openvino_model_path,
                "openvino_device": openvino_device,
                "openvino_cache_dir": openvino_cache_dir,
            },
            {
                "use_openvino": (False, _NO_OPENVINO),
                "openvino_model_path": (None, _NO_OPENVINO),
                "openvino_device": ("CPU", _NO_OPENVINO),
                "openvino_cache_dir": (None, _NO_OPENVINO),
            },
        )
        context = {**(context_params or {}), **{name: params.pop(name) for name in _CONTEXT if name in params}}
        self._check_context(context)
        self.model_path = resolve_model_path(model, models_dir)
        self._beams = params_sampling_strategy != 0
        self._params: Dict[str, Any] = {name: entry["default"] for name, entry in PARAMS_SCHEMA.items()}
        self._set_params(params)
        self._model = sotto.Model(
            self.model_path,
            use_gpu=context.get("use_gpu", True),
            gpu_device=context.get("gpu_device", 0),
            flash_attn=context.get("flash_attn", True),
            threads=self._params["n_threads"] or 0,
        )

    @staticmethod
    def _check_context(context: Dict[str, Any]) -> None:
        unknown = sorted(set(context) - set(_CONTEXT) - set(_IGNORED_CONTEXT))
        if unknown:
            raise TypeError(f"Unknown context_params keys: {', '.join(unknown)}")
        for name in _IGNORED_CONTEXT:
            if name in context:
                ignore("Model", name, "words are timed by the heads that the model names")

    def _set_params(self, given: Dict[str, Any]) -> None:
        """As in pywhispercpp, what is set stays set for later calls."""
        for name in given:
            if name not in PARAMS_SCHEMA:
                raise TypeError(f"Model got an unexpected keyword argument '{name}'")
        ignore_changed("Model", given, IGNORED)
        if given.get("prompt_tokens") is not None:
            raise UnsupportedError("prompt_tokens: Sotto takes the prompt as text (initial_prompt)")
        self._params.update(given)
        if "suppress_non_speech_tokens" in given:
            self._params["suppress_nst"] = given["suppress_non_speech_tokens"]

    def _options(self) -> Dict[str, Any]:
        """What the parameters say, in the engine's options."""
        p = self._params
        beam, best_of = p["beam_search"] or {}, (p["greedy"] or {}).get("best_of", -1)
        steps = int((1 - p["temperature"]) / p["temperature_inc"] + 1e-6) if p["temperature_inc"] > 0 else 0
        options: Dict[str, Any] = {
            "task": "translate" if p["translate"] else "transcribe",
            "language": "auto" if p["detect_language"] else p["language"] or "auto",
            "max_context": p["n_max_text_ctx"] if 0 <= p["n_max_text_ctx"] <= 448 else -1,
            "without_timestamps": p["no_timestamps"] or p["single_segment"],
            "word_timestamps": p["token_timestamps"] or p["max_len"] > 0,
            "max_new_tokens": p["max_tokens"],
            "initial_prompt": p["initial_prompt"],
            "carry_initial_prompt": p["carry_initial_prompt"],
            "suppress_blank": p["suppress_blank"],
            "suppress_tokens": "-1" if p["suppress_nst"] else "",
            "temperature": [round(p["temperature"] + i * p["temperature_inc"], 6) for i in range(steps + 1)],
            "max_initial_timestamp": p["max_initial_ts"],
            "length_penalty": p["length_penalty"] if p["length_penalty"] >= 0 else None,
            "log_prob_threshold": p["logprob_thold"],
            "no_speech_threshold": p["no_speech_thold"],
            "beam_size": 1,
            "vad": p["vad"],
        }
        if best_of > 0:
            options["best_of"] = best_of
        if self._beams:
            options["beam_size"] = beam.get("beam_size", -1) if beam.get("beam_size", -1) > 0 else 5
            options["patience"] = beam.get("patience", -1.0) if beam.get("patience", -1.0) > 0 else None
        return options

    def transcribe(
        self,
        media: AudioInput,
        n_processors: Optional[int] = None,
        new_segment_callback: Optional[Callable[[Segment], None]] = None,
        abort_callback: Optional[Callable[[], bool]] = None,
        **params: Any,
    ) -> List[Segment]:
        extract_probability = params.pop("extract_probability", False)
        if params.get("n_threads") not in (None, self._params["n_threads"]):
            ignore("transcribe", "n_threads", "the threads belong to the model: give it to the constructor")
        self._set_params({name: value for name, value in params.items() if name != "n_threads"})
        options = self._options()
        if (n_processors or 1) > 1:
            options["mode"] = "batched"
        audio, shift = self._audio(media, self._params["offset_ms"], self._params["duration_ms"])
        result = self._model.transcribe(audio, **options)
        segments: List[Segment] = []
        for found in result.segments.until(abort_callback or (lambda: False)):
            for segment in self._cut(found, shift, extract_probability):
                segments.append(segment)
                if new_segment_callback is not None:
                    new_segment_callback(segment)
        return segments

    @staticmethod
    def _audio(media: AudioInput, offset_ms: int, duration_ms: int) -> Tuple[Any, float]:
        """The part of the audio that is wanted, and how far into it that begins, in seconds."""
        if not isinstance(media, np.ndarray) and not Path(media).exists():
            raise FileNotFoundError(media)
        if offset_ms == 0 and duration_ms == 0:
            return media, 0.0
        samples = media if isinstance(media, np.ndarray) else sotto.decode_audio(media)
        first = offset_ms * WHISPER_SAMPLE_RATE // 1000
        last = first + duration_ms * WHISPER_SAMPLE_RATE // 1000 if duration_ms > 0 else None
        return samples[first:last], offset_ms / 1000

    def _cut(self, found: sotto.Segment, shift: float, extract_probability: bool) -> List[Segment]:
        """The segment, or pieces of it of at most max_len characters."""
        probability = math.exp(found.avg_logprob) if extract_probability else math.nan
        most = self._params["max_len"]
        if most <= 0 or not found.words:
            return [_segment(found.start + shift, found.end + shift, found.text, probability)]
        pieces: List[List[sotto.Word]] = []
        for word in found.words:
            if pieces and len("".join(each.text for each in pieces[-1]) + word.text) <= most:
                pieces[-1].append(word)
            else:
                pieces.append([word])
        return [
            _segment(piece[0].start + shift, piece[-1].end + shift, "".join(each.text for each in piece), probability)
            for piece in pieces
        ]

    def auto_detect_language(
        self, media: AudioInput, offset_ms: Optional[int] = None, n_threads: Optional[int] = None
    ) -> Tuple[Tuple[str, float], Dict[str, float]]:
        if n_threads not in (None, self._params["n_threads"]):
            ignore("auto_detect_language", "n_threads", "the threads belong to the model: give it to the constructor")
        audio, _ = self._audio(media, offset_ms or 0, 0)
        languages = self._model.detect_language(audio, vad=False)
        return languages[0], dict(languages)

    def get_params(self) -> Dict[str, Any]:
        return dict(self._params)

    @staticmethod
    def get_params_schema() -> Dict[str, Dict[str, Any]]:
        return PARAMS_SCHEMA

    @staticmethod
    def lang_max_id() -> int:
        return len(sotto.languages()) - 1

    @staticmethod
    def available_languages() -> List[str]:
        return list(sotto.languages())

    @staticmethod
    def system_info() -> str:
        devices = ", ".join(f"{each['id']} {each['name']} {each['architecture']}".strip() for each in sotto.devices())
        return f"Sotto {sotto.__version__} | {devices}"


def _segment(start: float, end: float, text: str, probability: float) -> Segment:
    return Segment(round(start * 100), round(end * 100), text.strip(), probability)
