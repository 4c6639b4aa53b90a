"""Devices: what there is, why what is there cannot be used, and where a model computes."""
from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, Callable, Dict, List, Optional, cast

from . import _native, _work
from .options import OptionValue, to_texts


@dataclass(frozen=True)
class Device:
    """Where a model computes, and why there."""

    id: str
    backend: str
    name: str
    architecture: str
    compute_type: str
    driver: str
    memory_used: int
    why: str

    def __str__(self) -> str:
        return f"{self.name} ({self.id}, {self.compute_type}): {self.why}"


def device_of(model: _native.Model) -> Device:
    record = json.loads(model.device_record())
    return Device(
        id=record["id"],
        backend=record["kind"],
        name=record["name"],
        architecture=record["architecture"],
        compute_type=record["compute_type"],
        driver=record["driver"],
        memory_used=record["memory_used"],
        why=record["why"],
    )


def _catalogue(refresh: bool, options: Dict[str, OptionValue]) -> Dict[str, Any]:
    texts = to_texts("devices", options, of_model=True)
    return cast(Dict[str, Any], json.loads(_work.interruptibly(lambda: _native.devices(texts, refresh))))


def devices(refresh: bool = False, **options: OptionValue) -> List[Dict[str, Any]]:
    """What there is to compute on, best first; the CPU is the last. Answers of drivers are remembered; `refresh`
    asks them again. An entry that is not usable says why in "obstacle"."""
    return cast(List[Dict[str, Any]], _catalogue(refresh, options)["devices"])


def findings(refresh: bool = False, **options: OptionValue) -> List[Dict[str, Any]]:
    """What was seen that did not even become a device: "sentence" says what, "remedy" what to do."""
    return cast(List[Dict[str, Any]], _catalogue(refresh, options)["findings"])


def doctor(
    refresh: bool = False, on_step: Optional[Callable[[str], None]] = None, **options: OptionValue
) -> Dict[str, Any]:
    """Takes every device through all gates from "hardware seen" to "speed"; see docs/gpu.md. `on_step` is told what
    is being done, on another thread."""
    texts = to_texts("doctor", options, of_model=True)
    step = on_step or (lambda _: None)
    return cast(Dict[str, Any], json.loads(_work.interruptibly(lambda: _native.doctor(texts, refresh, step))))


def choose_device(device: str, use_gpu: bool, gpu_device: "int | str") -> str:
    """The engine's name for what the three arguments of a model say together."""
    if not use_gpu or device == "cpu":
        return "cpu"
    if gpu_device in (0, "0", None, "") or ":" in device:
        return device  # the best one, or one that is named already
    if device != "auto":
        return f"{device}:{gpu_device}"
    gpus = [each for each in devices() if each["kind"] != "cpu" and not each["software"]]
    if isinstance(gpu_device, int) or gpu_device.isdecimal():
        named = gpus[int(gpu_device) : int(gpu_device) + 1]
    else:
        plain = gpu_device.lower().replace("-", "")
        named = [each for each in gpus if each["uuid"].lower().replace("-", "").startswith(plain)]
    return cast(str, named[0]["id"]) if named else ""
