#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <vector>

namespace sotto::test {

// An array as NumPy stores it. Floating-point types are read as float32, whole numbers as int64; only one of
// the two is filled.
struct NpyArray {
  std::vector<size_t> shape;
  std::vector<float> floats;
  std::vector<int64_t> ints;

  size_t size() const;  // the product of the shape; 1 for a single number
};

// These throw std::runtime_error with the file and the reason when something is not as expected.
NpyArray read_npy(const std::filesystem::path& path);
std::map<std::string, NpyArray> read_npz(const std::filesystem::path& path);  // names without ".npy"

}  // namespace sotto::test
