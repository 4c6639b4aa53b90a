#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

namespace sotto {

using Json = nlohmann::json;

// Strict JSON from a model file: no repeated keys, no nesting that could exhaust the stack. Throws
// Error(bad_model); `name` says which file.
Json parse_json(std::string_view text, std::string_view name);
Json parse_json_object(std::string_view text, std::string_view name);

// A member of an object, or nullptr when it is absent or null.
const Json* find_member(const Json& object, const char* key);

// Integers within limits; Error(bad_model) names the file and the key when the value is of another kind or
// outside.
int64_t integer_value(const Json& value, std::string_view key, std::string_view name, int64_t lowest,
                      int64_t highest);
int required_integer(const Json& object, const char* key, std::string_view name, int lowest, int highest);
std::optional<int> optional_integer(const Json& object, const char* key, std::string_view name, int lowest,
                                    int highest);

// A string member, Error(bad_model) when it is of another kind.
const std::string& string_value(const Json& value, std::string_view key, std::string_view name);

}  // namespace sotto
