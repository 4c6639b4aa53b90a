#!/usr/bin/env python3
"""Trains the speech detector of src/audio/vad.h and writes src/audio/vad_weights.inc.

    tools/train_vad.py speech WORK      # generates clean speech with espeak-ng and flite (both must be on the PATH)
    tools/train_vad.py mix WORK         # places it in generated noise at known times and computes the features
    tools/train_vad.py train WORK OUT   # trains the network and writes the weights

WORK is a scratch folder outside the repository. Needs Python 3.11, numpy, scipy and jax; nothing of this is needed to
build Sotto. All speech is synthetic and all noise is computed here, so the weights carry no one's licence.
The features must be those of src/audio/vad_features.cpp and the network that of src/audio/vad_network.cpp.
"""
import os
import pydoc_data.topics
import re
import subprocess
import sys
import wave
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import numpy as np
from scipy.signal import butter, fftconvolve, lfilter, resample_poly, sosfilt

RATE, HOP, WINDOW, FFT, BANDS = 16000, 160, 400, 512, 40
DELAY = 24           # frames of context that the network sees after the frame that it judges
SECONDS = 12         # length of one training mixture
MIXTURES = 16000
CONTEXT, CONV, HIDDEN, HEAD = 6, 32, 80, 24
MISS_COST = 1.8      # a missed frame of speech is worse than a false alarm: what is cut off is never transcribed
FLOOR, LEVEL_FLOOR, LEVEL_FRAMES = 1e-10, -20.0, 300


# ---- Clean speech ---------------------------------------------------------------------------------------------------

ESPEAK_LANGUAGES = ("en en-us en-gb-scotland de fr-fr es it pt-br nl sv da pl cs ru uk tr fi hu el ro hi ar fa id vi "
                    "cmn ja ko sw").split()
ESPEAK_VARIANTS = ("Adam Alex Alicia Andrea Andy Annie Antonio Auntie Belinda Benjamin Boris Caleb David Denis Diogo Ed "
                   "Gene Gustave Henrique Hugo Iven Jacky John Lee Linda Marcelo Marco Mario Max Michael Michel Miguel "
                   "Mike Nguyen Pablo Paul Pedro Quincy Rob Robert Steph Storm Zac anika grandpa klatt klatt2 klatt4 "
                   "norbert sandro shelby travis victor f1 f2 f3 f4 f5 m1 m2 m3 m4 m5 m6 m7").split()
FLITE_VOICES = ["kal16", "kal", "awb"]   # slt and rms speak in samples/ and are left for the tests


def sentences():
    text = re.sub(r"[^A-Za-z ,.']+", " ", " ".join(pydoc_data.topics.topics.values()))
    return [s.strip() for s in re.split(r"\.\s", text) if 20 < len(s.strip()) < 140]


