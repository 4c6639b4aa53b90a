"""A model on a device."""
from __future__ import annotations

import json
import os
import warnings
from types import TracebackType
from typing import Any, Callable, Dict, List, Optional, Tuple, Type, Union, cast
from weakref import WeakSet

from . import _native, _work
from .audio import SAMPLE_RATE, AudioInput, open_audio
from .devices import Device, choose_device, device_of
from .errors import DeviceError, UsageError
from .options import OptionValue, to_texts
from .transcription import Info, Job, Segments, Transcription


class Model:
    """A Whisper model that is ready to work. Any number of threads may use one at the same time.

    model: a file or folder, the name of one that is kept on this machine, or "nano", the small one inside the package.
    device: auto, cpu, cuda, rocm, metal or vulkan, or one of them with an index or the start of a UUID ("cuda:1").
        What is left at auto is taken from the user's configuration (docs/configuration.md).
    use_gpu: False means the CPU.
    gpu_device: which GPU, by its place among them or its UUID; 0 is the best one.
    flash_attn: accepted; Sotto's attention never writes down the scores, so there is nothing to turn on.
    fallback: a GPU that cannot be had gives way to the CPU with a warning; False makes that a DeviceError.
    """

    def __init__(
        self,
        model: Union[str, "os.PathLike[str]"] = "nano",
        device: str = "auto",
        compute_type: str = "auto",
        use_gpu: bool = True,
        gpu_device: Union[int, str] = 0,
        flash_attn: bool = True,
        threads: int = 0,
        fallback: bool = True,
        **options: OptionValue,
    ) -> None:
        del flash_attn
        self._jobs: "WeakSet[Job]" = WeakSet()
        self._closed = False
        chosen = choose_device(device, use_gpu, gpu_device)
        if not chosen:
            self._no_such_gpu(gpu_device, fallback)
            chosen = "cpu"
        given: Dict[str, OptionValue] = {"model": os.fspath(model), **options}
        if chosen != "auto":
            given["device"] = chosen
        if compute_type != "auto":
            given["compute_type"] = compute_type
        if threads != 0:
            given["threads"] = threads
        if not fallback:
            given["fallback"] = False
        texts = to_texts("Model", given, of_model=True)
        self._native = _work.interruptibly(lambda: _native.Model(texts))
        self._name = self._native.name
        self._device: Device = device_of(self._native)
        if self._device.backend == "cpu" and self._native.requested_device not in ("auto", "cpu"):
            warnings.warn(f"Sotto computes on the CPU {self._device.why}", RuntimeWarning, stacklevel=2)

    @staticmethod
    def _no_such_gpu(gpu_device: Union[int, str], fallback: bool) -> None:
        sentence = f"There is no GPU {gpu_device} here; sotto.devices() lists what there is."
        if not fallback:
            raise DeviceError(sentence)
        warnings.warn(f"{sentence} Sotto computes on the CPU instead.", RuntimeWarning, stacklevel=3)

    # --- what it is ---
    @property
    def name(self) -> str:
        return self._name

    @property
    def device(self) -> Device:
        """Where it computes: name, backend, architecture, compute type, memory used on the device, and why there."""
        if self.loaded:
            self._device = device_of(self._native)
        return self._device

    @property
    def loaded(self) -> bool:
        return not self._closed

    def info(self) -> Dict[str, Any]:
        """What is in the model's files: sizes, languages, types."""
        name = self._name
        return cast(Dict[str, Any], json.loads(_work.interruptibly(lambda: _native.model_info(name))))

    # --- what it does ---
    def transcribe(
        self,
        audio: AudioInput,
        *,
        sample_rate: int = SAMPLE_RATE,
        on_progress: Optional[Callable[[float, float], None]] = None,
        **options: OptionValue,
    ) -> Transcription:
        """Begins to transcribe, and returns (segments, info) at once; the segments come as they are found.

        audio: a path, the bytes of a file, a binary file object, an array of samples (any float or integer type, one
            axis or two), or an iterable of chunks (bytes of a file, or arrays).
        sample_rate: of arrays.
        on_progress: is told (seconds done, seconds in all or -1), on another thread.
        options: see sotto.options_schema() and docs/options.md.
        """
        texts = to_texts("transcribe", options)
        job = self._start(audio, sample_rate, texts, on_progress)
        return Transcription(Segments(job), Info(job, self._name, dict(options)))

    def detect_language(
        self, audio: AudioInput, *, sample_rate: int = SAMPLE_RATE, **options: OptionValue
    ) -> List[Tuple[str, float]]:
        """The languages that the beginning of the audio may be, with their probabilities, likeliest first."""
        texts = {**to_texts("detect_language", options), "max-new-tokens": "1", "temperature": "0"}
        windows = int(texts.get("language-detection-segments", "1"))
        threshold = float(texts.get("language-detection-threshold", "0.5"))
        heard = 0

        def enough(job: Job) -> None:
            nonlocal heard
            heard += 1
            if heard >= windows or job.languages[0][1] >= threshold:
                job.stop()

        job = self._start(audio, sample_rate, texts, None, enough)
        job.finish()
        if not job.languages and job.result is not None and job.result.language:
            return [(job.result.language, job.result.language_probability)]
        return job.languages

    def _start(
        self,
        audio: AudioInput,
        sample_rate: int,
        texts: Dict[str, str],
        on_progress: Optional[Callable[[float, float], None]],
        on_language: Optional[Callable[[Job], None]] = None,
    ) -> Job:
        if self._closed:
            raise UsageError("the model has been unloaded")
        job = Job(self._native, lambda: open_audio(audio, sample_rate, texts), texts, on_progress, on_language)
        self._jobs.add(job)
        return job

    # --- its end ---
    def unload(self) -> None:
        """Gives all its memory back, here and on the device. Transcriptions that are still on their way are ended."""
        self._closed = True
        for job in list(self._jobs):
            job.abandon("the model was unloaded before the transcription had ended")
        self._native.close()

    def __enter__(self) -> "Model":
        return self

    def __exit__(
        self, kind: Optional[Type[BaseException]], value: Optional[BaseException], trace: Optional[TracebackType]
    ) -> None:
        self.unload()

    def __repr__(self) -> str:
        state = f"on {self._device.id}, {self._device.compute_type}" if self.loaded else "unloaded"
        return f"<sotto.Model {self._name!r} {state}>"
