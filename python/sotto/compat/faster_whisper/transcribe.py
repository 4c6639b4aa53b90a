from __future__ import annotations

import logging
import os
from dataclasses import dataclass, fields, replace
from typing import Any, BinaryIO, Dict, Iterable, Iterator, List, Optional, Sequence, Tuple, Union, cast

import numpy as np
import numpy.typing as npt

import sotto

from ...audio import SAMPLE_RATE, AudioInput
from ...errors import UnsupportedError
from .._ignored import ignore, ignore_changed
from .utils import NEVER_DOWNLOADS
from .vad import VadOptions, engine_options, vad_options_from

Audio = Union[str, "os.PathLike[str]", bytes, BinaryIO, npt.NDArray[Any]]
Temperature = Union[float, List[float], Tuple[float, ...]]

_TEMPERATURES = [0.0, 0.2, 0.4, 0.6, 0.8, 1.0]
_PREPENDED = "\"'“¿([{-"
_APPENDED = "\"'.。,，!！?？:：”)]}、"

_IGNORED_IN_MODEL: Dict[str, Tuple[Any, str]] = {
    "num_workers": (1, "any number of threads may use one model, and their work is done side by side"),
    "download_root": (None, NEVER_DOWNLOADS),
    "revision": (None, NEVER_DOWNLOADS),
    "use_auth_token": (None, NEVER_DOWNLOADS),
    "flash_attention": (False, "Sotto's attention never writes down the scores; there is nothing to turn on"),
    "max_queued_batches": (0, "Sotto's scheduler has no such queue"),
    "tensor_parallel": (False, "Sotto computes on one device"),
}
_IGNORED_IN_TRANSCRIBE: Dict[str, Tuple[Any, str]] = {
    "log_progress": (False, "Sotto prints nothing; sotto.Model.transcribe has on_progress"),
    "chunk_length": (None, "Whisper models hear windows of 30 seconds"),
    "hallucination_silence_threshold": (None, "Sotto leaves out silence beforehand, and marks what is suspect"),
}


@dataclass
class Word:
    start: float
    end: float
    word: str
    probability: float


@dataclass
class Segment:
    id: int
    seek: int
    start: float
    end: float
    text: str
    tokens: List[int]
    avg_logprob: float
    compression_ratio: float
    no_speech_prob: float
    words: Optional[List[Word]]
    temperature: Optional[float]


@dataclass
class TranscriptionOptions:
    beam_size: int
    best_of: int
    patience: float
    length_penalty: float
    repetition_penalty: float
    no_repeat_ngram_size: int
    log_prob_threshold: Optional[float]
    no_speech_threshold: Optional[float]
    compression_ratio_threshold: Optional[float]
    condition_on_previous_text: bool
    prompt_reset_on_temperature: float
    temperatures: List[float]
    initial_prompt: Optional[str]
    prefix: Optional[str]
    suppress_blank: bool
    suppress_tokens: Optional[List[int]]
    without_timestamps: bool
    max_initial_timestamp: float
    word_timestamps: bool
    prepend_punctuations: str
    append_punctuations: str
    multilingual: bool
    max_new_tokens: Optional[int]
    clip_timestamps: Union[str, List[float], List[Dict[str, float]]]
    hallucination_silence_threshold: Optional[float]
    hotwords: Optional[str]


@dataclass
class TranscriptionInfo:
    language: str
    language_probability: float
    duration: float
    duration_after_vad: float
    all_language_probs: Optional[List[Tuple[str, float]]]
    transcription_options: TranscriptionOptions
    vad_options: VadOptions


