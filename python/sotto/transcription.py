"""What a transcription gives: segments as they are found, and what is known about the whole."""
from __future__ import annotations

import sys
import threading
from collections import deque
from dataclasses import dataclass
from typing import Any, Callable, Deque, Iterator, List, NamedTuple, Optional, Tuple

from . import _native, _work
from .audio import OpenedAudio
from .errors import CancelledError
from .options import OptionValue, to_texts

_SLICE = 0.1  # seconds between looks at the flag that ends the work
_AHEAD = 16  # segments that may be ready before they are asked for; then the work waits


@dataclass(frozen=True)
class Word:
    start: float
    end: float
    text: str
    probability: float


@dataclass(frozen=True)
class Segment:
    """A stretch of text; `suspect` says why not to rely on it, or nothing (docs/output.md)."""

    id: int
    start: float
    end: float
    text: str
    language: str
    tokens: List[int]
    words: List[Word]
    temperature: float
    avg_logprob: float
    compression_ratio: float
    no_speech_prob: float
    language_probability: float
    attempts: int
    uncovered_speech: float
    suspect: str


class Job:
    """One transcription on its way: a thread that fills a short queue."""

    def __init__(
        self,
        model: _native.Model,
        open_audio: Callable[[], OpenedAudio],
        options: dict[str, str],
        on_progress: Optional[Callable[[float, float], None]] = None,
        on_language: Optional[Callable[["Job"], None]] = None,
    ) -> None:
        self._model: Optional[_native.Model] = model
        self._open_audio = open_audio
        self._options = options
        self._on_progress = on_progress
        self._on_language = on_language
        self._stop = _native.StopFlag()
        self._changed = threading.Condition()
        self._ready: Deque[Segment] = deque()
        self._wanted = _AHEAD
        self._begun, self._language_known, self._ended = threading.Event(), threading.Event(), threading.Event()
        self._failed_to_begin = False
        self.error: Optional[BaseException] = None
        self.result: Optional[_native.Result] = None
        self.languages: List[Tuple[str, float]] = []
        self.first_language: Optional[Tuple[str, float]] = None
        self.duration = -1.0
        self._thread = _work.start(self._run, self)
        try:  # until the audio is open and the options make sense: what fails there fails in the call
            _work.wait(self._begun)
        except BaseException:
            self.stop()
            raise
        if self._failed_to_begin:
            self.raise_error()

    # --- on the job's own thread ---
    def _run(self) -> None:
        try:
            audio = self._open_audio()
            self.duration = audio.native.duration
            assert self._model is not None
            self.result = self._model.transcribe(
                audio.native,
                self._options,
                self._stop,
                self._take_segment,
                self._tell_progress,
                self._take_languages,
            )
            audio.raise_reader_error()
        except BaseException as error:
            self.error = self.error or error
            self._failed_to_begin = not self._begun.is_set()
        self._model = None  # an unloaded model's memory goes with its last job
        self._open_audio = _nothing
        with self._changed:
            self._ended.set()
            self._changed.notify_all()
        self._language_known.set()
        self._begun.set()

    def _guard(self, function: Callable[..., None], *arguments: Any) -> None:
        """A caller's function that raises ends the work, and is heard of by whoever waits for it."""
        try:
            function(*arguments)
        except BaseException as error:
            self.error = self.error or error
            self._stop.set()

    def _take_segment(self, fields: Tuple[Any, ...]) -> None:
        words = [Word(*word) for word in fields[6]]
        segment = Segment(*(*fields[:6], words, *fields[7:]))
        if self.first_language is None:
            self.first_language = (segment.language, segment.language_probability)
        with self._changed:
            self._ready.append(segment)
            self._changed.notify_all()
            self._language_known.set()
            while len(self._ready) >= self._wanted and not self._stop.is_set():
                self._changed.wait(_SLICE)

    def _take_languages(self, languages: List[Tuple[str, float]]) -> None:
        if not self.languages or languages[0][1] > self.languages[0][1]:
            self.languages = languages
        self._language_known.set()
        if self._on_language is not None:
            self._guard(self._on_language, self)

    def _tell_progress(self, done: float, total: float) -> None:
        self._begun.set()
        if self._on_progress is not None:
            self._guard(self._on_progress, done, total)

    # --- for everybody else ---
    def stop(self) -> None:
        """Takes no lock: the end of an object may come at any place."""
        self._stop.set()

    def abandon(self, reason: str) -> None:
        """Ends the work and waits for that; who still wants something of it is told the reason."""
        if not self._ended.is_set():
            self.error = self.error or CancelledError(reason)
            self.stop()
        if threading.current_thread() is not self._thread:  # a callback may have asked for it
            self._thread.join()

    def raise_error(self) -> None:
        if self.error is not None:
            raise self.error

    def next(self, should_stop: Optional[Callable[[], bool]] = None) -> Optional[Segment]:
        """The next segment; nothing at the end. `should_stop` is asked while waiting."""
        try:
            with self._changed:
                while not self._ready and not self._ended.is_set():
                    if should_stop is not None and should_stop():
                        self.stop()
                    self._changed.wait(_SLICE)
                if self._ready:
                    self._changed.notify_all()
                    return self._ready.popleft()
        except BaseException:  # KeyboardInterrupt, or what should_stop raised
            self.stop()
            raise
        self.raise_error()
        return None

    def finish(self) -> _native.Result:
        """Waits for the end; segments that nobody has taken yet stay."""
        with self._changed:
            self._wanted = sys.maxsize
            self._changed.notify_all()
        try:
            _work.wait(self._ended)
        except KeyboardInterrupt:
            self.stop()
            raise
        self.raise_error()
        assert self.result is not None
        return self.result

    def heard_language(self) -> Tuple[str, float]:
        _work.wait(self._language_known)
        if self.result is not None:
            return self.result.language, self.result.language_probability
        if self.first_language is not None:
            return self.first_language
        if self.languages:
            return self.languages[0]
        self.raise_error()
        return "", 0.0


