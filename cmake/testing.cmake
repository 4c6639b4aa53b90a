include_guard(GLOBAL)
find_package(GTest REQUIRED)
include(GoogleTest)

if(SOTTO_SANITIZE)  # such a build is slow: long tests take a sample
  set(slow_build 1)
else()
  set(slow_build 0)
endif()

# Where tests find what the repository holds and, where it exists, what lies outside it.
add_library(sotto_test_settings INTERFACE)
target_compile_definitions(sotto_test_settings INTERFACE
  SOTTO_SOURCE_DIR="${PROJECT_SOURCE_DIR}"
  SOTTO_BINARY_DIR="${PROJECT_BINARY_DIR}"
  SOTTO_SLOW_BUILD=${slow_build})
target_include_directories(sotto_test_settings INTERFACE ${PROJECT_SOURCE_DIR}/tests)
target_link_libraries(sotto_test_settings INTERFACE sotto_settings GTest::gtest_main GTest::gmock)
target_compile_options(sotto_test_settings INTERFACE -O1)  # a test's own code is not worth the compiler's time

add_custom_target(short_tests)

# The headers that nearly every test includes, compiled once.
add_executable(sotto_test_headers ${PROJECT_SOURCE_DIR}/tests/support/precompiled.cpp)
target_link_libraries(sotto_test_headers PRIVATE sotto_test_settings nlohmann_json::nlohmann_json fmt::fmt)
target_precompile_headers(sotto_test_headers PRIVATE
  <gtest/gtest.h> <gmock/gmock.h> <fmt/format.h> <nlohmann/json.hpp> <filesystem> <fstream> <functional> <random> <thread>)

# One test program; CTest runs it once as a whole so that the start-up cost is paid once.
#   sotto_add_test(model_test SOURCES safetensors_test.cpp ... USES sotto_model)
# LONG marks one that is long to build or to run under a sanitizer (it runs the whole program, transcribes much, or computes
# on a software GPU) and reads no bytes of others that a short one does not: `./test` leaves it out there, `./test --all` does
# not. The target short_tests builds all others.
function(sotto_add_test name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "LONG" "" "SOURCES;USES;ENVIRONMENT")
  add_executable(${name} ${arg_SOURCES})
  target_link_libraries(${name} PRIVATE sotto_test_settings ${arg_USES})
  target_precompile_headers(${name} REUSE_FROM sotto_test_headers)
  add_test(NAME ${name} COMMAND ${name})
  if(arg_LONG)
    set_tests_properties(${name} PROPERTIES LABELS long)
  else()
    add_dependencies(short_tests ${name})
  endif()
  if(arg_ENVIRONMENT)
    set_tests_properties(${name} PROPERTIES ENVIRONMENT "${arg_ENVIRONMENT}")
  endif()
endfunction()