def _engine_options(given: Dict[str, Any], vad: VadOptions) -> Dict[str, Any]:
    """What faster_whisper's parameters say, in the engine's options."""
    if given["initial_prompt"] is not None and not isinstance(given["initial_prompt"], str):
        raise UnsupportedError("initial_prompt must be text; Sotto takes no tokens")
    same = (
        "task beam_size best_of patience length_penalty repetition_penalty no_repeat_ngram_size "
        "condition_on_previous_text prompt_reset_on_temperature initial_prompt prefix suppress_blank "
        "without_timestamps max_initial_timestamp word_timestamps prepend_punctuations append_punctuations "
        "multilingual hotwords language_detection_threshold language_detection_segments"
    ).split()
    options: Dict[str, Any] = {name: given[name] for name in same}
    options["language"] = given["language"] or "auto"
    options["temperature"] = given["temperature"]
    options["suppress_tokens"] = given["suppress_tokens"] or ""
    options["max_new_tokens"] = given["max_new_tokens"] or 0
    # None turns a rule off there; here that is a value that nothing reaches.
    for name, unreachable in (
        ("compression_ratio_threshold", 1000),
        ("log_prob_threshold", -1000),
        ("no_speech_threshold", 1),
    ):
        options[name] = unreachable if given[name] is None else given[name]
    options["vad"] = given["vad_filter"] and not _clips(given["clip_timestamps"])
    options.update(engine_options(vad))
    return options


def _clips(given: Any) -> List[Tuple[float, Optional[float]]]:
    """Stretches in seconds; none: all of the audio. The last one may be open."""
    if given is None or given == "0" or given == [] or given == [0]:
        return []
    if isinstance(given, list) and isinstance(given[0], dict):
        return [(float(each["start"]), float(each["end"])) for each in given]
    numbers = [float(each) for each in (given.split(",") if isinstance(given, str) else given)]
    ends: List[Optional[float]] = [*numbers[1::2], None]
    return list(zip(numbers[0::2], ends))


def _converted(segment: sotto.Segment, number: int, shift: float, with_words: bool) -> Segment:
    words = [Word(word.start + shift, word.end + shift, word.text, word.probability) for word in segment.words]
    return Segment(
        id=number,
        seek=int((segment.start + shift) * 100),
        start=segment.start + shift,
        end=segment.end + shift,
        text=segment.text,
        tokens=segment.tokens,
        avg_logprob=segment.avg_logprob,
        compression_ratio=segment.compression_ratio,
        no_speech_prob=segment.no_speech_prob,
        words=words if with_words else None,
        temperature=segment.temperature,
    )


