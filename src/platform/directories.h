#pragma once

#include <filesystem>

namespace sotto {

std::filesystem::path user_cache_directory();   // for things that can be made again
std::filesystem::path user_config_directory();  // for what the user writes
std::filesystem::path user_data_directory();    // for what the user keeps, such as models
std::filesystem::path home_directory();

}  // namespace sotto
