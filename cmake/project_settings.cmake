# Settings that hold for every target of the project.
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_C_STANDARD 11)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_CXX_VISIBILITY_PRESET hidden)
set(CMAKE_C_VISIBILITY_PRESET hidden)
set(CMAKE_VISIBILITY_INLINES_HIDDEN ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)

if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "" FORCE)
endif()

add_library(sotto_settings INTERFACE)
target_compile_options(sotto_settings INTERFACE -Wall -Wextra -Wshadow -Wnon-virtual-dtor -Wno-missing-field-initializers)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  target_compile_options(sotto_settings INTERFACE -Wno-restrict)  # GCC 12 warns wrongly about std::string's operator+
endif()
target_include_directories(sotto_settings INTERFACE ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR}/include)
if(SOTTO_SANITIZE)
  target_compile_options(sotto_settings INTERFACE -fsanitize=${SOTTO_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  target_link_options(sotto_settings INTERFACE -fsanitize=${SOTTO_SANITIZE})
endif()
if(SOTTO_COVERAGE)
  target_compile_options(sotto_settings INTERFACE --coverage)
  target_link_options(sotto_settings INTERFACE --coverage)
endif()

# One static library per folder of src/. The link line is the include rule of docs/architecture.md.
#   sotto_folder(tensor SOURCES dtype.cpp ... USES sotto_base)
function(sotto_folder name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;USES")
  add_library(sotto_${name} STATIC ${arg_SOURCES})
  target_link_libraries(sotto_${name} PUBLIC sotto_settings ${arg_USES})
  target_precompile_headers(sotto_${name} PRIVATE
    <fmt/format.h> <algorithm> <filesystem> <functional> <memory> <optional> <span> <string> <string_view> <vector>)
endfunction()
