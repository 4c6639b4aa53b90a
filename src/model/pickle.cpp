#include "model/pickle.h"

#include <algorithm>
#include <bit>
#include <unordered_map>

#include "model/byte_reader.h"

namespace sotto {
namespace {

constexpr size_t kMostValues = 300'000;  // the largest official model needs some 40,000
constexpr int kNewestProtocol = 5;

enum Opcode : uint8_t {
  kMark = '(',
  kStop = '.',
  kNone = 'N',
  kGlobal = 'c',
  kAppend = 'a',
  kAppends = 'e',
  kBuild = 'b',
  kEmptyDict = '}',
  kEmptyList = ']',
  kEmptyTuple = ')',
  kReduce = 'R',
  kSetItem = 's',
  kSetItems = 'u',
  kTuple = 't',
  kBinPersId = 'Q',
  kBinInt = 'J',
  kBinInt1 = 'K',
  kBinInt2 = 'M',
  kBinFloat = 'G',
  kBinUnicode = 'X',
  kBinGet = 'h',
  kLongBinGet = 'j',
  kBinPut = 'q',
  kLongBinPut = 'r',
  kProtocol = 0x80,
  kTuple1 = 0x85,
  kTuple2 = 0x86,
  kTuple3 = 0x87,
  kTrue = 0x88,
  kFalse = 0x89,
  kLong1 = 0x8a,
  kShortBinUnicode = 0x8c,
  kBinUnicode8 = 0x8d,
  kStackGlobal = 0x93,
  kMemoize = 0x94,
  kFrame = 0x95,
};

struct KnownCallable {
  std::string_view module, name;
  PickleValue value;
};

const KnownCallable kKnownCallables[] = {
    {"collections", "OrderedDict", PickleCallable::ordered_dict},
    {"torch._utils", "_rebuild_tensor_v2", PickleCallable::rebuild_tensor},
    {"torch._utils", "_rebuild_parameter", PickleCallable::rebuild_parameter},
    {"torch", "FloatStorage", PickleStorageType{DType::f32}},
    {"torch", "HalfStorage", PickleStorageType{DType::f16}},
    {"torch", "BFloat16Storage", PickleStorageType{DType::bf16}},
};

class PickleMachine {
 public:
  PickleMachine(std::span<const std::byte> bytes, const std::string& name) : in_(bytes, name) {}

  PickleDocument run() {
    if (in_.read<uint8_t>("the pickle's first byte") != kProtocol) in_.fail("this is no pickle");
    if (const auto version = in_.read<uint8_t>("the protocol"); version < 2 || version > kNewestProtocol)
      in_.fail("pickle protocol {} is not supported", version);
    for (;;) {
      const auto opcode = in_.read<uint8_t>("an instruction");
      if (opcode == kStop) break;
      if (!value_instruction(opcode) && !memo_instruction(opcode) && !container_instruction(opcode) &&
          !object_instruction(opcode))
        in_.fail("pickle instruction 0x{:02x} has no place in a checkpoint", opcode);
    }
    document_.root = pop();
    return std::move(document_);
  }

 private:
  // Numbers, texts and constants.
  bool value_instruction(uint8_t opcode) {
    switch (opcode) {
      case kNone:
        push(PickleNone{});
        return true;
      case kTrue:
        push(true);
        return true;
      case kFalse:
        push(false);
        return true;
      case kBinInt:
        push(int64_t{in_.read<int32_t>("a number")});
        return true;
      case kBinInt1:
        push(int64_t{in_.read<uint8_t>("a number")});
        return true;
      case kBinInt2:
        push(int64_t{in_.read<uint16_t>("a number")});
        return true;
      case kLong1:
        push(read_long());
        return true;
      case kBinFloat:
        push(read_float());
        return true;
      case kShortBinUnicode:
        push(in_.take_text(in_.read<uint8_t>("a text's length"), "a text"));
        return true;
      case kBinUnicode:
        push(in_.take_text(in_.read<uint32_t>("a text's length"), "a text"));
        return true;
      case kBinUnicode8:
        push(in_.take_text(in_.read<uint64_t>("a text's length"), "a text"));
        return true;
      default:
        return false;
    }
  }

  bool memo_instruction(uint8_t opcode) {
    switch (opcode) {
      case kBinPut:
        memo_[in_.read<uint8_t>("a memo index")] = top();
        return true;
      case kLongBinPut:
        memo_[in_.read<uint32_t>("a memo index")] = top();
        return true;
      case kMemoize:
        memo_[static_cast<uint32_t>(memo_.size())] = top();
        return true;
      case kBinGet:
        recall(in_.read<uint8_t>("a memo index"));
        return true;
      case kLongBinGet:
        recall(in_.read<uint32_t>("a memo index"));
        return true;
      default:
        return false;
    }
  }

