"""What the tests share. They run with the package as it was installed from its wheel (CMakeLists.txt)."""
import os
import pathlib
import warnings

import pytest

import sotto
from sotto.compat import _ignored

ROOT = pathlib.Path(__file__).resolve().parents[2]
SAMPLES = ROOT / "samples"


@pytest.fixture(scope="session")
def model():
    """The model inside the package, on the CPU."""
    with sotto.Model(device="cpu") as opened:
        yield opened


@pytest.fixture(scope="session")
def long_speech():
    """Two minutes of speech as an array."""
    import numpy as np

    return np.tile(sotto.decode_audio(SAMPLES / "bdl_en_long.flac"), 6)


@pytest.fixture(scope="session")
def program():
    return os.environ["SOTTO_PROGRAM"]


@pytest.fixture
def one_ahead(monkeypatch):
    """Transcriptions wait for their reader after every segment, however slow the test is."""
    monkeypatch.setattr(sotto.transcription, "_AHEAD", 1)


@pytest.fixture
def told():
    """The warnings of a test, with nothing told before."""
    _ignored._told.clear()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield caught
