#pragma once

// The largest sizes that a model file may claim: several times those of the largest release, and small enough
// that a damaged file cannot ask for an absurd amount of memory.
namespace sotto::limits {

inline constexpr int kMelBins = 512;
inline constexpr int kPositions = 65'536;
inline constexpr int kWidth = 8192;
inline constexpr int kVocabulary = 1'000'000;
inline constexpr int kLayers = 128;
inline constexpr int kHeads = 256;
inline constexpr int kHeadSize = 256;
inline constexpr int kFfn = 65'536;

}  // namespace sotto::limits
