#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "tensor/tensor_view.h"

namespace sotto {

// What a PyTorch checkpoint's data.pkl describes, and no more: plain values, containers and tensors. Nothing
// in the pickle is executed: a callable is only a name, and only the few names that checkpoints of tensors
// need are known.
using PickleId = uint32_t;  // index into PickleDocument::values

struct PickleNone {};
struct PickleTuple {
  std::vector<PickleId> items;
};
struct PickleList {
  std::vector<PickleId> items;
};
struct PickleDict {
  std::vector<std::pair<PickleId, PickleId>> items;  // in order of appearance; keys may repeat
};
enum class PickleCallable : uint8_t { ordered_dict, rebuild_tensor, rebuild_parameter };
struct PickleStorageType {
  DType dtype;
};
struct PickleStorage {
  DType dtype;
  std::string_view key;  // the archive's entry data/<key>
  int64_t elements;
};
struct PickleTensor {
  PickleStorage storage;
  int64_t offset;  // in elements
  Shape shape, strides;
};

using PickleValue = std::variant<PickleNone, bool, int64_t, double, std::string_view, PickleTuple, PickleList,
                                 PickleDict, PickleCallable, PickleStorageType, PickleStorage, PickleTensor>;

struct PickleDocument {
  std::vector<PickleValue>
      values;  // containers refer to others by index, so that sharing and cycles do no harm
  PickleId root = 0;

  template <class T>
  const T* get(PickleId id) const {
    return std::get_if<T>(&values[id]);
  }
  // The value of a text key in a dict; the last one where it repeats, null where there is none.
  const PickleValue* find(const PickleDict& dict, std::string_view key) const;
};

// `name` is the file, for messages. Texts in the document point into `bytes`. Throws Error(bad_model) with
// the offset for anything else than what is described above; a foreign callable is named.
PickleDocument read_pickle(std::span<const std::byte> bytes, const std::string& name);

}  // namespace sotto