class WhisperModel:
    def __init__(
        self,
        model_size_or_path: Union[str, "os.PathLike[str]"],
        device: str = "auto",
        device_index: Union[int, List[int]] = 0,
        compute_type: str = "default",
        cpu_threads: int = 0,
        num_workers: int = 1,
        download_root: Optional[str] = None,
        local_files_only: bool = False,
        files: Optional[Dict[str, Any]] = None,
        revision: Optional[str] = None,
        use_auth_token: Optional[Union[str, bool]] = None,
        **model_kwargs: Any,
    ) -> None:
        given = {
            "num_workers": num_workers,
            "download_root": download_root,
            "revision": revision,
            "use_auth_token": use_auth_token,
            **model_kwargs,
        }
        for name in model_kwargs:
            if name not in _IGNORED_IN_MODEL:
                raise TypeError(f"WhisperModel() got an unexpected keyword argument '{name}'")
        ignore_changed("WhisperModel", given, _IGNORED_IN_MODEL)
        if files:
            raise UnsupportedError("a model is read from files on the disk, not from memory ('files')")
        if isinstance(device_index, list):
            if len(device_index) > 1:
                ignore("WhisperModel", "device_index", "Sotto computes on one device; the first one is taken")
            device_index = device_index[0]
        self.logger = logging.getLogger("faster_whisper")
        self.model = sotto.Model(
            model_size_or_path,
            device=device,
            compute_type="auto" if compute_type == "default" else compute_type,
            gpu_device=device_index,
            threads=cpu_threads,
        )

    @property
    def supported_languages(self) -> List[str]:
        return cast(List[str], self.model.info()["languages"])

    def transcribe(
        self,
        audio: Audio,
        language: Optional[str] = None,
        task: str = "transcribe",
        log_progress: bool = False,
        beam_size: int = 5,
        best_of: int = 5,
        patience: float = 1,
        length_penalty: float = 1,
        repetition_penalty: float = 1,
        no_repeat_ngram_size: int = 0,
        temperature: Temperature = _TEMPERATURES,
        compression_ratio_threshold: Optional[float] = 2.4,
        log_prob_threshold: Optional[float] = -1.0,
        no_speech_threshold: Optional[float] = 0.6,
        condition_on_previous_text: bool = True,
        prompt_reset_on_temperature: float = 0.5,
        initial_prompt: Optional[Union[str, Iterable[int]]] = None,
        prefix: Optional[str] = None,
        suppress_blank: bool = True,
        suppress_tokens: Optional[Sequence[int]] = (-1,),
        without_timestamps: bool = False,
        max_initial_timestamp: float = 1.0,
        word_timestamps: bool = False,
        prepend_punctuations: str = _PREPENDED,
        append_punctuations: str = _APPENDED,
        multilingual: bool = False,
        vad_filter: bool = False,
        vad_parameters: Optional[Union[Dict[str, Any], VadOptions]] = None,
        max_new_tokens: Optional[int] = None,
        chunk_length: Optional[int] = None,
        clip_timestamps: Union[str, List[float]] = "0",
        hallucination_silence_threshold: Optional[float] = None,
        hotwords: Optional[str] = None,
        language_detection_threshold: Optional[float] = 0.5,
        language_detection_segments: int = 1,
    ) -> Tuple[Iterable[Segment], TranscriptionInfo]:
        given = dict(locals())
        del given["self"], given["audio"]
        return _transcribe(self.model, audio, given, {})

    def detect_language(
        self,
        audio: Optional[Audio] = None,
        features: Optional[npt.NDArray[Any]] = None,
        vad_filter: bool = False,
        vad_parameters: Optional[Union[Dict[str, Any], VadOptions]] = None,
        language_detection_segments: int = 1,
        language_detection_threshold: float = 0.5,
    ) -> Tuple[str, float, List[Tuple[str, float]]]:
        if audio is None:
            reason = "detect_language needs the audio itself" if features is None else "Sotto takes no features"
            raise UnsupportedError(f"{reason}: give 'audio'")
        languages = self.model.detect_language(
            cast(AudioInput, audio),
            vad=vad_filter,
            language_detection_segments=language_detection_segments,
            language_detection_threshold=language_detection_threshold,
            **engine_options(vad_options_from(vad_parameters)),
        )
        code, probability = languages[0] if languages else ("", 0.0)
        return code, probability, languages


class BatchedInferencePipeline:
    """Speech regions decoded side by side."""

    def __init__(self, model: WhisperModel) -> None:
        self.model = model

    def transcribe(
        self,
        audio: Audio,
        language: Optional[str] = None,
        task: str = "transcribe",
        log_progress: bool = False,
        beam_size: int = 5,
        best_of: int = 5,
        patience: float = 1,
        length_penalty: float = 1,
        repetition_penalty: float = 1,
        no_repeat_ngram_size: int = 0,
        temperature: Temperature = _TEMPERATURES,
        compression_ratio_threshold: Optional[float] = 2.4,
        log_prob_threshold: Optional[float] = -1.0,
        no_speech_threshold: Optional[float] = 0.6,
        condition_on_previous_text: bool = True,
        prompt_reset_on_temperature: float = 0.5,
        initial_prompt: Optional[Union[str, Iterable[int]]] = None,
        prefix: Optional[str] = None,
        suppress_blank: bool = True,
        suppress_tokens: Optional[Sequence[int]] = (-1,),
        without_timestamps: bool = True,
        max_initial_timestamp: float = 1.0,
        word_timestamps: bool = False,
        prepend_punctuations: str = _PREPENDED,
        append_punctuations: str = _APPENDED,
        multilingual: bool = False,
        vad_filter: bool = True,
        vad_parameters: Optional[Union[Dict[str, Any], VadOptions]] = None,
        max_new_tokens: Optional[int] = None,
        chunk_length: Optional[int] = None,
        clip_timestamps: Optional[List[Dict[str, float]]] = None,
        hallucination_silence_threshold: Optional[float] = None,
        batch_size: int = 8,
        hotwords: Optional[str] = None,
        language_detection_threshold: Optional[float] = 0.5,
        language_detection_segments: int = 1,
    ) -> Tuple[Iterable[Segment], TranscriptionInfo]:
        given = dict(locals())
        del given["self"], given["audio"], given["batch_size"]
        if batch_size != 8:
            ignore("BatchedInferencePipeline", "batch_size", "it belongs to the model: sotto.Model(batch_size=...)")
        return _transcribe(self.model.model, audio, given, {"mode": "batched"})


