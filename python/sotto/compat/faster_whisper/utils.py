from __future__ import annotations

import json
from typing import List, Optional, Union

from ... import _native
from .._ignored import ignore_changed

_NAMES = (
    "tiny.en tiny base.en base small.en small medium.en medium large-v1 large-v2 large-v3 large distil-large-v2 "
    "distil-medium.en distil-small.en distil-large-v3 distil-large-v3.5 large-v3-turbo turbo"
).split()

NEVER_DOWNLOADS = "Sotto downloads nothing; it finds models that are on this machine"


def available_models() -> List[str]:
    """Names under which a model may be found, where it is on this machine."""
    return list(_NAMES)


def download_model(
    size_or_id: str,
    output_dir: Optional[str] = None,
    local_files_only: bool = False,
    cache_dir: Optional[str] = None,
    revision: Optional[str] = None,
    use_auth_token: Optional[Union[str, bool]] = None,
) -> str:
    """Where a model lies on this machine; nothing is downloaded, so one that is not there is a FileError."""
    del local_files_only
    given = {"output_dir": output_dir, "cache_dir": cache_dir, "revision": revision, "use_auth_token": use_auth_token}
    ignore_changed("download_model", given, {name: (None, NEVER_DOWNLOADS) for name in given})
    return str(json.loads(_native.model_info(size_or_id))["source"])


def format_timestamp(seconds: float, always_include_hours: bool = False, decimal_marker: str = ".") -> str:
    """[hh:]mm:ss.mmm"""
    if seconds < 0:
        raise AssertionError("a time is not negative")
    whole, thousandths = divmod(round(seconds * 1000), 1000)
    minutes, second = divmod(whole, 60)
    hours, minute = divmod(minutes, 60)
    head = f"{hours:02d}:" if always_include_hours or hours > 0 else ""
    return f"{head}{minute:02d}:{second:02d}{decimal_marker}{thousandths:03d}"
