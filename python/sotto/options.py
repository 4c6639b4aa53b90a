"""Options by name, from the one list that the engine, the program and the documentation share."""
from __future__ import annotations

import os
from typing import Any, Dict, List, Mapping, Sequence, Union

from . import _native

OptionValue = Union[None, bool, int, float, str, "os.PathLike[str]", Sequence[Union[int, float, str]]]

# What a model is opened with; all other options belong to a transcription.
MODEL_OPTIONS = frozenset(
    ["model", "device", "fallback", "probe_timeout", "compute_type", "threads", "batch_size"]
)


def python_name(name: str) -> str:
    return name.replace("-", "_")


def _parse(kind: str, text: str) -> Any:
    if kind == "bool":
        return text == "true"
    return {"int": int, "float": float, "str": str}[kind](text)


def options_schema() -> List[Dict[str, Any]]:
    """Every option: name, type, default, description, group, choices, and whether it belongs to the model."""
    return [
        {
            "name": python_name(name),
            "type": {"bool": bool, "int": int, "float": float, "str": str}[kind],
            "default": _parse(kind, default),
            "description": description,
            "group": group,
            "choices": choices.split(",") if choices else None,
            "of_model": python_name(name) in MODEL_OPTIONS,
        }
        for name, group, kind, default, choices, description in _native.option_list()
    ]


_NAMES: Dict[str, str] = {python_name(entry[0]): entry[0] for entry in _native.option_list()}


def _to_text(value: OptionValue) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (list, tuple)):
        return ",".join(_to_text(item) for item in value)
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    return str(value)


def to_texts(caller: str, options: Mapping[str, OptionValue], of_model: bool = False) -> Dict[str, str]:
    """Options as the C API takes them. None leaves the default; an unknown name is a TypeError."""
    texts: Dict[str, str] = {}
    for name, value in options.items():
        if name not in _NAMES or (name in MODEL_OPTIONS) != of_model:
            raise TypeError(f"{caller}() got an unexpected keyword argument '{name}'")
        if value is not None:
            texts[_NAMES[name]] = _to_text(value)
    return texts