def _nothing() -> OpenedAudio:
    raise AssertionError("a job opens its audio once")


class Segments(Iterator[Segment]):
    """The segments in their order, each as soon as it is found. Who drops this ends the work."""

    def __init__(self, job: Job) -> None:
        self._job = job

    def __iter__(self) -> "Segments":
        return self

    def __next__(self) -> Segment:
        segment = self._job.next()
        if segment is None:
            raise StopIteration
        return segment

    def until(self, should_stop: Callable[[], bool]) -> Iterator[Segment]:
        """The same, but `should_stop` is asked ten times a second whether to cancel."""
        while (segment := self._job.next(should_stop)) is not None:
            yield segment

    def cancel(self) -> None:
        """Ends the work. What was found before can still be taken, and info.complete is false."""
        self._job.stop()

    def __del__(self) -> None:
        job = getattr(self, "_job", None)
        if job is not None:
            job.stop()


class Info:
    """What is known about the whole. The language is waited for; the rest is as far as it is known."""

    def __init__(self, job: Job, model: str, options: dict[str, OptionValue]) -> None:
        self._job = job
        self.model = model
        self.options = options

    @property
    def language(self) -> str:
        return self._job.heard_language()[0]

    @property
    def language_probability(self) -> float:
        return self._job.heard_language()[1]

    @property
    def all_language_probs(self) -> List[Tuple[str, float]]:
        """Languages and their probabilities, likeliest first; empty where the language was given."""
        self._job.heard_language()
        return list(self._job.languages)

    @property
    def duration(self) -> Optional[float]:
        """Seconds of audio: what was read, or before the end what the input says of itself."""
        if self._job.result is not None:
            return self._job.result.duration
        return self._job.duration if self._job.duration >= 0 else None

    @property
    def complete(self) -> bool:
        """Whether the work has reached the end of the audio."""
        return self._job.result is not None and self._job.result.is_complete

    def __repr__(self) -> str:
        return f"<sotto.Info model={self.model!r} duration={self.duration} complete={self.complete}>"


class _Parts(NamedTuple):
    segments: Segments
    info: Info


class Transcription(_Parts):
    """(segments, info), and what can be done with the whole."""

    __slots__ = ()

    def document(self, format: str, **options: OptionValue) -> str:
        """The transcript as a document ("srt", "json", ...), when all of it is there. Of the options those for
        subtitles apply."""
        texts = to_texts("document", options)
        return self.segments._job.finish().write(format, texts)

    @property
    def text(self) -> str:
        """The whole text, when all of it is there."""
        return " ".join(self.document("txt").split("\n")).strip()

    def cancel(self) -> None:
        self.segments.cancel()
