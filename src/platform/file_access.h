#pragma once

#include <filesystem>
#include <string>

namespace sotto {

// Whether this process may open the file for reading and writing.
bool may_read_and_write(const std::filesystem::path& path) noexcept;

// The group that owns a file, as a number where it has no name here; empty when unknown.
std::string owner_group(const std::filesystem::path& path);

}  // namespace sotto
