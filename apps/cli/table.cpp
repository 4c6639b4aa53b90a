#include "cli/table.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "cli/help.h"
#include "cli/terminal.h"

namespace sotto::cli {
namespace {

constexpr size_t kTextColumns = 76;

bool looks_like_number(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789.-%") == std::string_view::npos;
}

std::string with_spaces(std::string name) {
  std::replace(name.begin(), name.end(), '_', ' ');
  return name;
}

void append_object(std::string& out, const Json& object, size_t indent) {
  size_t widest = 0;
  for (const auto& item : object.items()) widest = std::max(widest, displayed_columns(item.key()));
  for (const auto& item : object.items()) {
    const std::string name = fmt::format("{:{}}{}", "", indent, with_spaces(item.key()));
    if (item.value().is_object()) {
      out += name + "\n";
      append_object(out, item.value(), indent + 2);
      continue;
    }
    const size_t column = indent + widest + 2;
    const size_t room = column + 20 < kTextColumns ? kTextColumns - column : 20;
    std::string left = fmt::format("{:{}}", name, column);
    for (const std::string& line : wrapped(cell_text(item.value()), room)) {
      out += left + line + "\n";
      left.assign(column, ' ');
    }
  }
}

}  // namespace

std::string cell_text(const Json& value) {
  if (value.is_string()) return value.get<std::string>();
  if (value.is_null()) return "-";
  if (value.is_boolean()) return value.get<bool>() ? "yes" : "no";
  if (value.is_number_float()) {
    const double number = value.get<double>();
    return std::abs(number) >= 100 ? fmt::format("{:.0f}", number) : fmt::format("{:.3g}", number);
  }
  if (value.is_array()) {
    std::vector<std::string> parts;
    for (const Json& element : value) parts.push_back(cell_text(element));
    return fmt::format("{}", fmt::join(parts, ", "));
  }
  return value.dump();
}

std::string readable(const Json& object) {
  std::string out;
  append_object(out, object, 0);
  return out;
}

std::string aligned_table(const std::vector<std::vector<std::string>>& rows) {
  std::vector<size_t> widths;
  for (const auto& row : rows) {
    widths.resize(std::max(widths.size(), row.size()));
    for (size_t column = 0; column < row.size(); ++column)
      widths[column] = std::max(widths[column], displayed_columns(row[column]));
  }
  std::string out;
  for (const auto& row : rows) {
    std::string line;
    for (size_t column = 0; column < row.size(); ++column) {
      const std::string padding(widths[column] - displayed_columns(row[column]), ' ');
      const bool right = looks_like_number(row[column]);
      line += (column > 0 ? "  " : "") + (right ? padding + row[column] : row[column] + padding);
    }
    line.erase(line.find_last_not_of(' ') + 1);
    out += line + "\n";
  }
  return out;
}

}  // namespace sotto::cli
