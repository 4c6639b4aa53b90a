// Which device is taken, and what is said about it.
#include "device/choice.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "unit/device/fake_devices.h"

namespace sotto::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::MatchesRegex;
using testing::SizeIs;
using testing::StartsWith;

const auto trust_all = [](const Device&, Backend&) -> std::optional<Finding> { return std::nullopt; };

template <class Backends>
OpenedDevice open(const std::string& name, const Catalogue& catalogue, const Backends& backends,
                  bool fallback = true) {
  DeviceRequest request;
  request.device = name;
  request.origin = "--device";
  request.threads = 1;
  request.fallback = fallback;
  return open_device(request, catalogue, backends, trust_all);
}

template <class Body>
Error error_of(Body body) {
  try {
    body();
  } catch (const Error& error) {
    return error;
  }
  return Error(ErrorCode::internal, "nothing was thrown");
}

TEST(DeviceName, knows_kinds_aliases_indices_and_uuids) {
  EXPECT_FALSE(parse_device_name("auto").kind);
  EXPECT_EQ(parse_device_name("hip").kind, DeviceKind::rocm);
  EXPECT_EQ(parse_device_name("mps").kind, DeviceKind::metal);
  EXPECT_EQ(parse_device_name("cuda:1").which, "1");
  EXPECT_EQ(parse_device_name("cuda:GPU-3f2a91c0-0000").which, "GPU-3f2a91c0-0000");
}

TEST(DeviceName, anything_else_is_a_usage_error_that_lists_what_there_is) {
  for (const char* name :
       {"toaster", "", "auto:1", "cuda:", "cuda:x", "cuda:3f2a91", "cuda:-1", ":1", "CUDA"}) {
    const Error error = error_of([&] { parse_device_name(name); });
    EXPECT_EQ(error.code(), ErrorCode::usage) << name;
    EXPECT_THAT(error.what(), HasSubstr("cuda")) << name;
  }
}

TEST(Choice, auto_takes_the_best_device_and_says_so_in_one_line) {
  const auto build = build_with(DeviceKind::rocm);
  const OpenedDevice opened = open("auto", with_cpu({radeon()}), build);
  EXPECT_EQ(opened.line, "Detected AMD Radeon RX 5700 XT (RDNA 1): using GPU acceleration (rocm:0, float16)");
  EXPECT_EQ(opened.device.id(), "rocm:0");
  EXPECT_THAT(opened.notes, IsEmpty());
}

TEST(Choice, without_a_gpu_auto_says_cpu_mode) {
  const OpenedDevice opened =
      open("auto", with_cpu({}, {{FindingCode::no_gpu, "", ""}}), built_in_backends());
  EXPECT_THAT(opened.line, MatchesRegex("No supported GPU found: using CPU mode \\(1 thread, .*, int8\\)"));
  EXPECT_THAT(opened.notes, IsEmpty());
}

TEST(Choice, auto_tells_which_gpu_it_passed_over_and_why_once_for_each_card) {
  Device card = radeon(), same_card = radeon();
  same_card.kind = DeviceKind::vulkan;
  const OpenedDevice opened = open("auto", with_cpu({card, same_card}), built_in_backends());
  ASSERT_THAT(opened.notes, SizeIs(1));
  EXPECT_EQ(opened.notes[0].level, LogLevel::info);
  EXPECT_THAT(opened.notes[0].text,
              AllOf(HasSubstr("RX 5700 XT (RDNA 1)"), HasSubstr("docs/gpu.md#no-kernels")));
}

TEST(Choice, auto_takes_what_was_measured_to_be_faster) {
  const auto build = build_with(DeviceKind::cuda);
  Device fast = geforce(0), faster = geforce(1), slow = geforce(0);
  fast.timing = {0.010, 0.050};
  faster.timing = {0.005, 0.050};
  slow.timing = {0.100, 0.050};

  const OpenedDevice best = open("auto", with_cpu({fast, faster}), build);
  EXPECT_EQ(best.device.index, 1);
  EXPECT_EQ(best.why, "measured here: 10.0 times as fast as the CPU");

  const OpenedDevice cpu = open("auto", with_cpu({slow}), build);
  EXPECT_EQ(cpu.device.kind, DeviceKind::cpu);
  EXPECT_EQ(cpu.why, "measured here: 2.0 times as fast as NVIDIA GeForce RTX 4090 (Ada)");
  EXPECT_THAT(cpu.line, StartsWith("Using CPU mode ("));
  ASSERT_THAT(cpu.notes, SizeIs(1));
  EXPECT_THAT(cpu.notes[0].text, AllOf(HasSubstr("RTX 4090"), HasSubstr("100.0 ms a window, the CPU 50.0 ms"),
                                       HasSubstr("--device cuda:0")));

  EXPECT_EQ(open("cuda", with_cpu({slow}), build).device.kind, DeviceKind::cuda);  // who asks for it gets it
  EXPECT_EQ(open("auto", with_cpu({slow, geforce(1)}), build).device.index, 1);    // not timed yet
}

TEST(Choice, what_the_cpu_lacks_is_not_asked_of_it_when_it_steps_in) {
  const OpenedDevice opened =
      open_device({.device = "cuda", .compute_type = ComputeType::int8_float16, .threads = 1}, with_cpu({}),
                  build_with(DeviceKind::cuda), trust_all);
  EXPECT_EQ(opened.device.kind, DeviceKind::cpu);
  EXPECT_EQ(opened.backend->compute_type(), ComputeType::int8);
}

TEST(Choice, a_software_device_is_used_only_when_asked_for) {
  Device lavapipe = gpu(DeviceKind::vulkan, 0, "llvmpipe", "", "");
  lavapipe.software = true;
  const auto build = build_with(DeviceKind::vulkan);
  EXPECT_EQ(open("auto", with_cpu({lavapipe}), build).device.kind, DeviceKind::cpu);
  EXPECT_EQ(open("vulkan", with_cpu({lavapipe}), build).device.name, "llvmpipe");
}

