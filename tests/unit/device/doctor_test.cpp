// The gates, one by one.
#include "device/doctor.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "device/device_json.h"
#include "support/temporary_folder.h"
#include "unit/device/fake_devices.h"

namespace sotto::test {
namespace {

using testing::HasSubstr;
using testing::SizeIs;

std::string shape_of(const Examination& examination) {  // "ppsss": passed, failed, skipped
  std::string shape;
  for (const Gate& gate : examination.gates)
    shape += gate.status == GateStatus::passed ? 'p' : gate.status == GateStatus::failed ? 'f' : 's';
  return shape;
}

template <class Backends>
DoctorReport report_on(std::vector<Device> devices, const Backends& backends) {
  Detection detection;
  detection.catalogue = with_cpu(std::move(devices));
  const TemporaryFolder folder;
  return examine(detection, backends, SelfTestCache(folder / "cache"), 0, [](const std::string&) {});
}

TEST(Doctor, the_cpu_passes_every_gate_that_concerns_it) {
  const DoctorReport report = report_on({}, built_in_backends());
  ASSERT_THAT(report.devices, SizeIs(1));
  EXPECT_EQ(shape_of(report.devices[0]), "psssppppp") << doctor_json(report);
  EXPECT_THAT(report.devices[0].gates[7].seen, HasSubstr("He still kept"));
}

TEST(Doctor, every_finding_closes_its_gate_and_those_behind) {
  const std::pair<FindingCode, const char*> kCases[] = {
      {FindingCode::no_driver, "pfsssssss"},
      {FindingCode::probe_hung, "ppfssssss"},
      {FindingCode::driver_too_old, "ppfssssss"},
      {FindingCode::comgr_missing, "ppfssssss"},
      {FindingCode::runtime_sees_nothing, "pppfsssss"},
      {FindingCode::no_access, "pppfsssss"},
      {FindingCode::out_of_memory, "ppppfssss"},
      {FindingCode::no_kernels, "pppppfsss"},
  };
  Detection detection;
  for (const auto& [code, shape] : kCases) {
    Device card = radeon();
    card.obstacle = Finding{code, card.name, "something"};
    detection.catalogue.devices = {card};
    const DoctorReport report =
        examine(detection, built_in_backends(), SelfTestCache({}), 0, [](const std::string&) {});
    EXPECT_EQ(shape_of(report.devices.at(0)), shape);
    for (const Gate& gate : report.devices[0].gates)
      EXPECT_EQ(gate.status == GateStatus::failed, gate.next.find("docs/gpu.md#") != std::string::npos);
  }
}

TEST(Doctor, a_healthy_gpu_is_computed_with) {
  const DoctorReport report = report_on({radeon()}, build_with(DeviceKind::rocm));
  EXPECT_EQ(shape_of(report.devices.at(0)).substr(0, 8), "pppppppp") << doctor_json(report);
}

TEST(Doctor, a_gpu_that_multiplies_wrongly_stops_at_the_matrix_product) {
  const DoctorReport report = report_on({radeon()}, build_with(DeviceKind::rocm, open_wrong));
  EXPECT_EQ(shape_of(report.devices.at(0)), "ppppppfss");
  EXPECT_THAT(report.devices[0].gates[6].seen, HasSubstr("A x I is 0.25 off"));
}

TEST(Doctor, a_gpu_without_memory_stops_at_the_memory) {
  const DoctorReport report = report_on({radeon()}, build_with(DeviceKind::rocm, open_without_memory));
  EXPECT_EQ(shape_of(report.devices.at(0)), "ppppfssss");
  EXPECT_THAT(report.devices[0].gates[4].seen, HasSubstr("2 GiB were refused"));
}

TEST(Doctor, the_matrix_product_of_the_cpu_is_right_in_every_type) {
  for (const ComputeType type : cpu_compute_types()) {
    const auto backend = make_cpu_backend({.compute_type = type});
    const MatrixCheck check = check_matrix_product(*backend);
    EXPECT_TRUE(check.passed()) << compute_type_name(type) << ": " << check.identity_error << ", "
                                << check.random_error;
  }
}

}  // namespace
}  // namespace sotto::test
