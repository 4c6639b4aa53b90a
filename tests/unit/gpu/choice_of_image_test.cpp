// Which image a chip and a driver get, from a table as a release has it.
#include <gtest/gtest.h>

#include "backend/gpu/images.h"

namespace sotto::gpu {
namespace {

using Form = Image::Form;

constexpr std::byte kBytes[2]{};
Image nvidia(Form form, Path path, std::string_view architecture, int driver) {
  return {Vendor::nvidia, form, path, architecture, driver, architecture, kBytes, kBytes + 1};
}
Image amd(std::string_view architecture) {
  return {Vendor::amd, Form::code_object, Path::simt, architecture,
          50000000,    architecture,      kBytes,     kBytes + 1};
}

std::vector<Image> release() {
  return {nvidia(Form::cubin, Path::simt, "sm_75", 13000),
          nvidia(Form::cubin, Path::simt, "sm_80", 13000),
          nvidia(Form::cubin, Path::simt, "sm_86", 13000),
          nvidia(Form::cubin, Path::simt, "sm_90a", 13000),
          nvidia(Form::ptx, Path::simt, "sm_90", 13000),
          nvidia(Form::ptx, Path::simt, "sm_75", 12000),
          nvidia(Form::ptx, Path::simt, "sm_80", 12000),
          nvidia(Form::cubin, Path::mma, "sm_80", 13000),
          nvidia(Form::ptx, Path::mma, "sm_80", 12000),
          nvidia(Form::cubin, Path::wgmma, "sm_90a", 13000),
          amd("gfx1010"),
          amd("gfx1030")};
}

struct Case {
  std::string_view chip;
  int driver;
  Path path;
  std::string_view architecture;  // of the image; empty: none
  Form form;
};

TEST(ChoiceOfImage, IsTheNearestThatTheDriverTakes) {
  const std::vector<Image> table = release();
  for (const Case& c : {
           Case{"sm_75", 13000, Path::simt, "sm_75", Form::cubin},
           Case{"sm_80", 13000, Path::simt, "sm_80", Form::cubin},
           Case{"sm_89", 13000, Path::simt, "sm_86", Form::cubin},
           Case{"sm_90", 13000, Path::simt, "sm_90a", Form::cubin},
           Case{"sm_100", 13000, Path::simt, "sm_90", Form::ptx},
           Case{"sm_120", 13010, Path::mma, "sm_80", Form::ptx},
           Case{"sm_75", 12000, Path::simt, "sm_75", Form::ptx},
           Case{"sm_89", 12040, Path::simt, "sm_80", Form::ptx},
           Case{"sm_90", 12080, Path::simt, "sm_80", Form::ptx},
           Case{"sm_90", 12080, Path::mma, "sm_80", Form::ptx},
           Case{"sm_90", 13000, Path::wgmma, "sm_90a", Form::cubin},
           Case{"sm_90", 12080, Path::wgmma, "", Form::cubin},
           Case{"sm_100", 13000, Path::wgmma, "", Form::cubin},
           Case{"sm_75", 13000, Path::mma, "", Form::cubin},
           Case{"sm_70", 13000, Path::simt, "", Form::cubin},
           Case{"sm_75", 11080, Path::simt, "", Form::cubin},
       }) {
    const Image* image = choose_image(table, Vendor::nvidia, c.chip, c.driver, c.path);
    ASSERT_EQ(image != nullptr, !c.architecture.empty())
        << c.chip << " " << c.driver << " " << path_name(c.path);
    if (image == nullptr) continue;
    EXPECT_EQ(image->architecture, c.architecture) << c.chip << " " << c.driver;
    EXPECT_EQ(image->form, c.form) << c.chip << " " << c.driver;
  }
}

TEST(ChoiceOfImage, AmdChipsTakeTheirOwnCodeOnly) {
  const std::vector<Image> table = release();
  EXPECT_EQ(choose_image(table, Vendor::amd, "gfx1010", 60032831, Path::simt)->architecture, "gfx1010");
  EXPECT_EQ(choose_image(table, Vendor::amd, "gfx1031", 60032831, Path::simt), nullptr);
  EXPECT_EQ(choose_image(table, Vendor::amd, "gfx1010", 40000000, Path::simt), nullptr);
}

TEST(ChoiceOfImage, NothingFittingNamesTheDriverOrTheChips) {
  const std::vector<Image> table = release();
  EXPECT_FALSE(why_no_image(table, Vendor::nvidia, "sm_89", 12000).has_value());
  EXPECT_EQ(
      why_no_image(table, Vendor::nvidia, "sm_89", 11080),
      "its driver offers CUDA 11.8, and the kernels in this build need CUDA 12.0 or later (driver 525)");
  std::vector<Image> by_nvcc_alone;
  for (const Image& image : table)
    if (image.minimum_driver != 12000) by_nvcc_alone.push_back(image);
  EXPECT_EQ(
      why_no_image(by_nvcc_alone, Vendor::nvidia, "sm_89", 12040),
      "its driver offers CUDA 12.4, and the kernels in this build need CUDA 13.0 or later (driver 580)");
  EXPECT_EQ(why_no_image(table, Vendor::amd, "gfx1201", 60032831),
            "it holds kernels for gfx1010, gfx1030, not for gfx1201");
  EXPECT_EQ(why_no_image({}, Vendor::amd, "gfx1010", 60032831),
            "it was built without clang 15, so it holds no kernels for AMD");
  EXPECT_EQ(why_no_image({}, Vendor::nvidia, "sm_89", 12040),
            "it was built without nvcc or clang 15, so it holds no kernels for NVIDIA");
}

}  // namespace
}  // namespace sotto::gpu
