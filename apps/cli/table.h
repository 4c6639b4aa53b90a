#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

namespace sotto::cli {

using Json = nlohmann::ordered_json;

// Rows of cells in aligned columns, two spaces apart; numbers (by look) to the right.
std::string aligned_table(const std::vector<std::vector<std::string>>& rows);

// A JSON object as "name  value" lines for people: underscores become spaces, lists are joined, objects
// indented.
std::string readable(const Json& object);

std::string cell_text(const Json& value);  // 12.34, "text" without quotes, lists joined by commas

}  // namespace sotto::cli
