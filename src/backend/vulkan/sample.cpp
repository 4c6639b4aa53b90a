#include <algorithm>
#include <cstring>

#include "backend/vulkan/vulkan_types.h"

namespace sotto::vk {
namespace {

// As sample.comp reads it.
struct DeviceRequest {
  uint32_t suppressed, suppressed_count, banned, banned_count, penalised, penalised_count;
  int32_t timestamp_begin, probe;
  uint32_t candidates;
  float penalty, temperature, uniform;
  uint32_t answer, unused[3];
};
constexpr uint32_t kAnswerHead = 3;  // words before the candidates

// The requests with their lists behind each other, and how many words all answers take.
struct Requests {
  explicit Requests(std::span<const SampleRequest> from, uint32_t vocabulary) {
    for (const SampleRequest& request : from) {
      DeviceRequest made{};
      made.suppressed = add(request.suppressed);
      made.suppressed_count = static_cast<uint32_t>(request.suppressed.size());
      made.banned = static_cast<uint32_t>(tokens.size());
      made.banned_count = static_cast<uint32_t>(request.banned.size());
      for (const TokenRange& range : request.banned) tokens.insert(tokens.end(), {range.first, range.last});
      made.penalised = add(request.penalised);
      made.penalised_count = static_cast<uint32_t>(request.penalised.size());
      made.timestamp_begin = request.timestamp_begin;
      made.probe = request.probe;
      made.candidates =
          request.temperature > 0 ? 1 : std::min(static_cast<uint32_t>(request.candidates), vocabulary);
      made.penalty = request.penalty;
      made.temperature = request.temperature;
      made.uniform = static_cast<float>(request.uniform);
      made.answer = answer_words;
      answer_words += kAnswerHead + 2 * made.candidates;
      requests.push_back(made);
    }
    tokens.push_back(0);  // never empty
  }

  uint32_t add(std::span<const int32_t> list) {
    const auto first = static_cast<uint32_t>(tokens.size());
    tokens.insert(tokens.end(), list.begin(), list.end());
    return first;
  }

  std::vector<DeviceRequest> requests;
  std::vector<int32_t> tokens;
  uint32_t answer_words = 0;
};

SampleResult read_answer(const uint32_t* words) {
  if (words[0] == 0) throw Error(ErrorCode::device, "the device computed a value that is not a number");
  SampleResult result;
  std::memcpy(&result.probe_probability, &words[2], sizeof(float));
  for (uint32_t i = 0; i < words[1]; ++i) {
    Candidate candidate;
    candidate.token = static_cast<int32_t>(words[kAnswerHead + 2 * i]);
    std::memcpy(&candidate.log_probability, &words[kAnswerHead + 2 * i + 1], sizeof(float));
    result.candidates.push_back(candidate);
  }
  return result;
}

}  // namespace

std::vector<SampleResult> VulkanBackend::do_sample(const Rows& logits,
                                                   std::span<const SampleRequest> requests) {
  if (requests.empty()) return {};
  const std::lock_guard lock(context_->mutex);
  Stream& stream = context_->stream;
  const Requests all(requests, static_cast<uint32_t>(logits.width));
  const BoundRows from(logits);
  const View allowed = scratch(logits.count * logits.width * sizeof(float));
  const View sent = stream.upload(std::span(all.requests).size_bytes()),
             tokens = stream.upload(std::span(all.tokens).size_bytes()),
             answers = stream.download(all.answer_words * sizeof(uint32_t));
  std::memcpy(sent.mapped, all.requests.data(), std::span(all.requests).size_bytes());
  std::memcpy(tokens.mapped, all.tokens.data(), std::span(all.tokens).size_bytes());
  const Pipeline& pipeline = kernel(
      kernel_name("sample", {{context_->device.abilities().subgroups, "SUBGROUPS"}}), {tiles_.sample_local});
  const struct {
    uint32_t count, logits_offset, logits_stride;
  } call{static_cast<uint32_t>(logits.width), from.offset, from.stride};
  stream.run(pipeline, {from.view, allowed, sent, tokens, answers}, call,
             {static_cast<uint32_t>(requests.size())},
             20.0 * static_cast<double>(logits.count) * static_cast<double>(logits.width));
  stream.finish();
  std::vector<SampleResult> results;
  const auto* words = static_cast<const uint32_t*>(answers.mapped);
  for (const DeviceRequest& request : all.requests) results.push_back(read_answer(words + request.answer));
  return results;
}

}  // namespace sotto::vk
