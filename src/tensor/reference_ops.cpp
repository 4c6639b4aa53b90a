#include "tensor/reference_ops.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace sotto::reference {
namespace {

constexpr double kMinusInfinity = -std::numeric_limits<double>::infinity();

double log_sum_exp(std::span<const double> x) {
  const double largest = x.empty() ? kMinusInfinity : *std::max_element(x.begin(), x.end());
  if (largest == kMinusInfinity) return kMinusInfinity;
  double sum = 0;
  for (const double value : x) sum += std::exp(value - largest);
  return largest + std::log(sum);
}

}  // namespace

double gelu(double x) {
  return 0.5 * x * (1 + std::erf(x / std::sqrt(2.0)));
}

std::vector<double> softmax(std::span<const double> x) {
  const double all = log_sum_exp(x);
  std::vector<double> y;
  for (const double value : x) y.push_back(std::exp(value - all));
  return y;
}

std::vector<double> linear(std::span<const float> x, size_t rows, std::span<const float> weight,
                           std::span<const float> bias, size_t outputs) {
  const size_t inputs = weight.size() / outputs;
  std::vector<double> y;
  for (size_t row = 0; row < rows; ++row)
    for (size_t o = 0; o < outputs; ++o) {
      double sum = bias.empty() ? 0.0 : bias[o];
      for (size_t i = 0; i < inputs; ++i) sum += double{x[row * inputs + i]} * weight[o * inputs + i];
      y.push_back(sum);
    }
  return y;
}

std::vector<double> convolve(std::span<const float> x, size_t inputs, std::span<const float> weight,
                             std::span<const float> bias, size_t outputs, size_t stride, size_t rows) {
  std::vector<double> y;
  for (size_t t = 0; t < rows; ++t)
    for (size_t o = 0; o < outputs; ++o) {
      double sum = bias.empty() ? 0.0 : bias[o];
      for (size_t i = 0; i < inputs; ++i)
        for (size_t tap = 0; tap < 3; ++tap)
          sum += double{x[(t * stride + tap) * inputs + i]} * weight[(o * inputs + i) * 3 + tap];
      y.push_back(gelu(sum));
    }
  return y;
}

std::vector<double> layer_norm(std::span<const float> x, std::span<const float> scale,
                               std::span<const float> shift) {
  const size_t width = scale.size();
  std::vector<double> y;
  for (size_t first = 0; first < x.size(); first += width) {
    const std::span<const float> row = x.subspan(first, width);
    double mean = 0, variance = 0;
    for (const float value : row) mean += value / static_cast<double>(width);
    for (const float value : row) variance += (value - mean) * (value - mean) / static_cast<double>(width);
    for (size_t i = 0; i < width; ++i)
      y.push_back((row[i] - mean) / std::sqrt(variance + 1e-5) * scale[i] + shift[i]);
  }
  return y;
}

Attention attend(std::span<const float> queries, std::span<const float> keys, std::span<const float> values,
                 size_t width, size_t heads, std::span<const size_t> visible) {
  const size_t head = width / heads, query_count = queries.size() / width, key_count = keys.size() / width;
  Attention result;
  result.out.resize(query_count * width);
  result.weights.resize(query_count * heads * key_count);
  for (size_t q = 0; q < query_count; ++q)
    for (size_t h = 0; h < heads; ++h) {
      std::vector<double> scores(visible.empty() ? key_count : visible[q]);
      for (size_t k = 0; k < scores.size(); ++k) {
        double dot = 0;
        for (size_t d = 0; d < head; ++d)
          dot += double{queries[q * width + h * head + d]} * keys[k * width + h * head + d];
        scores[k] = dot / std::sqrt(static_cast<double>(head));
      }
      const std::vector<double> weights = softmax(scores);
      for (size_t k = 0; k < weights.size(); ++k) {
        result.weights[(q * heads + h) * key_count + k] = weights[k];
        for (size_t d = 0; d < head; ++d)
          result.out[q * width + h * head + d] += weights[k] * values[k * width + h * head + d];
      }
    }
  return result;
}

std::vector<double> allowed_log_probabilities(std::span<const float> logits, const std::vector<bool>& banned,
                                              int timestamp_begin) {
  std::vector<double> allowed(logits.begin(), logits.end());
  for (size_t token = 0; token < allowed.size(); ++token)
    if (banned[token]) allowed[token] = kMinusInfinity;
  if (timestamp_begin >= 0) {
    const auto begin = static_cast<size_t>(timestamp_begin);
    const double times = log_sum_exp(std::span(allowed).subspan(begin));
    double text = kMinusInfinity;
    for (size_t token = 0; token < begin; ++token) text = std::max(text, allowed[token]);
    if (times > text) std::fill_n(allowed.begin(), begin, kMinusInfinity);
  }
  const double all = log_sum_exp(allowed);
  for (double& value : allowed) value = value == kMinusInfinity ? value : value - all;
  return allowed;
}

}  // namespace sotto::reference
