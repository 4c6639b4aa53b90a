#include <gtest/gtest.h>

#include "backend/gpu/hip_driver.h"
#include "device/gpu_generations.h"
#include "device/pci_names.h"

namespace sotto {
namespace {

struct Named {
  const char* architecture;
  const char* generation;
};

class GenerationTest : public testing::TestWithParam<Named> {};

TEST_P(GenerationTest, IsNamedForPeople) {
  EXPECT_EQ(generation_name(GetParam().architecture), GetParam().generation);
}

INSTANTIATE_TEST_SUITE_P(Amd, GenerationTest,
                         testing::Values(Named{"gfx803", "GCN 3 or 4"}, Named{"gfx900", "Vega"},
                                         Named{"gfx906", "Vega"}, Named{"gfx90c", "Vega"},
                                         Named{"gfx908", "CDNA 1"}, Named{"gfx90a", "CDNA 2"},
                                         Named{"gfx90a:sramecc+:xnack-", "CDNA 2"}, Named{"gfx942", "CDNA 3"},
                                         Named{"gfx950", "CDNA 4"}, Named{"gfx1010", "RDNA 1"},
                                         Named{"gfx1012", "RDNA 1"}, Named{"gfx1030", "RDNA 2"},
                                         Named{"gfx1036", "RDNA 2"}, Named{"gfx1100", "RDNA 3"},
                                         Named{"gfx1103", "RDNA 3"}, Named{"gfx1151", "RDNA 3.5"},
                                         Named{"gfx1201", "RDNA 4"}, Named{"gfx1300", ""}));

INSTANTIATE_TEST_SUITE_P(Nvidia, GenerationTest,
                         testing::Values(Named{"sm_52", "Maxwell"}, Named{"sm_61", "Pascal"},
                                         Named{"sm_70", "Volta"}, Named{"sm_75", "Turing"},
                                         Named{"sm_80", "Ampere"}, Named{"sm_86", "Ampere"},
                                         Named{"sm_89", "Ada"}, Named{"sm_90", "Hopper"},
                                         Named{"sm_100", "Blackwell"}, Named{"sm_120", "Blackwell"},
                                         Named{"sm_200", ""}, Named{"", ""}));

TEST(GfxName, WritesTheKernelsNumberAsTheCompilerDoes) {
  EXPECT_EQ(gfx_name(100100), "gfx1010");
  EXPECT_EQ(gfx_name(100306), "gfx1036");
  EXPECT_EQ(gfx_name(110000), "gfx1100");
  EXPECT_EQ(gfx_name(120001), "gfx1201");
  EXPECT_EQ(gfx_name(90010), "gfx90a");
  EXPECT_EQ(gfx_name(90012), "gfx90c");
  EXPECT_EQ(gfx_name(90402), "gfx942");
  EXPECT_EQ(gfx_name(0), "");
}

TEST(SmName, JoinsTheCapability) {
  EXPECT_EQ(sm_name(8, 9), "sm_89");
  EXPECT_EQ(sm_name(12, 0), "sm_120");
}

TEST(IntegratedArchitecture, AreThoseInsideProcessors) {
  EXPECT_TRUE(is_integrated_architecture("gfx90c:xnack+"));
  EXPECT_TRUE(is_integrated_architecture("gfx1103"));
  EXPECT_FALSE(is_integrated_architecture("gfx1030"));
}

TEST(PciNames, KnowCardsByTheirIds) {
  const PciName navi = pci_name(kAmdVendor, 0x731f);
  EXPECT_EQ(navi.name, "AMD Radeon RX 5600 / 5700 series");
  EXPECT_EQ(navi.architecture, "gfx1010");
  EXPECT_EQ(navi.generation, "RDNA 1");
  EXPECT_EQ(pci_name(kAmdVendor, 0x7550).architecture, "gfx1201");
  EXPECT_EQ(pci_name(kAmdVendor, 0x744c).generation, "RDNA 3");
  EXPECT_EQ(pci_name(kAmdVendor, 0x0001).name, "AMD GPU");
  EXPECT_EQ(pci_name(kNvidiaVendor, 0x2684).generation, "Ada");
  EXPECT_EQ(pci_name(kNvidiaVendor, 0x2335).generation, "Hopper");
  EXPECT_EQ(pci_name(kNvidiaVendor, 0x1db6).generation, "Volta");
  EXPECT_EQ(pci_name(kNvidiaVendor, 0xffff).generation, "");
  EXPECT_EQ(pci_name(kIntelVendor, 0x56a0).name, "Intel Arc A770");
  EXPECT_EQ(pci_name(kIntelVendor, 0xe20b).generation, "Arc (Battlemage)");
  EXPECT_EQ(pci_name(0x1af4, 0x1050).name, "display controller");
}

TEST(HipArchitecture, IsFoundWhereverTheLayoutPutsIt) {
  using namespace std::string_literals;
  EXPECT_EQ(hip::find_architecture("AMD Radeon\0\0\0gfx1010:xnack-\0"s), "gfx1010");
  EXPECT_EQ(hip::find_architecture("gfx90a\0"s), "gfx90a");
  EXPECT_EQ(hip::find_architecture("gfx rocks\0gfx1201\0"s), "gfx1201");
  EXPECT_EQ(hip::find_architecture("gfx1010"s), std::nullopt) << "nothing ends it";
  EXPECT_EQ(hip::find_architecture("\0\0"s), std::nullopt);
}

}  // namespace
}  // namespace sotto
