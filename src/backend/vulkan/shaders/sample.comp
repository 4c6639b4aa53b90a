#version 450
// Applies the rules to one row of logits and chooses: one workgroup for each row. Only the answer leaves the device.
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require
#include "subgroups.glsl"

layout(local_size_x_id = 0) in;
layout(constant_id = 0) const uint LOCAL = 64;
struct Request {
  uint suppressed, suppressed_count;  // first entry in `tokens` and how many
  uint banned, banned_count;          // pairs
  uint penalised, penalised_count;
  int timestamp_begin, probe;
  uint candidates;
  float penalty, temperature, uniform_;
  uint answer, unused0, unused1, unused2;  // first word in `answers`
};
layout(binding = 0, std430) readonly buffer Logits { float logits[]; };
layout(binding = 1, std430) buffer Allowed { float allowed[]; };  // working copy, rows x tokens
layout(binding = 2, std430) readonly buffer Requests { Request requests[]; };
layout(binding = 3, std430) readonly buffer Tokens { uint tokens[]; };
// An answer: whether all logits are numbers, how many candidates, the probe's probability, then token and
// log-probability of each candidate.
layout(binding = 4, std430) writeonly buffer Answers { uint answers[]; };
layout(push_constant) uniform Call { uint count, logits_offset, logits_stride; };
#include "reduce.glsl"

#define kNothing uintBitsToFloat(0xff800000u)  // minus infinity
shared float block_sums[LOCAL];
shared uint chosen_token;

// Logits below this are as good as banned, so that no arithmetic meets an infinity.
bool is_nothing(float value) { return value < -3.0e38; }

float range_max(uint base, uint first, uint last) {
  float largest = kNothing;
  for (uint i = first + gl_LocalInvocationIndex; i < last; i += LOCAL) largest = max(largest, allowed[base + i]);
  return workgroup_max(largest);
}
float range_sum(uint base, uint first, uint last, float shift) {
  float sum = 0;
  for (uint i = first + gl_LocalInvocationIndex; i < last; i += LOCAL)
    sum += is_nothing(allowed[base + i]) ? 0.0 : exp(allowed[base + i] - shift);
  return workgroup_sum(sum);
}
void sync_all() {
  memoryBarrierBuffer();
  barrier();
}

void apply_rules(uint base, uint from, Request request) {
  const uint lane = gl_LocalInvocationIndex;
  for (uint i = lane; i < request.penalised_count; i += LOCAL) {
    const uint token = tokens[request.penalised + i];
    const float logit = logits[from + token];
    allowed[base + token] = logit > 0 ? logit / request.penalty : logit * request.penalty;
  }
  sync_all();
  for (uint i = lane; i < request.suppressed_count; i += LOCAL) allowed[base + tokens[request.suppressed + i]] = kNothing;
  for (uint i = 0; i < request.banned_count; ++i)
    for (uint t = tokens[request.banned + 2 * i] + lane; t < tokens[request.banned + 2 * i + 1]; t += LOCAL)
      allowed[base + t] = kNothing;
  sync_all();
  if (request.timestamp_begin < 0) return;
  // When all timestamps together are likelier than the likeliest text token, one of them comes next.
  const uint begin = uint(request.timestamp_begin);
  const float best_time = range_max(base, begin, count);
  if (is_nothing(best_time)) return;
  const float all_times = best_time + log(range_sum(base, begin, count, best_time));
  if (all_times > range_max(base, 0, begin))
    for (uint t = lane; t < begin; t += LOCAL) allowed[base + t] = kNothing;
  sync_all();
}

// The best token that is left, the lower one among equals; `count` when there is none. Takes it out.
uint take_best(uint base, out float value) {
  const uint lane = gl_LocalInvocationIndex;
  float best = kNothing;
  uint token = count;
  for (uint i = lane; i < count; i += LOCAL)
    if (allowed[base + i] > best) {
      best = allowed[base + i];
      token = i;
    }
  value = workgroup_max(best);
  // A number below 2^24 is exact as a float; the smallest is the largest of its negatives.
  const bool holds = !is_nothing(value) && best == value;
  token = uint(-workgroup_max(holds ? -float(token) : -float(count)));
  if (lane == 0 && token < count) allowed[base + token] = kNothing;
  sync_all();
  return token;
}

