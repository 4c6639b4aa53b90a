#pragma once

#include "backend/gpu/kernels/arguments.h"

// How each plain kernel is launched: decided beside the kernels, followed by the host. A shape never depends
// on anything but the arguments, so that a recorded launch stays right.
namespace sotto::gpu {

struct LaunchShape {
  unsigned grid_x = 1, grid_y = 1, grid_z = 1;
  unsigned threads = 1;       // per block, along x
  unsigned shared_bytes = 0;  // dynamic shared memory
};

constexpr unsigned blocks_for(long long items, long long per_block) {
  return static_cast<unsigned>((items + per_block - 1) / per_block);
}

inline constexpr unsigned kRowThreads = 256;  // kernels in which a block walks along a row

constexpr LaunchShape shape_of(const PackArgs& a) {
  return {static_cast<unsigned>(a.count), 1, 1, kRowThreads};
}
constexpr LaunchShape shape_of(const DequantizeArgs& a) {
  return {static_cast<unsigned>(a.outputs), 1, 1, kRowThreads};
}
// A team of 32 threads takes a row.
inline constexpr unsigned kNormThreads = 128;
constexpr LaunchShape shape_of(const LayerNormArgs& a) {
  return {blocks_for(a.rows, kNormThreads / 32), 1, 1, kNormThreads};
}
constexpr LaunchShape shape_of(const EmbedArgs& a) {
  return {static_cast<unsigned>(a.row_count), 1, 1, kRowThreads};
}
constexpr LaunchShape shape_of(const ConvertArgs& a) {
  return {static_cast<unsigned>(a.rows), 1, 1, kRowThreads};
}
constexpr LaunchShape shape_of(const CopyRowsArgs& a) {
  return {static_cast<unsigned>(a.rows), 1, 1, kRowThreads};
}
constexpr LaunchShape shape_of(const CopySlotArgs& a) {
  return {static_cast<unsigned>(a.positions), static_cast<unsigned>(a.layers), 1, kRowThreads};
}

// linear_many_simt_T: a block computes kManyTile outputs of kManyTile rows.
inline constexpr int kManyTile = 128;
inline constexpr unsigned kManyThreads = 256;
constexpr LaunchShape many_simt_shape(const LinearArgs& a) {
  return {blocks_for(a.outputs, kManyTile), blocks_for(a.rows, kManyTile), 1, kManyThreads};
}

// linear_few_simt_*: a block computes kFewOutputs outputs of kFewRows rows. Blocks that share weights are
// neighbours.
inline constexpr int kFewOutputs = 4, kFewRows = 8;
inline constexpr unsigned kFewThreads = 128;
constexpr LaunchShape few_simt_shape(const LinearArgs& a) {
  return {blocks_for(a.rows, kFewRows) * blocks_for(a.outputs, kFewOutputs), 1, 1, kFewThreads};
}

// attend_encoder_simt_T: a block takes kEncoderQueries queries of one head of one window.
inline constexpr int kEncoderQueries = 64;
inline constexpr unsigned kEncoderThreads = 256;
constexpr LaunchShape shape_of(const EncoderAttentionArgs& a) {
  return {blocks_for(a.positions, kEncoderQueries), static_cast<unsigned>(a.heads),
          static_cast<unsigned>(a.windows), kEncoderThreads};
}

inline constexpr unsigned kHeadThreads = 128;  // kernels in which a block works on one head of one row
constexpr LaunchShape shape_of(const SelfAttentionArgs& a) {
  return {static_cast<unsigned>(a.heads), static_cast<unsigned>(a.row_count), 1, kHeadThreads};
}
constexpr LaunchShape shape_of(const CrossAttentionArgs& a) {
  // Neighbouring blocks read neighbouring memory: all heads of a chunk.
  return {static_cast<unsigned>(a.heads), blocks_for(a.positions, kCrossChunk),
          static_cast<unsigned>(a.row_count), kHeadThreads};
}
constexpr LaunchShape shape_of(const CrossWeightsArgs& a) {
  return {static_cast<unsigned>(a.count), static_cast<unsigned>(a.row_count), 1, kHeadThreads};
}

constexpr int sample_slices(int vocabulary) {  // one more: text and timestamps do not share a slice
  return (vocabulary + kSampleSlice - 1) / kSampleSlice + 1;
}
inline constexpr unsigned kSampleThreads = 256;
constexpr LaunchShape shape_of(const SampleArgs& a) {
  return {static_cast<unsigned>(a.slices), static_cast<unsigned>(a.row_count), 1, kSampleThreads};
}

constexpr LaunchShape shape_of(const MelFramesArgs& a) {
  return {blocks_for(a.frames, kMelFrames), 1, 1, kRowThreads};
}
constexpr LaunchShape shape_of(const MelScaleArgs& a) {
  return {blocks_for(a.frames, kMelFrames), 1, 1, kRowThreads};
}

}  // namespace sotto::gpu
