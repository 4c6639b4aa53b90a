#pragma once

#include <filesystem>

namespace sotto {

std::filesystem::path user_cache_directory();   // for things that can be made again
std::filesystem::path user_config_directory();  // for what the user writes

}  // namespace sotto