def _transcribe(
    model: sotto.Model, audio: Audio, given: Dict[str, Any], more: Dict[str, Any]
) -> Tuple[Iterable[Segment], TranscriptionInfo]:
    ignore_changed("transcribe", given, _IGNORED_IN_TRANSCRIBE)
    vad = vad_options_from(given["vad_parameters"])
    options = {**_engine_options(given, vad), **more}
    clips = _clips(given["clip_timestamps"])
    if not clips:
        whole = model.transcribe(cast(AudioInput, audio), **options)
        return _segments([(0.0, whole)], given["word_timestamps"]), _info(whole, None, given, vad)

    samples = audio if isinstance(audio, np.ndarray) else sotto.decode_audio(cast(AudioInput, audio))
    first = model.transcribe(_cut(samples, clips[0]), **options)
    rest = ((start, model.transcribe(_cut(samples, (start, end)), **options)) for start, end in clips[1:])
    parts = _chain((clips[0][0], first), rest)
    return _segments(parts, given["word_timestamps"]), _info(first, len(samples) / SAMPLE_RATE, given, vad)


def _chain(
    first: Tuple[float, sotto.Transcription], rest: Iterable[Tuple[float, sotto.Transcription]]
) -> Iterator[Tuple[float, sotto.Transcription]]:
    yield first
    yield from rest


def _cut(samples: npt.NDArray[Any], clip: Tuple[float, Optional[float]]) -> npt.NDArray[Any]:
    start, end = clip
    return samples[int(start * SAMPLE_RATE) : None if end is None else int(end * SAMPLE_RATE)]


def _segments(parts: Iterable[Tuple[float, sotto.Transcription]], with_words: bool) -> Iterator[Segment]:
    number = 0
    for shift, part in parts:
        for segment in part.segments:
            number += 1
            yield _converted(segment, number, shift, with_words)


def _info(
    result: sotto.Transcription, duration: Optional[float], given: Dict[str, Any], vad: VadOptions
) -> TranscriptionInfo:
    info = result.info
    language, probability = info.language, info.language_probability
    if duration is None and info.duration is None:  # the input does not say: it has to be read to its end
        result.document("txt")
    seconds = cast(float, duration if duration is not None else info.duration)
    temperatures = given["temperature"]
    values = {field.name: given[field.name] for field in fields(TranscriptionOptions) if field.name in given}
    values["temperatures"] = list(temperatures) if isinstance(temperatures, (list, tuple)) else [temperatures]
    values["suppress_tokens"] = list(given["suppress_tokens"] or [])
    return TranscriptionInfo(
        language=language,
        language_probability=1.0 if given["language"] else probability,
        duration=seconds,
        duration_after_vad=seconds,
        all_language_probs=info.all_language_probs or None,
        transcription_options=TranscriptionOptions(**values),
        vad_options=replace(vad),
    )
