#include <algorithm>
#include <cstdint>

#include "base/error.h"
#include "model/convert.h"

namespace sotto {
namespace {

class Fnv1a {
 public:
  void add(std::span<const std::byte> bytes) {
    for (const std::byte byte : bytes) hash_ = (hash_ ^ static_cast<uint64_t>(byte)) * 0x100000001b3u;
  }
  void add(std::string_view text) { add(std::as_bytes(std::span(text))); }
  uint64_t value() const noexcept { return hash_; }

 private:
  uint64_t hash_ = 0xcbf29ce484222325u;
};

}  // namespace

std::string checkpoint_hash(const Checkpoint& checkpoint) {
  constexpr size_t kPart = 1024;
  Fnv1a hash;
  for (const auto& [name, tensor] : checkpoint.tensors) {
    hash.add(name);
    hash.add(shape_text(tensor.shape));
    const auto data = tensor.data;
    for (const size_t at : {size_t{0}, data.size() / 2, data.size() - std::min(data.size(), kPart)})
      hash.add(data.subspan(at, std::min(kPart, data.size() - at)));
  }
  return fmt::format("{:016x}", hash.value());
}

}  // namespace sotto
