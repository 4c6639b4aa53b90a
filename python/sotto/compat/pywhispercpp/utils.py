from __future__ import annotations

from pathlib import Path
from typing import Any, Iterable, Optional, Union

from .constants import MODELS_DIR


def resolve_model_path(model: str, models_dir: Optional[str] = None) -> str:
    """The file of a model: a path, a ggml file in `models_dir` or pywhispercpp's own folder, or else its name, which
    Sotto looks for in its usual places."""
    if Path(model).exists():
        return str(Path(model).absolute())
    for folder in [Path(models_dir)] if models_dir else [MODELS_DIR]:
        file = folder / f"ggml-{model}.bin"
        if file.is_file():
            return str(file.absolute())
    return model


def to_timestamp(t: int, separator: str = ",") -> str:
    """hh:mm:ss,mmm of a time in hundredths of a second."""
    seconds, hundredths = divmod(int(t), 100)
    minutes, second = divmod(seconds, 60)
    hours, minute = divmod(minutes, 60)
    return f"{hours:02d}:{minute:02d}:{second:02d}{separator}{hundredths * 10:03d}"


def _write(path: Union[str, Path], suffix: str, lines: Iterable[str]) -> Path:
    name = str(path)
    file = Path(name if name.endswith(suffix) else name + suffix).absolute()
    file.write_text("".join(lines), encoding="utf-8")
    return file


def output_txt(segments: Iterable[Any], output_file_path: str) -> Path:
    """One segment a line."""
    return _write(output_file_path, ".txt", (f"{segment.text}\n" for segment in segments))


def _times(segment: Any, separator: str) -> str:
    return f"{to_timestamp(segment.t0, separator)} --> {to_timestamp(segment.t1, separator)}"


def output_vtt(segments: Iterable[Any], output_file_path: str) -> Path:
    cues = (f"{_times(segment, '.')}\n{segment.text}\n\n" for segment in segments)
    return _write(output_file_path, ".vtt", ["WEBVTT\n\n", *cues])


def output_srt(segments: Iterable[Any], output_file_path: str) -> Path:
    cues = (f"{number}\n{_times(segment, ',')}\n{segment.text}\n\n" for number, segment in enumerate(segments, 1))
    return _write(output_file_path, ".srt", cues)


def output_csv(segments: Iterable[Any], output_file_path: str) -> Path:
    """Start and end in milliseconds, and the text in quotes."""
    rows = (f'{segment.t0 * 10}, {segment.t1 * 10}, "{segment.text}"\n' for segment in segments)
    return _write(output_file_path, ".csv", rows)
