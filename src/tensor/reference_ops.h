#pragma once

#include <cstddef>
#include <span>
#include <vector>

// Every operation of the backends, slow and obvious, in double precision: what the tests compare with.
// Matrices are dense and row by row.
namespace sotto::reference {

double gelu(double x);  // the exact form with erf
std::vector<double> softmax(std::span<const double> x);

// y = x W' + b; weight: outputs x inputs; an empty bias is zero.
std::vector<double> linear(std::span<const float> x, size_t rows, std::span<const float> weight,
                           std::span<const float> bias, size_t outputs);

// x: (frames + 2) x inputs with a zero row on both sides; weight: outputs x inputs x 3. y row t is the GELU
// of the taps at rows t * stride .. t * stride + 2.
std::vector<double> convolve(std::span<const float> x, size_t inputs, std::span<const float> weight,
                             std::span<const float> bias, size_t outputs, size_t stride, size_t rows);

std::vector<double> layer_norm(std::span<const float> x, std::span<const float> scale,
                               std::span<const float> shift);

struct Attention {
  std::vector<double> out;      // queries x width
  std::vector<double> weights;  // queries x heads x keys; zero where a key is not visible
};

// queries, keys, values: rows of `width`. Query i sees the first visible[i] keys; an empty `visible` means
// all.
Attention attend(std::span<const float> queries, std::span<const float> keys, std::span<const float> values,
                 size_t width, size_t heads, std::span<const size_t> visible = {});

// The log-probability of each token once the banned ones are out (minus infinity for those). timestamp_begin
// >= 0: when the timestamps together are likelier than any single token before them, those are banned too.
std::vector<double> allowed_log_probabilities(std::span<const float> logits, const std::vector<bool>& banned,
                                              int timestamp_begin);

}  // namespace sotto::reference