def speak(job):
    index, text, folder = job
    rng = np.random.default_rng(index)
    path = folder / f"{index}.wav"
    if index % 4 == 0:
        stretch = rng.uniform(0.8, 1.3)
        command = ["flite", "-voice", FLITE_VOICES[index // 4 % 3], "--setf", f"duration_stretch={stretch:.2f}",
                   "--setf", f"int_f0_target_mean={rng.uniform(80, 220):.0f}", "-t", text, "-o", str(path)]
    else:
        voice = f"{rng.choice(ESPEAK_LANGUAGES)}+{rng.choice(ESPEAK_VARIANTS)}"
        command = ["espeak-ng", "-v", voice, "-s", str(rng.integers(120, 210)), "-p", str(rng.integers(15, 85)),
                   "-w", str(path), text]
    subprocess.run(command, check=False, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def make_speech(work):
    folder = work / "speech"
    folder.mkdir(parents=True, exist_ok=True)
    rng = np.random.default_rng(1)
    texts = rng.choice(sentences(), 900, replace=False)
    with ProcessPoolExecutor(os.cpu_count()) as pool:
        list(pool.map(speak, [(i, str(t), folder) for i, t in enumerate(texts)]))


def read_wav(path):
    with wave.open(str(path)) as file:
        rate, data = file.getframerate(), np.frombuffer(file.readframes(file.getnframes()), np.int16)
    x = data.astype(np.float32) / 32768
    return x if rate == RATE else resample_poly(x, RATE, rate).astype(np.float32)


def label(clean):
    """Per frame of 10 ms: louder than 32 dB below the loud parts; pauses up to 0.3 s belong to the speech."""
    frames = len(clean) // HOP
    padded = np.pad(clean[:frames * HOP], HOP)
    power = np.array([np.mean(padded[i * HOP:i * HOP + 3 * HOP] ** 2) for i in range(frames)])
    active = power > np.quantile(power, 0.95) * 10 ** -3.2
    return drop_runs(drop_runs(active, True, 5), False, 30)


def drop_runs(mask, value, longest):
    """Inverts the runs of `value` that are at most `longest` frames; the outer pauses stay."""
    mask = mask.copy()
    edges = np.flatnonzero(np.diff(np.concatenate([[not mask[0]], mask, [not mask[-1]]]).astype(int)))
    for start, end in zip(edges[:-1], edges[1:]):
        outer = not value and (start == 0 or end == len(mask))
        if mask[start] == value and end - start <= longest and not outer:
            mask[start:end] = not value
    return mask


# ---- Noise ----------------------------------------------------------------------------------------------------------

def shaped(rng, n, gain):
    """Gaussian noise whose spectrum is multiplied by gain(frequency)."""
    spectrum = np.fft.rfft(rng.standard_normal(n))
    return np.fft.irfft(spectrum * gain(np.maximum(np.fft.rfftfreq(n, 1 / RATE), 20.0)), n)


def coloured(rng, n, _):
    slope = rng.uniform(0, 1.1)
    return shaped(rng, n, lambda f: f ** -slope)


def fan(rng, n, _):
    knots = np.sort(rng.uniform(2, 9.2, 10)), rng.uniform(-3, 3, 10)
    noise = shaped(rng, n, lambda f: np.exp(np.interp(np.log(f), *knots)) * f ** -rng.uniform(0, 0.8))
    return noise * (1 + rng.uniform(0, 0.3) * np.sin(2 * np.pi * rng.uniform(2, 30) * np.arange(n) / RATE))


def hum(rng, n, _):
    t = np.arange(n) / RATE
    base = rng.choice([50, 60, 100, 120]) * (1 if rng.random() < 0.7 else rng.uniform(0.8, 3))
    tones = sum(rng.uniform(0.1, 1) / k ** rng.uniform(0.2, 1.5) * np.sin(2 * np.pi * (base * k * t + rng.random()))
                for k in range(1, int(rng.integers(3, 30))) if base * k < 7900)
    return tones + shaped(rng, n, lambda f: 1.0 + 0 * f) * 10 ** rng.uniform(-3, -0.7)


def clicks(rng, n, _):
    x = np.zeros(n)
    for at in rng.integers(0, n, rng.poisson(n / RATE * rng.uniform(1, 15))):
        length = int(rng.uniform(8, 1200))
        burst = rng.standard_normal(length) * np.exp(-np.arange(length) * 5 / length) * rng.uniform(0.2, 1)
        if rng.random() < 0.5:
            burst *= np.sin(2 * np.pi * rng.uniform(100, 6000) * np.arange(length) / RATE)
        x[at:at + length] += burst[:max(0, n - at)]
    return x + shaped(rng, n, lambda f: f ** -0.5) * 10 ** rng.uniform(-4, -2)


def modulated(rng, n, clips):
    t = np.arange(n) / RATE
    rate, depth = rng.uniform(0.3, 8), rng.uniform(0.5, 1)
    wave_ = 0.5 + 0.5 * np.sin(2 * np.pi * (rate * t + rng.random()))
    gate = wave_ if rng.random() < 0.6 else (wave_ > rng.uniform(0.3, 0.7)).astype(float)
    return (coloured if rng.random() < 0.5 else fan)(rng, n, clips) * (1 - depth + depth * gate)


def music(rng, n, _):
    x, beat, at = np.zeros(n), int(RATE * rng.uniform(0.12, 0.6)), 0
    scale = 110 * 2 ** (rng.uniform(-0.5, 1) + np.array([0, 2, 4, 7, 9, 12, 14, 16, 19]) / 12)
    harmonics, decay, vibrato = int(rng.integers(1, 12)), rng.uniform(0.3, 6), rng.uniform(0, 0.006)
    drums = rng.random() < 0.5
    while at < n:
        length = min(int(beat * rng.choice([1, 2, 4])), n - at)
        t = np.arange(length) / RATE
        for note in rng.choice(scale, int(rng.integers(1, 4))):
            phase = 2 * np.pi * note * (t + vibrato / 5 * np.sin(2 * np.pi * 5.5 * t))
            envelope = np.minimum(1, t * 60) * np.exp(-decay * t) * np.minimum(1, (length / RATE - t) * 60)
            x[at:at + length] += envelope * sum(np.sin(k * phase) / k ** 1.2 for k in range(1, harmonics + 1)
                                                if k * note < 7500)
        if drums:
            hit = min(length, 1600)
            x[at:at + hit] += rng.standard_normal(hit) * np.exp(-np.arange(hit) / rng.uniform(50, 500))
        at += length
    return x + 1e-4 * rng.standard_normal(n)


def tones(rng, n, _):
    x, at = 1e-4 * rng.standard_normal(n), 0
    while at < n:
        length = min(int(RATE * rng.uniform(0.05, 1.5)), n - at)
        t = np.arange(length) / RATE
        start, slope = rng.uniform(150, 5000), rng.choice([0, 0, rng.uniform(-2000, 2000)])
        if rng.random() < 0.6:
            x[at:at + length] += np.sin(2 * np.pi * (start * t + slope * t * t / 2)) * np.hanning(length) ** 0.2
        at += length
    return x


def babble(rng, n, clips):
    x = np.zeros(n)
    for _ in range(int(rng.integers(5, 12))):
        voice = np.concatenate([clips[rng.integers(len(clips))] for _ in range(12)])
        voice = np.tile(voice[::-1] if rng.random() < 0.5 else voice, 2)
        start = rng.integers(0, max(1, len(voice) - n))
        part = np.resize(voice[start:start + n], n)
        x += part / (np.std(part) + 1e-6) * rng.uniform(0.6, 1)
    if rng.random() < 0.5:
        x = reverberate(rng, x)
    return x


NOISES = [coloured, coloured, fan, fan, hum, clicks, clicks, modulated, modulated, modulated, music, music, music, tones,
          tones, babble, babble, babble, babble]


def reverberate(rng, x):
    length = int(RATE * rng.uniform(0.1, 0.6))
    response = rng.standard_normal(length) * np.exp(-np.arange(length) * 6.9 / length) * rng.uniform(0.01, 0.08)
    response[0] = 1
    return fftconvolve(x, response)[:len(x)]


# ---- Mixtures and features ------------------------------------------------------------------------------------------

def take(rng, clip, truth, room, speed):
    """A random part of a clip, played faster or slower, with the swells and fades that synthetic voices lack."""
    first = int(rng.integers(0, max(1, len(truth) - 60)))
    count = min(int(rng.uniform(0.4, 5) * 100), int((len(truth) - first) / speed), room)
    at = first * HOP + np.arange(count * HOP) * speed
    sound = np.interp(at, np.arange(len(clip)), clip)
    knots = np.arange(0, count * HOP + RATE, int(RATE * rng.uniform(0.2, 0.8)))
    decibels = np.interp(np.arange(count * HOP), knots, rng.normal(0, rng.uniform(0, 6), len(knots)))
    return sound * 10 ** (decibels / 20), truth[first + (np.arange(count) * speed).astype(int)]


def place_speech(rng, clips, labels):
    n = SECONDS * RATE
    clean, truth = np.zeros(n), np.zeros(n // HOP, bool)
    if rng.random() < 0.15:
        return clean, truth
    at = int(rng.choice([rng.uniform(0, 0.3), rng.uniform(0, 5)]) * 100)
    speed = rng.uniform(0.85, 1.2)
    while at < n // HOP - 30:
        which = rng.integers(len(clips))
        sound, spoken = take(rng, clips[which], labels[which], n // HOP - at, speed)
        clean[at * HOP:(at + len(spoken)) * HOP] = sound * 10 ** (rng.uniform(-3, 3) / 20)
        truth[at:at + len(spoken)] = spoken
        at += len(spoken) + int(rng.choice([rng.uniform(0.35, 1), rng.uniform(0.35, 4)]) * 100)
    return clean, drop_runs(truth, False, 30)


def colour_speech(rng, x):
    if rng.random() < 0.3:
        x = reverberate(rng, x)
    if rng.random() < 0.4:
        tilt = rng.uniform(-0.7, 0.7)
        x = lfilter([1, tilt], [1], x)
    if rng.random() < 0.2:
        x = sosfilt(butter(2, [rng.uniform(80, 350), rng.uniform(3000, 7000)], "band", fs=RATE, output="sos"), x)
    return x


def mixture(seed, clips, labels):
    rng = np.random.default_rng(seed)
    clean, truth = place_speech(rng, clips, labels)
    n = len(clean)
    active = np.repeat(truth, HOP)
    clean = colour_speech(rng, clean)
    speech_level = np.sqrt(np.mean(clean[active] ** 2)) if truth.any() else 0.1
    noise = NOISES[seed % len(NOISES)](rng, n, clips)
    if rng.random() < 0.25:
        other = NOISES[rng.integers(len(NOISES))](rng, n, clips)
        noise = noise / np.std(noise) + other / np.std(other) * rng.uniform(0.1, 1)
    snr = rng.choice([rng.uniform(-3, 25), rng.uniform(5, 15), rng.uniform(25, 60)], p=[0.6, 0.25, 0.15])
    x = clean + noise / (np.std(noise) + 1e-9) * speech_level * 10 ** (-snr / 20)
    if rng.random() < 0.1:   # digital silence at the start or the end
        cut = int(rng.uniform(0.2, 4) * RATE)
        where = slice(0, cut) if rng.random() < 0.5 else slice(n - cut, n)
        x[where] = 0
        truth[where.start // HOP:-(-where.stop // HOP)] = False
    x *= 10 ** (rng.uniform(-55, -6) / 20) / (np.sqrt(np.mean(x ** 2)) + 1e-9)
    if rng.random() < 0.1:
        x = np.clip(x * rng.uniform(2, 20), -0.5, 0.5)
    x = np.pad(np.round(x * 32768) / 32768, (0, DELAY * HOP))   # as the detector does at the end of its input
    return features(x.astype(np.float32)).astype(np.float16), truth


def mel_bands():
    mel = lambda f: 1127 * np.log1p(f / 700)
    edges = 700 * np.expm1(np.linspace(mel(80), mel(7600), BANDS + 2) / 1127)
    f = np.arange(FFT // 2 + 1) * RATE / FFT
    rise = (f[None] - edges[:-2, None]) / (edges[1:-1] - edges[:-2])[:, None]
    fall = (edges[2:, None] - f[None]) / (edges[2:] - edges[1:-1])[:, None]
    weights = np.maximum(0, np.minimum(rise, fall))
    return weights / weights.sum(1, keepdims=True)


MEL = mel_bands()
HANN = 0.5 - 0.5 * np.cos(2 * np.pi * np.arange(WINDOW) / WINDOW)


def features(x):
    """Log energies of the bands less the slowly followed level: frame t is centred on sample 160 t + 80."""
    x = lfilter([1, -1], [1, -0.98], x, zi=[-x[0]])[0] if len(x) else x
    frames = len(x) // HOP
    padded = np.pad(x, (WINDOW // 2 - HOP // 2, WINDOW))
    cut = np.stack([padded[t * HOP:t * HOP + WINDOW] for t in range(frames)]) * HANN
    power = np.abs(np.fft.rfft(cut, FFT)) ** 2 / np.sum(HANN ** 2)
    log_energy = np.log(power @ MEL.T + FLOOR)
    level, out = 0.0, np.empty_like(log_energy)
    for t, row in enumerate(log_energy):
        level += (row.mean() - level) / min(t + 1, LEVEL_FRAMES)
        out[t] = (row - max(level, LEVEL_FLOOR)) * 0.25
    return out


_pool_data = None


def load_clips(work):
    clips = [read_wav(p) for p in sorted((work / "speech").glob("*.wav")) if p.stat().st_size > 20000]
    clips = [c / np.max(np.abs(c)) * 0.5 for c in clips]
    return clips, [label(c) for c in clips]


def pool_start(work):
    global _pool_data
    _pool_data = load_clips(work)


def pool_mix(seed):
    return mixture(seed, *_pool_data)


def make_mixtures(work):
    with ProcessPoolExecutor(os.cpu_count(), initializer=pool_start, initargs=(work,)) as pool:
        results = list(pool.map(pool_mix, range(MIXTURES), chunksize=50))
    np.savez(work / "mixtures.npz", x=np.stack([r[0] for r in results]), y=np.stack([r[1] for r in results]))


# ---- The network ----------------------------------------------------------------------------------------------------

def initial(rng):
    glorot = lambda rows, columns: rng.standard_normal((rows, columns)).astype(np.float32) * np.sqrt(2 / (rows + columns))
    zeros = lambda n: np.zeros(n, np.float32)
    return {"conv_w": glorot(CONTEXT * BANDS, CONV), "conv_b": zeros(CONV), "in_w": glorot(CONV, 3 * HIDDEN),
            "in_b": zeros(3 * HIDDEN), "state_w": glorot(HIDDEN, 3 * HIDDEN), "state_b": zeros(3 * HIDDEN),
            "head_w": glorot(HIDDEN, HEAD), "head_b": zeros(HEAD), "out_w": glorot(HEAD, 2), "out_b": zeros(2)}


def logits(p, x):
    """x: batch, frames, bands. One step per two frames; its outputs judge two frames that lie DELAY frames back."""
    import jax
    import jax.numpy as jnp
    steps = x.shape[1] // 2
    padded = jnp.pad(x, ((0, 0), (CONTEXT - 2, 0), (0, 0)))
    stacked = jnp.concatenate([padded[:, k:k + 2 * steps:2] for k in range(CONTEXT)], axis=2)
    conv = jax.nn.relu(stacked @ p["conv_w"] + p["conv_b"])
    inputs = jnp.swapaxes(conv @ p["in_w"] + p["in_b"], 0, 1)

    def step(h, i):
        s = h @ p["state_w"] + p["state_b"]
        reset, update = jnp.split(jax.nn.sigmoid(i[:, :2 * HIDDEN] + s[:, :2 * HIDDEN]), 2, axis=1)
        candidate = jnp.tanh(i[:, 2 * HIDDEN:] + reset * s[:, 2 * HIDDEN:])
        h = update * h + (1 - update) * candidate
        return h, h

    _, states = jax.lax.scan(step, jnp.zeros((x.shape[0], HIDDEN)), inputs)
    head = jax.nn.relu(states @ p["head_w"] + p["head_b"])
    out = jnp.swapaxes(head @ p["out_w"] + p["out_b"], 0, 1)
    return out.reshape(x.shape[0], 2 * steps)


def adam(p, moments, gradient, rate, step):
    """Adam with decoupled weight decay and the gradient's norm limited to 1."""
    import jax.numpy as jnp
    norm = jnp.sqrt(sum(jnp.sum(g * g) for g in gradient.values()))
    gradient = {k: g / jnp.maximum(1.0, norm) for k, g in gradient.items()}
    first = {k: 0.9 * moments[0][k] + 0.1 * g for k, g in gradient.items()}
    second = {k: 0.999 * moments[1][k] + 0.001 * g * g for k, g in gradient.items()}
    scale = rate * jnp.sqrt(1 - 0.999 ** step) / (1 - 0.9 ** step)
    p = {k: w - scale * first[k] / (jnp.sqrt(second[k]) + 1e-8) - rate * 1e-3 * w for k, w in p.items()}
    return p, (first, second)


def learning_rate(step, steps):
    rise = min(1.0, step / (0.1 * steps))
    return 4e-3 * rise * 0.5 * (1 + np.cos(np.pi * step / (steps + 1)))


def train(work, epochs=24, batch=100):
    import jax
    import jax.numpy as jnp
    data = np.load(work / "mixtures.npz")
    x, y = jnp.asarray(data["x"]), jnp.asarray(data["y"])
    held = 500
    used = len(x) - held

    def loss(p, a, b):
        z = logits(p, a.astype(jnp.float32))[:, DELAY:]
        return jnp.mean(MISS_COST * b * jax.nn.softplus(-z) + (1 - b) * jax.nn.softplus(z))

    @jax.jit
    def update(p, moments, a, b, rate, step):
        value, gradient = jax.value_and_grad(loss)(p, a, b.astype(jnp.float32))
        return *adam(p, moments, gradient, rate, step), value

    judge = jax.jit(lambda p, a: logits(p, a.astype(jnp.float32))[:, DELAY:] > 0)
    rng = np.random.default_rng(7)
    p = {k: jnp.asarray(v) for k, v in initial(rng).items()}
    moments = ({k: jnp.zeros_like(v) for k, v in p.items()}, {k: jnp.zeros_like(v) for k, v in p.items()})
    step, steps = 0, epochs * (used // batch)
    for epoch in range(epochs):
        losses = []
        for rows in rng.permutation(used)[:used // batch * batch].reshape(-1, batch):
            step += 1
            p, moments, value = update(p, moments, x[rows], y[rows], learning_rate(step, steps), step)
            losses.append(value)
        f1 = f1_by_noise(np.asarray(judge(p, x[used:])), np.asarray(y[used:]), used)
        print(f"epoch {epoch}: loss {float(sum(losses)) / len(losses):.4f}, F1 on unseen mixtures {f1}", flush=True)
        np.savez(work / "weights.npz", **p)
    return {k: np.asarray(v) for k, v in p.items()}


def f1_by_noise(found, truth, first_seed):
    kinds = np.array([NOISES[(first_seed + i) % len(NOISES)].__name__ for i in range(len(truth))])
    score = lambda f, t: 2 * (f & t).sum() / (f.sum() + t.sum())
    parts = " ".join(f"{k} {score(found[kinds == k], truth[kinds == k]):.3f}" for k in sorted(set(kinds)))
    return f"{score(found, truth):.4f} ({parts})"


def write_weights(p, path):
    """Matrices as int8 with one scale per column, as vad_network.cpp expects; biases as float."""
    with open(path, "w") as out:
        out.write("// Made by tools/train_vad.py; not written by hand.\n")
        for name in ("conv", "in", "state", "head", "out"):
            w, b = p[name + "_w"], p[name + "_b"]
            scale = np.abs(w).max(0) / 127 + 1e-12
            q = np.round(w / scale).astype(int)
            symbol = name.capitalize()
            write_array(out, f"int8_t k{symbol}Weights[{w.size}]", [str(v) for v in q.flatten()])
            write_array(out, f"float k{symbol}Scale[{len(b)}]", [f"{v:.8e}F" for v in scale])
            write_array(out, f"float k{symbol}Bias[{len(b)}]", [f"{v:.8e}F" for v in b])


def write_array(out, declaration, values):
    out.write(f"constexpr {declaration} = {{\n")
    line = "   "
    for value in values:
        if len(line) + len(value) + 2 > 118:
            out.write(line + "\n")
            line = "   "
        line += f" {value},"
    out.write(line + "\n};\n")


def main():
    action, work = sys.argv[1], Path(sys.argv[2])
    if action == "speech":
        make_speech(work)
    elif action == "mix":
        make_mixtures(work)
    elif action == "train":
        write_weights(train(work), sys.argv[3])
    else:
        sys.exit(__doc__)


if __name__ == "__main__":
    main()
