#!/usr/bin/env python3
"""What a call of the Python package costs over the same call of the C API, and what a long array costs in memory.

    PYTHONPATH=build/test/python-site /usr/bin/python3 bench/python_overhead.py
"""
import ctypes
import os
import pathlib
import resource
import signal
import statistics
import threading
import time

import numpy as np

import sotto

CALLS = 300
SILENCE = np.zeros(1600, dtype=np.float32)  # a tenth of a second: next to no work


def c_api():
    """The same library that the package has loaded, called directly."""
    library = ctypes.CDLL(str(pathlib.Path(sotto.__file__).parent / "libsotto.so.0"))
    options, model = ctypes.c_void_p(), ctypes.c_void_p()
    assert library.sotto_options_new(ctypes.byref(options)) == 0
    assert library.sotto_options_set(options, b"device", b"cpu") == 0
    assert library.sotto_model_open(options, ctypes.byref(model)) == 0
    samples = SILENCE.ctypes.data_as(ctypes.c_void_p)
    count = ctypes.c_size_t(len(SILENCE))

    def call():
        result = ctypes.c_void_p()
        assert library.sotto_transcribe_samples(model, samples, count, options, None, ctypes.byref(result)) == 0
        library.sotto_result_free(result)

    return call


def package():
    model = sotto.Model(device="cpu")
    return lambda: list(model.transcribe(SILENCE).segments)


def median_ms(call):
    call()
    times = []
    for _ in range(CALLS):
        start = time.perf_counter()
        call()
        times.append((time.perf_counter() - start) * 1000)
    return statistics.median(times)


def overhead():
    below, above = median_ms(c_api()), median_ms(package())
    print(f"one call, median of {CALLS}: C API {below:.3f} ms, package {above:.3f} ms, difference {above - below:.3f} ms")


def copies():
    model = sotto.Model(device="cpu")
    noise = np.random.default_rng(1).standard_normal(16000 * 600, dtype=np.float32) * np.float32(1e-4)
    for kind in ("float32", "int16", "float16", "int64"):
        array = noise.astype(kind) if kind.startswith("float") else (noise * 1e6).astype(kind)
        list(model.transcribe(array[: 16000 * 60]).segments)
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        list(model.transcribe(array).segments)
        grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) * 1024
        print(f"ten minutes of {kind} ({array.nbytes / 1e6:.0f} MB): peak memory grew by {grown / array.nbytes:.3f} arrays")


def interrupt():
    model = sotto.Model(device="cpu")
    speech = np.tile(sotto.decode_audio("samples/bdl_en_long.flac"), 100)
    sent, delays = [], []

    def send():
        sent.append(time.monotonic())
        os.kill(os.getpid(), signal.SIGINT)

    for turn in range(10):
        result = model.transcribe(speech)
        threading.Timer(0.3 + turn * 0.07, send).start()
        try:
            for _ in result.segments:
                pass
        except KeyboardInterrupt:
            delays.append((time.monotonic() - sent[-1]) * 1000)
    print(f"Ctrl-C to KeyboardInterrupt, {len(delays)} times: median {statistics.median(delays):.1f} ms, most {max(delays):.1f} ms")


if __name__ == "__main__":
    overhead()
    copies()
    interrupt()
