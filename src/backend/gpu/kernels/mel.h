#pragma once

#include "backend/gpu/kernels/arguments.h"
#include "backend/gpu/kernels/launch_shapes.h"
#include "backend/gpu/kernels/reduce.h"

// The mel spectrogram, as src/audio/mel.cpp computes it.
namespace sotto::gpu {

inline constexpr int kMelHalf = kMelTransform / 2;

// The power spectrum of a block's frames by the definition of the transform. A real signal allows to fold it:
// with the sums and differences of samples i and 400 - i, half of the products remain.
__device__ __forceinline__ void power_spectra(const float (&cosines)[kMelTransform],
                                              const float (&sums)[kMelHalf + 1][kMelFrames],
                                              const float (&differences)[kMelHalf + 1][kMelFrames],
                                              float (&power)[kMelFrames][kMelBins]) {
  const int bin = thread_id();
  if (bin >= kMelBins) return;
  float real[kMelFrames] = {}, imaginary[kMelFrames] = {};
  int turn = 0;  // bin * i, modulo a full turn
  for (int i = 0; i <= kMelHalf; ++i) {
    const float cosine = cosines[turn];
    // The sine is the cosine a quarter earlier.
    const float sine =
        cosines[turn >= kMelTransform / 4 ? turn - kMelTransform / 4 : turn + kMelTransform * 3 / 4];
#pragma unroll
    for (int f = 0; f < kMelFrames; ++f) {
      real[f] = multiply_add(cosine, sums[i][f], real[f]);
      imaginary[f] = multiply_add(sine, differences[i][f], imaginary[f]);
    }
    turn += bin;
    if (turn >= kMelTransform) turn -= kMelTransform;
  }
#pragma unroll
  for (int f = 0; f < kMelFrames; ++f)
    power[f][bin] = multiply_add(real[f], real[f], imaginary[f] * imaginary[f]);
}

__device__ __forceinline__ void mel_window(const MelFramesArgs& args) {
  constexpr float kFloor = 1e-10F, kSilence = -10, kLog10Of2 = 0.301029995663981195F;
  __shared__ float cosines[kMelTransform], power[kMelFrames][kMelBins];
  alignas(16) __shared__ float sums[kMelHalf + 1][kMelFrames];
  alignas(16) __shared__ float differences[kMelHalf + 1][kMelFrames];
  const int first = block_id_x() * kMelFrames, step = static_cast<int>(kRowThreads);

  for (int i = thread_id(); i < kMelTransform; i += step) cosines[i] = args.cosines[i];
  for (int i = thread_id(); i < (kMelHalf + 1) * kMelFrames; i += step) {
    const int at = i / kMelFrames, frame = first + i % kMelFrames;
    float low = 0, high = 0;
    if (frame < args.frames && frame < args.audible_frames) {
      const float* samples = args.samples + static_cast<long long>(frame) * kMelStep;
      low = samples[at] * args.hann[at];
      if (at > 0 && at < kMelHalf) high = samples[kMelTransform - at] * args.hann[kMelTransform - at];
    }
    sums[at][i % kMelFrames] = low + high;
    differences[at][i % kMelFrames] = low - high;
  }
  barrier();
  power_spectra(cosines, sums, differences, power);
  barrier();

  float largest = kLowest;
  for (int i = thread_id(); i < kMelFrames * args.mel_bins; i += step) {
    const int frame = i / args.mel_bins, mel = i % args.mel_bins;
    if (first + frame >= args.frames) break;
    float energy = 0;
    for (int bin = args.filter_ranges[2 * mel]; bin < args.filter_ranges[2 * mel + 1]; ++bin)
      energy = multiply_add(args.filters[mel * kMelBins + bin], power[frame][bin], energy);
    const float value = energy > kFloor ? log2_approximate(energy) * kLog10Of2 : kSilence;
    args.energies[static_cast<long long>(first + frame) * args.mel_bins + mel] = value;
    largest = larger(largest, value);
  }
  largest = block_max<kRowThreads>(largest);
  if (thread_id() == 0) args.block_largest[block_id_x()] = largest;
}

template <class T>
__device__ __forceinline__ void mel_scale(const MelScaleArgs& args) {
  const int blocks = (args.frames + kMelFrames - 1) / kMelFrames, step = static_cast<int>(kRowThreads);
  float largest = kLowest;
  for (int i = thread_id(); i < blocks; i += step) largest = larger(largest, args.block_largest[i]);
  const float lowest = block_max<kRowThreads>(largest) - 8;
  const int first = block_id_x() * kMelFrames;
  for (int i = thread_id(); i < kMelFrames * args.mel_bins; i += step) {
    const int frame = first + i / args.mel_bins, mel = i % args.mel_bins;
    if (frame >= args.frames) break;
    const float value = larger(args.energies[static_cast<long long>(frame) * args.mel_bins + mel], lowest);
    store(static_cast<T*>(args.out) + frame * args.out_stride + mel, (value + 4) / 4);
  }
}

}  // namespace sotto::gpu
