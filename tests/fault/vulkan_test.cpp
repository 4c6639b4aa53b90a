// The Vulkan backend where things go wrong: no memory, a lost device, damaged files, and models that come and
// go.
#include <cmath>
#include <numeric>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "backend/vulkan/vulkan_backend.h"
#include "backend/vulkan/vulkan_types.h"
#include "base/error.h"
#include "fault/scenario.h"
#include "support/checkpoint_tools.h"
#include "support/test_backends.h"
#include "whisper/network.h"

namespace sotto::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;

class VulkanTest : public testing::Test {
 protected:
  void SetUp() override {
    for (const TestBackend& backend : test_backends())
      if (backend.name == "vulkan" && !backend.absent.empty()) GTEST_SKIP() << backend.absent;
  }

  static VulkanOptions exact() {
    VulkanOptions options;
    options.compute_type = ComputeType::float32;
    return options;
  }
  VulkanOptions faulty() const {
    VulkanOptions options = exact();
    options.library = fake_library("faulty_vulkan");
    return options;
  }

  // A load and one decoding step of a very small model.
  std::vector<float> use(Backend& backend) const {
    const Network network(backend, checkpoint_);
    Session session(network, 1, 2);
    const std::vector<float> mel(static_cast<size_t>(network.mel_frames() * checkpoint_.config.mel_bins),
                                 0.1f);
    session.encode(0, mel);
    return session.logits(std::vector<DecodeRow>{{1, 0, 0, 0}, {2, 1, 0, 0}});
  }

  const Checkpoint checkpoint_ = make_random_checkpoint(small_config(), 1);
};

template <class Work>
Error error_from(Work work) {
  try {
    work();
  } catch (const Error& error) {
    return error;
  }
  return {ErrorCode::internal, "no error"};
}

TEST_F(VulkanTest, EveryAllocationMayFail) {
  const std::vector<float> expected = use(*make_vulkan_backend(exact()));
  int failed = 0;
  for (int allocation = 1; allocation < 100; ++allocation) {
    const ScopedVariable fault("SOTTO_FAULT", fmt::format("vkAllocateMemory {}", allocation));
    const auto backend = make_vulkan_backend(faulty());
    std::vector<float> logits;
    const Error error = error_from([&] { logits = use(*backend); });
    if (!logits.empty()) {
      EXPECT_EQ(logits, expected);
      break;  // it needs no more allocations than that
    }
    EXPECT_EQ(error.code(), ErrorCode::out_of_memory) << error.what();
    EXPECT_THAT(error.what(), AllOf(HasSubstr("MiB"), HasSubstr("VK_ERROR_OUT_OF_DEVICE_MEMORY")));
    ++failed;
  }
  EXPECT_GE(failed, 2);
  EXPECT_LT(failed, 98);
}

TEST_F(VulkanTest, ALostDeviceIsAnErrorAndNothingMore) {
  const std::vector<float> expected = use(*make_vulkan_backend(exact()));
  for (const int submission : {1, 2, 5, 20}) {
    const ScopedVariable fault("SOTTO_FAULT", fmt::format("vkQueueSubmit {}", submission));
    const auto backend = make_vulkan_backend(faulty());
    for (int again = 0; again < 2; ++again) {  // it stays lost
      const Error error = error_from([&] { use(*backend); });
      EXPECT_EQ(error.code(), ErrorCode::device) << error.what();
      EXPECT_THAT(error.what(), HasSubstr("VK_ERROR_DEVICE_LOST"));
    }
  }
  EXPECT_EQ(use(*make_vulkan_backend(exact())), expected);  // a fresh one works
}

TEST_F(VulkanTest, MemoryComesBackThroughFiveHundredModels) {
  const auto backend = make_vulkan_backend(exact());
  const std::vector<float> expected = use(*backend);
  auto& context = static_cast<vk::VulkanBackend&>(*backend).context();
  const auto before = context.allocator.bytes_in_use();
  for (int model = 0; model < 500; ++model) {
    const Network network(*backend, checkpoint_);
    if (model % 100 == 0) {
      ASSERT_EQ(use(*backend), expected) << model;
      ASSERT_EQ(use(*make_vulkan_backend(exact())), expected) << model;  // a device beside it
    }
  }
  EXPECT_EQ(context.allocator.bytes_in_use(), before);
}