  bool container_instruction(uint8_t opcode) {
    switch (opcode) {
      case kMark:
        marks_.push_back(stack_.size());
        return true;
      case kEmptyDict:
        push(PickleDict{});
        return true;
      case kEmptyList:
        push(PickleList{});
        return true;
      case kEmptyTuple:
        push(PickleTuple{});
        return true;
      case kTuple:
        push(PickleTuple{pop_to_mark()});
        return true;
      case kTuple1:
        push(PickleTuple{pop_many(1)});
        return true;
      case kTuple2:
        push(PickleTuple{pop_many(2)});
        return true;
      case kTuple3:
        push(PickleTuple{pop_many(3)});
        return true;
      case kAppend:
        append(pop_many(1));
        return true;
      case kAppends:
        append(pop_to_mark());
        return true;
      case kSetItem:
        set_items(pop_many(2));
        return true;
      case kSetItems:
        set_items(pop_to_mark());
        return true;
      default:
        return false;
    }
  }

  bool object_instruction(uint8_t opcode) {
    switch (opcode) {
      case kFrame:
        in_.read<uint64_t>("a frame's length");
        return true;  // frames only help streaming readers
      case kGlobal: {
        const std::string_view module = read_line();
        push_callable(module, read_line());
        return true;
      }
      case kStackGlobal: {
        const auto names = pop_many(2);
        push_callable(text(names[0], "a module's name"), text(names[1], "a callable's name"));
        return true;
      }
      case kBinPersId:
        push(make_storage(pop()));
        return true;
      case kReduce:
        reduce();
        return true;
      case kBuild:
        build();
        return true;
      default:
        return false;
    }
  }

  void push(PickleValue value) {
    if (document_.values.size() == kMostValues) in_.fail("the pickle makes more than {} values", kMostValues);
    stack_.push_back(static_cast<PickleId>(document_.values.size()));
    document_.values.push_back(std::move(value));
  }

  // What lies below an open mark belongs to a container that is still being filled.
  size_t reachable() const { return stack_.size() - (marks_.empty() ? 0 : marks_.back()); }

  PickleId top() const {
    if (reachable() == 0) in_.fail("the pickle's stack is empty");
    return stack_.back();
  }

  PickleId pop() {
    const PickleId id = top();
    stack_.pop_back();
    return id;
  }

  std::vector<PickleId> pop_many(size_t count) {
    if (reachable() < count)
      in_.fail("the pickle's stack has {} values where {} are needed", reachable(), count);
    const auto first = stack_.end() - static_cast<std::ptrdiff_t>(count);
    std::vector<PickleId> ids(first, stack_.end());
    stack_.erase(first, stack_.end());
    return ids;
  }

  std::vector<PickleId> pop_to_mark() {
    if (marks_.empty()) in_.fail("the pickle closes a container that it has not opened");
    auto ids = pop_many(reachable());
    marks_.pop_back();
    return ids;
  }

  void recall(uint32_t index) {
    const auto found = memo_.find(index);
    if (found == memo_.end()) in_.fail("the pickle refers to value {}, which it has not made", index);
    stack_.push_back(found->second);
  }

  int64_t read_long() {
    const auto size = in_.read<uint8_t>("a number's length");
    if (size > sizeof(int64_t)) in_.fail("a number of {} bytes has no place in a checkpoint", size);
    uint64_t value = 0;
    const auto bytes = in_.take(size, "a number");
    for (size_t i = 0; i < bytes.size(); ++i) value |= std::to_integer<uint64_t>(bytes[i]) << (8 * i);
    const unsigned unused_bits = 64 - 8 * size;
    if (size > 0) value = static_cast<uint64_t>(static_cast<int64_t>(value << unused_bits) >> unused_bits);
    return static_cast<int64_t>(value);
  }

  double read_float() {
    uint64_t bits = 0;
    for (const std::byte byte : in_.take(sizeof(double), "a number"))
      bits = bits << 8 | std::to_integer<uint64_t>(byte);
    return std::bit_cast<double>(bits);
  }

  std::string_view read_line() {
    constexpr size_t kMostName = 256;
    ByteReader ahead = in_;
    size_t length = 0;
    while (ahead.read<uint8_t>("the end of a name") != '\n')
      if (++length > kMostName) in_.fail("the name of a callable does not end");
    const auto line = in_.take_text(length, "a name");
    in_.take(1, "the end of a name");
    return line;
  }

  void push_callable(std::string_view module, std::string_view name) {
    for (const KnownCallable& known : kKnownCallables)
      if (known.module == module && known.name == name) return push(known.value);
    in_.fail("the pickle names '{}.{}', which has no place in a checkpoint; nothing was executed",
             printable(module), printable(name));
  }

