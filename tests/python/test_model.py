"""Models, devices and their ends."""
import json
import subprocess
import sys

import pytest

import sotto
from conftest import SAMPLES

PATH = SAMPLES / "pico_en_short.flac"


def test_the_device_record(model):
    device = model.device
    assert device.id == device.backend == "cpu"
    assert device.name and device.architecture
    assert device.compute_type == "int8"
    assert device.memory_used > 1_000_000
    assert "asked for" in device.why
    assert device.name in str(device)
    assert sotto.Model().device.why


def test_compute_type_and_threads():
    with sotto.Model(compute_type="float32", device="cpu", threads=1) as wide, sotto.Model(device="cpu") as narrow:
        assert wide.device.compute_type == "float32"
        assert wide.device.memory_used > 2 * narrow.device.memory_used
    with pytest.raises(sotto.UsageError, match="compute-type"):
        sotto.Model(compute_type="float33")
    with pytest.raises(TypeError, match="unexpected keyword argument 'treads'"):
        sotto.Model(treads=1)


def test_models_that_are_none(tmp_path):
    with pytest.raises(OSError):
        sotto.Model("/no/such/model")
    damaged = tmp_path / "model.safetensors"
    damaged.write_bytes(b"\xff" * 100)
    with pytest.raises(sotto.ModelError):
        sotto.Model(damaged)


def test_a_gpu_that_is_not_there_gives_way_with_the_reason():
    with pytest.warns(RuntimeWarning, match="on the CPU instead of 'cuda:77'") as told:
        with sotto.Model(device="cuda:77") as model:
            assert model.device.backend == "cpu"
            assert "cuda:77" in model.device.why
    assert told[0].filename == __file__
    with pytest.raises(sotto.DeviceError, match="cuda:77"):
        sotto.Model(device="cuda:77", fallback=False)
    with pytest.warns(RuntimeWarning, match="There is no GPU 99 here"):
        assert sotto.Model(gpu_device=99).device.backend == "cpu"
    with pytest.raises(sotto.DeviceError, match="There is no GPU deadbeef here"):
        sotto.Model(gpu_device="deadbeef", fallback=False)
    with pytest.warns(RuntimeWarning, match="instead of 'cuda:77'"):
        sotto.Model(device="cuda", gpu_device=77)


def test_use_gpu_false_means_the_cpu():
    model = sotto.Model(device="cuda", use_gpu=False, gpu_device=77, flash_attn=False, fallback=False)
    assert model.device.backend == "cpu"


def test_the_environment_decides_what_is_left_open(monkeypatch):
    monkeypatch.setenv("SOTTO_DEVICE", "cpu")
    assert "SOTTO_DEVICE" in sotto.Model().device.why
    monkeypatch.setenv("SOTTO_DEVICE", "cuda:77")
    with pytest.warns(RuntimeWarning, match="instead of 'cuda:77'"):
        sotto.Model()
    assert "--device" in sotto.Model(device="cpu").device.why


@pytest.mark.usefixtures("one_ahead")
def test_unload(long_speech):
    model = sotto.Model(device="cpu")
    assert model.loaded and "nano" in repr(model) and model.name == "nano"
    segments, info = model.transcribe(long_speech)
    next(segments)
    model.unload()
    assert not model.loaded and "unloaded" in repr(model)
    with pytest.raises(sotto.CancelledError, match="unloaded"):
        list(segments)
    assert info.language == "en" and not info.complete
    with pytest.raises(sotto.UsageError, match="has been unloaded"):
        model.transcribe(PATH)
    assert model.device.backend == "cpu"  # what it was
    model.unload()


def test_a_finished_transcription_outlives_its_model():
    with sotto.Model(device="cpu") as model:
        result = model.transcribe(PATH)
        result.document("txt")
    assert "kept his eyes" in result.text
    assert len(list(result.segments)) == 1


def test_a_callback_may_unload_the_model(long_speech):
    model = sotto.Model(device="cpu")
    with pytest.raises(sotto.CancelledError):
        list(model.transcribe(long_speech, on_progress=lambda done, total: model.unload()).segments)


SWITCHING = """
import os, time
import sotto

def switch(times):
    for turn in range(times):
        kind = ["auto", "float32"][turn % 2] if {device!r} == "cpu" else "auto"
        with sotto.Model(device={device!r}, compute_type=kind, fallback=False) as model:
            if turn % 40 == 0:
                assert "kept his eyes" in model.transcribe({path!r}).text

def held():
    with open("/proc/self/statm", encoding="ascii") as file:
        resident = int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    return resident, len(os.listdir("/proc/self/fd")), len(os.listdir("/proc/self/task"))

switch({warm_up})
before = held()
switch({times})
for _ in range(50):  # a thread that has done its work may take a moment to vanish
    if held()[2] <= before[2]:
        break
    time.sleep(0.1)
print(*(now - then for now, then in zip(held(), before)))
"""


@pytest.mark.parametrize(
    ("device", "is_software"), [(each["id"], each["software"]) for each in sotto.devices() if each["usable"]]
)
def test_switching_models_leaves_nothing_behind(device, is_software):
    warm_up, times = (2, 4) if is_software else (20, 200)  # a driver that computes on the CPU is slow to open
    script = SWITCHING.format(device=device, path=str(PATH), warm_up=warm_up, times=times)
    answer = subprocess.run([sys.executable, "-c", script], check=True, capture_output=True, text=True)
    resident, descriptors, threads = map(int, answer.stdout.split())
    assert resident < 16 << 20  # the allocator's own unrest; the weights of 200 models would be 6 GB
    assert descriptors <= 0 and threads <= 0


def test_info(model):
    assert {"en", "de"} <= set(model.info()["languages"])


def test_devices_and_findings():
    devices = sotto.devices()
    assert devices[-1]["id"] == "cpu" and devices[-1]["usable"]
    assert all({"id", "kind", "name", "architecture", "memory_total", "obstacle"} <= set(each) for each in devices)
    assert all({"code", "sentence", "remedy", "link"} <= set(each) for each in sotto.findings(refresh=True))
    with pytest.raises(TypeError):
        sotto.devices(beam_size=1)


def test_drivers_are_asked_as_the_program_asks_them(program):
    """The helper that does so lies in the package."""
    answer = subprocess.run([program, "devices", "--json"], check=True, capture_output=True)
    assert [each["id"] for each in sotto.devices()] == [each["id"] for each in json.loads(answer.stdout)["devices"]]


def test_doctor():
    steps = []
    report = sotto.doctor(on_step=steps.append, threads=1)
    gates = report["devices"][-1]["gates"]
    assert steps and report["devices"][-1]["device"]["id"] == "cpu"
    assert {gate["status"] for gate in gates} <= {"passed", "skipped"}