TEST_F(VulkanTest, PipelinesAreKeptAndADamagedFileIsMadeAgain) {
  TemporaryFolder folder;
  VulkanOptions options = exact();
  options.cache = folder.path();
  const auto files = [&] {
    std::vector<std::filesystem::path> list;
    for (const auto& entry : std::filesystem::directory_iterator(folder.path())) list.push_back(entry.path());
    return list;
  };
  const std::vector<float> expected = use(*make_vulkan_backend(options));
  ASSERT_EQ(files().size(), 1u);
  const std::filesystem::path file = files().front();
  const std::vector<std::byte> good = read_file(file);
  ASSERT_GT(good.size(), 64u);

  std::vector<std::byte> flipped = good, cut(good.begin(), good.end() - 5), longer = good;
  flipped.back() ^= std::byte{1};
  longer.push_back(std::byte{0});
  std::vector<std::byte> other_key = good;
  other_key[40] ^= std::byte{1};
  std::vector<std::byte> huge_key = good;
  std::fill_n(huge_key.begin() + 8, 8, std::byte{0xff});
  for (const auto& damaged : {flipped, cut, longer, other_key, huge_key, std::vector<std::byte>{}}) {
    write_file(file, damaged);
    EXPECT_EQ(use(*make_vulkan_backend(options)), expected);
    EXPECT_NE(read_file(file), damaged);
  }
  const std::vector<std::byte> mended = read_file(file);
  EXPECT_EQ(use(*make_vulkan_backend(options)), expected);
  EXPECT_EQ(read_file(file), mended);  // what is good is not written again
}

TEST_F(VulkanTest, NoTileChangesABit) {
  constexpr size_t kRows = 300, kInputs = 136, kOutputs = 70;
  VulkanOptions options = exact();
  options.without = "lanes";
  vk::VulkanBackend backend(options);
  std::vector<float> values(kOutputs * kInputs), x(kRows * kInputs), first;
  for (size_t i = 0; i < values.size(); ++i) values[i] = std::sin(static_cast<float>(i));
  for (size_t i = 0; i < x.size(); ++i) x[i] = std::cos(static_cast<float>(i));
  const TensorView view{.shape = {kOutputs, kInputs}, .data = std::as_bytes(std::span(values))};
  const Backend::MatrixPart part{&view, nullptr};
  const auto matrix = backend.pack_matrix({&part, 1}, MatrixUse::many_rows);
  const auto memory = backend.allocate(kRows * (kInputs + kOutputs));
  const Rows in{memory.get(), 0, kRows, kInputs, kInputs},
      out{memory.get(), kRows * kInputs, kRows, kOutputs, kOutputs};
  backend.write(in, x);
  for (const vk::MatrixTile tile :
       {vk::MatrixTile{32, 32, 4, 4, 1}, {64, 64, 8, 4, 2}, {128, 64, 8, 8, 2}, {32, 64, 2, 4, 4}}) {
    backend.set_tile(tile);
    backend.linear(*matrix, in, out);
    std::vector<float> y(kRows * kOutputs);
    backend.read(out, y);
    if (first.empty()) first = y;
    EXPECT_EQ(y, first) << tile.tile_rows << " x " << tile.tile_outputs;
  }
}

TEST_F(VulkanTest, WhatCannotBeIsSaid) {
  VulkanOptions options = exact();
  options.without = "dot,wings";
  EXPECT_THAT(error_from([&] { make_vulkan_backend(options); }).what(),
              AllOf(HasSubstr("'wings'"), HasSubstr("subgroups")));
  options.without.clear();
  options.uuid = "00000000-1111-2222-3333-444444444444";
  const Error absent = error_from([&] { make_vulkan_backend(options); });
  EXPECT_EQ(absent.code(), ErrorCode::device);
  EXPECT_THAT(absent.what(), HasSubstr(options.uuid));
  options.uuid.clear();
  options.compute_type = ComputeType::bfloat16;
  const Error type = error_from([&] { make_vulkan_backend(options); });
  EXPECT_EQ(type.code(), ErrorCode::unsupported);
  EXPECT_THAT(type.what(), AllOf(HasSubstr("bfloat16"), HasSubstr("int8_float16")));
  options.library = "/nowhere/libvulkan.so.1";
  EXPECT_EQ(error_from([&] { make_vulkan_backend(options); }).code(), ErrorCode::device);
}

}  // namespace
}  // namespace sotto::test