TEST(Choice, index_and_uuid_select) {
  const auto build = build_with(DeviceKind::cuda);
  const Catalogue two = with_cpu({geforce(0), geforce(1)});
  EXPECT_EQ(open("cuda", two, build).device.index, 0);
  EXPECT_EQ(open("cuda:1", two, build).device.index, 1);
  EXPECT_EQ(open("cuda:3f2a91c1", two, build).device.index, 1);
  EXPECT_EQ(open("cuda:GPU-3F2A91C1-0000", two, build).device.index, 1);
  const OpenedDevice none = open("cuda:7", two, build);
  EXPECT_EQ(none.device.kind, DeviceKind::cpu);
  EXPECT_THAT(none.notes.at(0).text, HasSubstr("there is: cuda:0, cuda:1"));
}

TEST(Choice, a_device_that_cannot_serve_gives_a_warning_and_the_cpu) {
  const OpenedDevice opened = open("rocm", with_cpu({radeon()}), built_in_backends());
  EXPECT_EQ(opened.device.kind, DeviceKind::cpu);
  EXPECT_THAT(opened.line, StartsWith("Using CPU mode (1 thread"));
  ASSERT_THAT(opened.notes, SizeIs(1));
  EXPECT_EQ(opened.notes[0].level, LogLevel::warning);
  EXPECT_THAT(opened.notes[0].text,
              AllOf(HasSubstr("'rocm' (asked for by --device)"), HasSubstr("no GPU kernels"),
                    HasSubstr("docs/gpu.md#no-kernels"), HasSubstr("Going on with the CPU")));
  EXPECT_THAT(opened.why, HasSubstr("instead of 'rocm'"));
}

TEST(Choice, without_fallback_the_same_words_are_an_error) {
  const Error error = error_of([] { open("rocm", with_cpu({radeon()}), built_in_backends(), false); });
  EXPECT_EQ(error.code(), ErrorCode::device);
  EXPECT_THAT(error.what(), AllOf(HasSubstr("no GPU kernels"), HasSubstr("--no-fallback")));
}

TEST(Choice, a_kind_that_is_not_there_is_explained_by_what_was_found) {
  const Catalogue catalogue = with_cpu({}, {{FindingCode::probe_hung, "libcuda.so.1", "5 s"}});
  const OpenedDevice opened = open("cuda", catalogue, built_in_backends());
  EXPECT_THAT(opened.notes.at(0).text,
              AllOf(HasSubstr("No NVIDIA (cuda) device"), HasSubstr("did not answer in time")));
}

TEST(Choice, a_device_that_cannot_be_opened_gives_way_to_the_next) {
  const std::array backends{BackendEntry{DeviceKind::cuda, supports_all, open_without_memory},
                            BackendEntry{DeviceKind::rocm, supports_all, open_as_gpu},
                            BackendEntry{DeviceKind::cpu, supports_all, open_the_cpu}};
  const OpenedDevice opened = open("auto", with_cpu({geforce(), radeon()}), backends);
  EXPECT_EQ(opened.device.kind, DeviceKind::rocm);
  EXPECT_THAT(opened.notes.at(0).text, HasSubstr("docs/gpu.md#out-of-memory"));
}

TEST(Choice, a_device_that_is_not_trusted_is_skipped) {
  const auto build = build_with(DeviceKind::cuda);
  const OpenedDevice opened =
      open_device({.device = "auto", .threads = 1}, with_cpu({geforce()}), build,
                  [](const Device& device, Backend&) -> std::optional<Finding> {
                    return Finding{FindingCode::self_test_failed, device.name, "0.5 off"};
                  });
  EXPECT_EQ(opened.device.kind, DeviceKind::cpu);
  EXPECT_THAT(opened.notes.at(0).text, HasSubstr("computes wrong results: 0.5 off"));
}

TEST(ComputeTypes, auto_is_float16_where_the_chip_is_good_at_it) {
  EXPECT_EQ(cuda_compute_types("sm_52").front(), ComputeType::float32);
  EXPECT_EQ(cuda_compute_types("sm_61").front(), ComputeType::float32);
  for (const char* sm : {"sm_70", "sm_75", "sm_89", "sm_90", "sm_120"})
    EXPECT_EQ(cuda_compute_types(sm).front(), ComputeType::float16) << sm;
  EXPECT_EQ(rocm_compute_types("gfx803").front(), ComputeType::float32);
  for (const char* gfx : {"gfx900", "gfx90a", "gfx1010", "gfx1030", "gfx1100", "gfx1201"})
    EXPECT_EQ(rocm_compute_types(gfx).front(), ComputeType::float16) << gfx;
  EXPECT_EQ(vulkan_compute_types(false).front(), ComputeType::float32);
  EXPECT_EQ(cpu_compute_types().front(), ComputeType::int8);
}

TEST(ComputeTypes, a_type_that_the_chip_lacks_is_an_error_that_lists_those_it_has) {
  for (const auto& device : {radeon(), gpu(DeviceKind::cuda, 0, "GTX 1080", "sm_61", "Pascal")}) {
    const Error error = error_of([&] { choose_compute_type(device, ComputeType::bfloat16); });
    EXPECT_EQ(error.code(), ErrorCode::unsupported);
    EXPECT_THAT(error.what(), AllOf(HasSubstr("cannot compute in bfloat16; it has: "), HasSubstr("float32")));
  }
  EXPECT_EQ(choose_compute_type(geforce(), ComputeType::bfloat16), ComputeType::bfloat16);
}

}  // namespace
}  // namespace sotto::test
