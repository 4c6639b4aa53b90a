"""Parameters that mean nothing here."""
from __future__ import annotations

import sys
import warnings
from typing import Any, Mapping, Set, Tuple

_told: Set[Tuple[str, str]] = set()


def ignore(where: str, name: str, reason: str) -> None:
    """Says once that a parameter is ignored, and why."""
    if (where, name) in _told:
        return
    _told.add((where, name))
    warnings.warn(f"{where}: '{name}' is ignored: {reason}", UserWarning, stacklevel=_callers_level())


def _callers_level() -> int:
    """Of the first frame that is not this package's own."""
    level, frame = 1, sys._getframe(1)
    while frame.f_back is not None and str(frame.f_globals.get("__name__")).startswith(__package__):
        level, frame = level + 1, frame.f_back
    return level


def ignore_changed(where: str, given: Mapping[str, Any], ignored: Mapping[str, Tuple[Any, str]]) -> None:
    """Tells of every ignored parameter whose value is not what happens anyway. `ignored`: name -> (that, reason)."""
    for name, (usual, reason) in ignored.items():
        if name in given and given[name] != usual:
            ignore(where, name, reason)