float draw_weight(uint base, uint token, float best, float temperature) {
  const float value = allowed[base + token];
  return is_nothing(value) ? 0.0 : exp((value - best) / temperature);
}

// The token at which the cumulated probability passes `uniform_`: each invocation sums a stretch of tokens, and the first
// one finds the stretch and walks it.
uint draw(uint base, float best, Request request) {
  const uint lane = gl_LocalInvocationIndex, stretch = (count + LOCAL - 1) / LOCAL;
  const uint first = min(lane * stretch, count), last = min(first + stretch, count);
  float sum = 0;
  for (uint i = first; i < last; ++i) sum += draw_weight(base, i, best, request.temperature);
  block_sums[lane] = sum;
  barrier();
  if (lane == 0) {
    float total = 0;
    for (uint i = 0; i < LOCAL; ++i) total += block_sums[i];
    float left = request.uniform_ * total;
    uint holder = 0;  // the last stretch with any weight, should rounding leave the rest to nobody
    for (uint i = 0; i < LOCAL && left >= 0; ++i) {
      if (block_sums[i] > 0) holder = i;
      left -= block_sums[i];
    }
    left += block_sums[holder];
    uint token = holder * stretch;
    for (uint i = holder * stretch; i < min((holder + 1) * stretch, count) && left >= 0; ++i) {
      const float weight = draw_weight(base, i, best, request.temperature);
      if (weight > 0) token = i;
      left -= weight;
    }
    chosen_token = token;
  }
  barrier();
  return chosen_token;
}

void main() {
  const uint lane = gl_LocalInvocationIndex, row = gl_WorkGroupID.x;
  const uint base = row * count, from = logits_offset + row * logits_stride;
  const Request request = requests[row];
  float wrong = 0, largest = kNothing;
  for (uint i = lane; i < count; i += LOCAL) {
    const float logit = logits[from + i];
    const uint bits = floatBitsToUint(logit);
    if ((bits & 0x7fffffffu) > 0x7f800000u || bits == 0x7f800000u) wrong = 1;  // no number, or infinite
    allowed[base + i] = logit;
    largest = max(largest, logit);
  }
  wrong = workgroup_max(wrong);
  sync_all();
  if (wrong != 0) {
    if (lane == 0) answers[request.answer] = 0;
    return;
  }
  largest = workgroup_max(largest);
  uint candidates = 0;
  float probe = 0;
  if (!is_nothing(largest)) {
    if (request.probe >= 0) {
      const float logit = logits[from + request.probe];
      probe = (is_nothing(logit) ? 0.0 : exp(logit - largest)) / range_sum(base, 0, count, largest);
    }
    sync_all();
    apply_rules(base, from, request);
    const float best = range_max(base, 0, count);
    if (!is_nothing(best)) {
      const float normaliser = best + log(range_sum(base, 0, count, best));
      const uint wanted = request.temperature > 0 ? 1 : request.candidates;
      for (; candidates < wanted; ++candidates) {
        float value = 0;
        uint token;
        if (request.temperature > 0) {
          token = draw(base, best, request);
          value = allowed[base + token];
        } else {
          token = take_best(base, value);
          if (token >= count) break;
        }
        if (lane == 0) {
          answers[request.answer + 3 + 2 * candidates] = token;
          answers[request.answer + 4 + 2 * candidates] = floatBitsToUint(value - normaliser);
        }
      }
    }
  }
  if (lane == 0) {
    answers[request.answer] = 1;
    answers[request.answer + 1] = candidates;
    answers[request.answer + 2] = floatBitsToUint(probe);
  }
}
