#pragma once

// What the kernels are given: one struct by value each. Shared by the host and by every device compiler, so
// it includes nothing and holds plain types only. Strides count elements; T is the activation type of the
// kernel (its name ends in f16, bf16 or f32).
namespace sotto::gpu {

using Stride = long long;

// One row of a decoder call as the device sees it.
struct DeviceRow {
  int token, position, slot, window;
  int run_begin;  // the first row of this call that belongs to the same slot
  int reserved[3];
};

// How a matrix lies in memory.
//   rows       [outputs][padded inputs], the padding zero; padded to 8 elements (16 bytes for 16-bit types)
//   fragments  for 16-bit tensor cores, few rows: [outputs / 16][inputs / 16][32 lanes][8 values], where a
//   lane's
//              8 values are its part of a 16 x 16 operand A of mma.m16n8k16: (r, c) (r, c+1) (r+8, c) (r+8,
//              c+1) (r, c+8) (r, c+9) (r+8, c+8) (r+8, c+9) with r = lane / 4, c = lane % 4 * 2. Outputs are
//              padded with zeros to 16; inputs are a multiple of 16. int8: [outputs / 16][inputs / 32][32
//              lanes][16 values]: two such operands, one after the other; inputs are a multiple of 32.
enum class Layout : int { rows, fragments };

// Rows of float32 into a matrix: target row first_row + i = source row i. One block per row.
struct PackArgs {
  const float* source;  // count x inputs, dense
  void* target;
  float* scales;  // int8: per output, largest magnitude / 127
  int count, first_row, inputs, padded_inputs;
  Layout layout;
};

// An int8 matrix (rows) to T (rows), for the kernels that multiply many rows.
struct DequantizeArgs {
  const signed char* source;
  const float* scales;
  void* target;
  int outputs, padded_inputs;
};

// y = x W^T + bias; then gelu; then + residual. The accumulation is float32, in an order that does not depend
// on the number of rows.
struct LinearArgs {
  const void* x;
  Stride x_stride;
  const void* weights;
  const float* scales;   // int8 weights: per output; else unused
  const float* bias;     // per output
  const void* residual;  // T, or nullptr; may be y
  Stride residual_stride;
  void* y;
  Stride y_stride;
  int rows, outputs, inputs, padded_inputs;
  int gelu;
  int y_is_full;  // y is float32 whatever T is
};

struct LayerNormArgs {
  const void* x;
  Stride x_stride;
  void* y;
  Stride y_stride;
  const float* scale;
  const float* shift;
  int rows, width;
};

// Full attention inside each window; qkv rows hold query, key, value side by side.
struct EncoderAttentionArgs {
  const void* qkv;
  Stride qkv_stride;
  void* out;
  Stride out_stride;
  int positions, windows, heads, head_width;
  float scale;  // of the products of queries and keys
};

// The decoder's own past. One layer of the cache: [slots][capacity][key width | value width] in T. Keys and
// values of this call's rows are read from qkv (rows run_begin..row of the same slot) and stored by the row
// itself.
struct SelfAttentionArgs {
  const void* qkv;
  Stride qkv_stride;
  void* cache;
  const DeviceRow* rows;
  void* out;
  Stride out_stride;
  int row_count, capacity, heads, head_width;
  float scale;
};

// Encoded audio. One layer of the cache: [windows][positions][key width | value width] in T. The positions
// are always cut into the same chunks; each chunk's part goes to `partial`, and the block that finishes a
// head's last chunk (counted in `done`, which it leaves at zero) adds them up in order.
inline constexpr int kCrossChunk = 192;  // positions; the kernels' loops are made for it
struct CrossAttentionArgs {
  const void* query;
  Stride query_stride;
  const void* cache;
  const DeviceRow* rows;
  void* out;
  Stride out_stride;
  float* partial;      // [rows][heads][chunks][head_width + 2]: sum of weighted values, largest score, sum of
                       // weights
  unsigned int* done;  // [rows][heads]
  int row_count, positions, heads, head_width;
  float scale;
};

// The attention weights of some heads: [rows][count][positions], float32.
struct CrossWeightsArgs {
  const void* query;
  Stride query_stride;
  const void* cache;
  const DeviceRow* rows;
  const int* chosen;  // heads
  float* out;
  int row_count, count, positions, heads, head_width;
  float scale;
};

// One window's keys and values (rows of 2 x width) into its place in the cache; also any other copy of rows.
struct CopyRowsArgs {
  const void* source;
  Stride source_stride;
  void* target;
  Stride target_stride;
  int rows, width;
};

// The first positions of a slot to another, all layers: [layers][slots][capacity][2 x width].
struct CopySlotArgs {
  void* cache;
  int layers, slots, capacity, width;
  int from, to, positions;
};

struct EmbedArgs {
  const void* table;
  const float* scales;  // int8
  const void* position_table;
  Stride position_stride;
  const DeviceRow* rows;
  void* out;
  Stride out_stride;
  int row_count, width, padded_width;
  Layout layout;
};

// Rows of T (or, where is_full, of float32) from or to dense float32.
struct ConvertArgs {
  void* rows_data;
  Stride stride;
  float* dense;
  int rows, width;
  int is_full;
};

// --- choosing tokens ---
// The logits of a row are cut into slices of kSampleSlice tokens, text and timestamps apart (a row without
// the timestamp rule is all text): a block works on one slice, and the block that finishes a row's last one
// (counted in `done`, which it leaves at zero) puts them together.
inline constexpr int kSampleSlice = 2048;

struct SampleRow {
  // Parts of `tokens`: single tokens, and pairs [first, last) of banned ranges.
  int suppressed_begin, suppressed_end, penalised_begin, penalised_end, banned_begin, banned_end;
  int timestamp_begin;  // or -1
  int candidates, probe;
  float penalty, temperature;
  int reserved;
  double uniform;
};

struct DeviceCandidate {
  int token;
  float score;  // the log probability in the answers
};

struct SampleAnswer {
  int not_numbers;  // the logits hold a value that is no number; the rest is then undefined
  int count;        // of candidates
  float probe_probability;
  int reserved;
};

// What one slice says. Sums are of exponentials relative to the largest.
struct SamplePart {
  float raw_largest, raw_sum;    // before anything is banned
  float largest, sum, warm_sum;  // of what is left; warm: at the row's temperature
  int not_numbers, count;        // candidates found
  int reserved;
};

struct SampleArgs {
  const float* logits;
  Stride stride;
  const SampleRow* rows;
  const int* tokens;
  SamplePart* parts;                 // [rows][slices]
  DeviceCandidate* part_candidates;  // [rows][slices][candidates]
  unsigned int* done;                // [rows]
  SampleAnswer* answers;             // [rows]
  DeviceCandidate* candidates_out;   // [rows][candidates]
  int row_count, vocabulary;
  int slices;      // sample_slices(vocabulary)
  int candidates;  // the most that any row wants
};

// --- mel spectrogram ---
inline constexpr int kMelTransform = 400, kMelBins = 201, kMelStep = 160;
inline constexpr int kMelFrames = 8;  // of one block

// Samples to log10 mel energies of one window. Frame f looks at samples [160 f, 160 f + 400), so the host
// puts the 200 samples before the first frame's centre in front (mirrored at the start of the audio) and
// zeros behind the audio's end.
struct MelFramesArgs {
  const float* samples;
  const float* hann;         // [400]
  const float* cosines;      // [400]: cos(2 pi i / 400)
  const float* filters;      // [mel bins][201]
  const int* filter_ranges;  // [mel bins][2]: first and past-the-end point that a filter covers
  float* energies;           // [frames][mel bins]
  float* block_largest;      // [blocks]
  int frames, mel_bins;
  int audible_frames;  // frames from here on are silent
};

// Clamps to 8 below the window's largest value, scales, and stores rows of T.
struct MelScaleArgs {
  const float* energies;
  const float* block_largest;
  void* out;
  Stride out_stride;
  int frames, mel_bins;
};

}  // namespace sotto::gpu
