#include "model/json_text.h"

#include "base/error.h"

namespace sotto {
namespace {

constexpr size_t kMostNesting = 64;

// Builds the value while it watches for what the library's own builder lets pass.
class StrictBuilder final : public nlohmann::json_sax<Json> {
 public:
  explicit StrictBuilder(std::string_view name) : name_(name) {}

  Json take() { return std::move(root_); }

  bool null() override { return place(nullptr); }
  bool boolean(bool value) override { return place(value); }
  bool number_integer(number_integer_t value) override { return place(value); }
  bool number_unsigned(number_unsigned_t value) override { return place(value); }
  bool number_float(number_float_t value, const string_t& /*text*/) override { return place(value); }
  bool string(string_t& value) override { return place(std::move(value)); }
  bool binary(binary_t& /*value*/) override { return false; }

  bool start_object(size_t /*elements*/) override { return open(Json::object()); }
  bool end_object() override { return close(); }
  bool start_array(size_t /*elements*/) override { return open(Json::array()); }
  bool end_array() override { return close(); }

  bool key(string_t& name) override {
    auto& members = open_.back()->get_ref<Json::object_t&>();
    const auto [member, is_new] = members.try_emplace(std::move(name));
    if (!is_new) throw Error(ErrorCode::bad_model, "{}: the key '{}' occurs twice", name_, member->first);
    member_ = &member->second;
    return true;
  }

  bool parse_error(size_t position, const std::string& /*token*/, const Json::exception& /*why*/) override {
    throw Error(ErrorCode::bad_model, "{}: is not valid JSON (around byte {})", name_, position);
  }

 private:
  template <class Value>
  bool place(Value&& value) {
    put(Json(std::forward<Value>(value)));
    return true;
  }

  Json* put(Json value) {
    if (open_.empty()) {
      root_ = std::move(value);
      return &root_;
    }
    if (open_.back()->is_object()) {
      *member_ = std::move(value);
      return member_;
    }
    auto& elements = open_.back()->get_ref<Json::array_t&>();
    elements.push_back(std::move(value));
    return &elements.back();
  }

  bool open(Json container) {
    if (open_.size() == kMostNesting)
      throw Error(ErrorCode::bad_model, "{}: its JSON is nested more than {} deep", name_, kMostNesting);
    open_.push_back(put(std::move(container)));
    return true;
  }

  bool close() {
    open_.pop_back();
    return true;
  }

  std::string_view name_;
  Json root_;
  std::vector<Json*>
      open_;  // the containers around the current place; a parent does not grow while a child is open
  Json* member_ = nullptr;  // where the value of the last key goes
};

}  // namespace

Json parse_json(std::string_view text, std::string_view name) {
  StrictBuilder builder(name);
  Json::sax_parse(text.begin(), text.end(), &builder);
  return builder.take();
}

Json parse_json_object(std::string_view text, std::string_view name) {
  Json value = parse_json(text, name);
  if (!value.is_object()) throw Error(ErrorCode::bad_model, "{}: should hold a JSON object", name);
  return value;
}

const Json* find_member(const Json& object, const char* key) {
  const auto member = object.find(key);
  return member == object.end() || member->is_null() ? nullptr : &*member;
}

int64_t integer_value(const Json& value, std::string_view key, std::string_view name, int64_t lowest,
                      int64_t highest) {
  if (!value.is_number_integer())
    throw Error(ErrorCode::bad_model, "{}: '{}' should be a whole number", name, key);
  const bool fits = !value.is_number_unsigned() || value.get<uint64_t>() <= static_cast<uint64_t>(INT64_MAX);
  if (!fits || value.get<int64_t>() < lowest || value.get<int64_t>() > highest)
    throw Error(ErrorCode::bad_model, "{}: '{}' is {}, which is not between {} and {}", name, key,
                value.dump(), lowest, highest);
  return value.get<int64_t>();
}

int required_integer(const Json& object, const char* key, std::string_view name, int lowest, int highest) {
  const auto value = optional_integer(object, key, name, lowest, highest);
  if (!value) throw Error(ErrorCode::bad_model, "{}: '{}' is missing", name, key);
  return *value;
}

std::optional<int> optional_integer(const Json& object, const char* key, std::string_view name, int lowest,
                                    int highest) {
  const Json* value = find_member(object, key);
  if (value == nullptr) return std::nullopt;
  return static_cast<int>(integer_value(*value, key, name, lowest, highest));
}

const std::string& string_value(const Json& value, std::string_view key, std::string_view name) {
  if (!value.is_string()) throw Error(ErrorCode::bad_model, "{}: '{}' should be a string", name, key);
  return value.get_ref<const std::string&>();
}

}  // namespace sotto