  void append(const std::vector<PickleId>& items) {
    auto* list = std::get_if<PickleList>(&document_.values[top()]);
    if (list == nullptr) in_.fail("the pickle appends to something that is no list");
    list->items.insert(list->items.end(), items.begin(), items.end());
  }

  void set_items(const std::vector<PickleId>& items) {
    auto* dict = std::get_if<PickleDict>(&document_.values[top()]);
    if (dict == nullptr || items.size() % 2 != 0)
      in_.fail("the pickle sets items of something that is no dict");
    for (size_t i = 0; i < items.size(); i += 2) dict->items.emplace_back(items[i], items[i + 1]);
  }

  // Attributes of an OrderedDict (PyTorch keeps versions there) say nothing about the tensors.
  void build() {
    pop();
    if (document_.get<PickleDict>(top()) == nullptr)
      in_.fail("the pickle sets attributes of something that is no dict");
  }

  void reduce() {
    const auto call = pop_many(2);
    const auto* callable = document_.get<PickleCallable>(call[0]);
    const auto* arguments = document_.get<PickleTuple>(call[1]);
    if (callable == nullptr || arguments == nullptr)
      in_.fail("the pickle calls something that is no callable");
    const std::vector<PickleId> items = arguments->items;
    switch (*callable) {
      case PickleCallable::ordered_dict:
        if (!items.empty()) in_.fail("OrderedDict is called with {} arguments", items.size());
        return push(PickleDict{});
      case PickleCallable::rebuild_tensor:
        return push(make_tensor(items));
      case PickleCallable::rebuild_parameter:
        if (items.empty() || document_.get<PickleTensor>(items[0]) == nullptr)
          in_.fail("_rebuild_parameter is called without a tensor");
        stack_.push_back(items[0]);
    }
  }

  // ('storage', type, key, device, elements)
  PickleStorage make_storage(PickleId id) {
    const auto* tuple = document_.get<PickleTuple>(id);
    if (tuple == nullptr || tuple->items.size() != 5 ||
        text(tuple->items[0], "a reference's kind") != "storage")
      in_.fail("the pickle refers to something outside that is no storage");
    const auto* type = document_.get<PickleStorageType>(tuple->items[1]);
    if (type == nullptr) in_.fail("a storage has no known type");
    return {type->dtype, text(tuple->items[2], "a storage's key"),
            natural(tuple->items[4], "a storage's size")};
  }

  // (storage, offset, sizes, strides, requires_grad, hooks[, metadata])
  PickleTensor make_tensor(const std::vector<PickleId>& items) {
    if (items.size() < 4) in_.fail("_rebuild_tensor_v2 is called with {} arguments", items.size());
    const auto* storage = document_.get<PickleStorage>(items[0]);
    if (storage == nullptr) in_.fail("_rebuild_tensor_v2 is called without a storage");
    PickleTensor tensor{*storage, natural(items[1], "a tensor's offset"), naturals(items[2]),
                        naturals(items[3])};
    if (tensor.shape.size() != tensor.strides.size())
      in_.fail("a tensor has {} sizes and {} strides", tensor.shape.size(), tensor.strides.size());
    return tensor;
  }

  std::string_view text(PickleId id, std::string_view what) const {
    const auto* value = document_.get<std::string_view>(id);
    if (value == nullptr) in_.fail("{} is no text", what);
    return *value;
  }

  int64_t natural(PickleId id, std::string_view what) const {
    const auto* value = document_.get<int64_t>(id);
    if (value == nullptr || *value < 0) in_.fail("{} is no natural number", what);
    return *value;
  }

  Shape naturals(PickleId id) const {
    constexpr size_t kMostDimensions = 8;
    const auto* tuple = document_.get<PickleTuple>(id);
    if (tuple == nullptr || tuple->items.size() > kMostDimensions)
      in_.fail("a tensor's sizes are no short tuple");
    Shape shape;
    for (const PickleId item : tuple->items) shape.push_back(natural(item, "a tensor's size"));
    return shape;
  }

  ByteReader in_;
  PickleDocument document_;
  std::vector<PickleId> stack_;
  std::vector<size_t> marks_;  // stack heights at which open containers begin
  std::unordered_map<uint32_t, PickleId> memo_;
};

}  // namespace

const PickleValue* PickleDocument::find(const PickleDict& dict, std::string_view key) const {
  const auto found = std::find_if(dict.items.rbegin(), dict.items.rend(), [&](const auto& item) {
    const auto* text = get<std::string_view>(item.first);
    return text != nullptr && *text == key;
  });
  return found == dict.items.rend() ? nullptr : &values[found->second];
}

PickleDocument read_pickle(std::span<const std::byte> bytes, const std::string& name) {
  return PickleMachine(bytes, name).run();
}

}  // namespace sotto
