// Where settings come from, and which of them count.
#include "device/config.h"

#include <map>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "device/config_file.h"
#include "support/temporary_folder.h"

namespace sotto::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

class ConfigTest : public testing::Test {
 protected:
  void file(const std::string& name, const std::string& text) { write_file(folder_ / name, text); }
  void variable(const std::string& name, const std::string& value) { variables_[name] = value; }

  Configuration read() {
    ConfigPlaces places;
    places.files = {folder_ / "system.toml", folder_ / "user.toml", folder_ / "project.toml"};
    places.dotenv = folder_ / ".env";
    places.environment = [this](const char* name) -> std::optional<std::string> {
      const auto found = variables_.find(name);
      return found == variables_.end() ? std::nullopt : std::optional(found->second);
    };
    return read_configuration(places);
  }

  Setting setting(const std::string& name) {
    for (const Setting& each : read().settings)
      if (each.name == name) return each;
    return {};
  }
  std::string device() { return setting("device").value; }

  std::string refusal() {
    try {
      read();
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::usage);
      return error.what();
    }
    return "nothing was thrown";
  }

  TemporaryFolder folder_;
  std::map<std::string, std::string> variables_;
};

TEST_F(ConfigTest, nothing_there_sets_nothing) {
  const Configuration configuration = read();
  EXPECT_THAT(configuration.settings, IsEmpty());
  EXPECT_THAT(configuration.missing, SizeIs(4));
}

TEST_F(ConfigTest, each_place_wins_over_the_one_before) {
  file("system.toml", "device = 'vulkan'\nthreads = 3\n");
  EXPECT_EQ(device(), "vulkan");
  file("user.toml", "gpu_backend = 'rocm'\n");
  EXPECT_EQ(device(), "rocm");
  file("project.toml", "# a comment\ndevice = 'cuda:1'\n");
  EXPECT_EQ(device(), "cuda:1");
  EXPECT_THAT(setting("device").origin, HasSubstr("project.toml:2"));
  file(".env", "OTHER=1\nUSE_CUDA=0\n");
  EXPECT_EQ(device(), "cpu");
  file(".env", "USE_CUDA=0\nexport GPU_BACKEND=\"hip\"  # the card\n");
  EXPECT_EQ(device(), "hip");
  EXPECT_THAT(setting("device").origin, AllOf(HasSubstr("GPU_BACKEND"), HasSubstr(".env")));
  variable("USE_CUDA", "yes");
  EXPECT_EQ(device(), "cuda");
  variable("GPU_BACKEND", "vulkan");
  EXPECT_EQ(device(), "vulkan");
  variable("SOTTO_DEVICE", "auto");
  EXPECT_EQ(device(), "auto");
  EXPECT_EQ(setting("device").origin, "SOTTO_DEVICE");
  EXPECT_EQ(setting("threads").value, "3");
}

TEST_F(ConfigTest, use_cuda_false_means_cpu_only_where_the_backend_is_auto) {
  file("user.toml", "use_cuda = false\n");
  EXPECT_EQ(device(), "cpu");
  file("user.toml", "use_cuda = false\ngpu_backend = 'auto'\n");
  EXPECT_EQ(device(), "cpu");
  file("user.toml", "use_cuda = false\ngpu_backend = 'rocm'\n");
  EXPECT_EQ(device(), "rocm");
  file("user.toml", "use_cuda = true\n");
  EXPECT_EQ(device(), "");
}

TEST_F(ConfigTest, variables_of_the_older_kind) {
  for (const char* yes : {"1", "true", "YES"}) {
    variable("USE_CUDA", yes);
    EXPECT_EQ(device(), "cuda") << yes;
  }
  for (const char* no : {"0", "False", "no"}) {
    variable("USE_CUDA", no);
    EXPECT_EQ(device(), "cpu") << no;
  }
  variable("GPU_BACKEND", "auto");
  EXPECT_EQ(device(), "cpu");
  variable("USE_CUDA", "1");
  EXPECT_EQ(device(), "auto");
  variable("GPU_BACKEND", "");  // set but empty: not set
  EXPECT_EQ(device(), "cuda");
}

TEST_F(ConfigTest, any_option_is_a_key_with_either_dash) {
  file("user.toml",
       "beam_size = 3\ncompute-type = 'float32'\nvad = false\npatience = 1.5\ntemperature = [0, 0.4]\n");
  EXPECT_EQ(setting("beam-size").value, "3");
  EXPECT_EQ(setting("compute-type").value, "float32");
  EXPECT_EQ(setting("vad").value, "false");
  EXPECT_EQ(setting("patience").value, "1.5");
  EXPECT_EQ(setting("temperature").value, "0,0.4");
}

TEST_F(ConfigTest, unknown_keys_are_noted_with_their_place) {
  file("user.toml", "beam_size = 3\nbeem_size = 4\n[table]\nx = 1\n");
  const Configuration configuration = read();
  EXPECT_THAT(configuration.settings, SizeIs(1));
  ASSERT_THAT(configuration.notes, SizeIs(2));
  EXPECT_THAT(configuration.notes[0], AllOf(HasSubstr("user.toml:2"), HasSubstr("'beem_size'")));
}

TEST_F(ConfigTest, mistakes_are_usage_errors_that_name_the_place) {
  file("user.toml", "threads = 2\ndevice = \n");
  EXPECT_THAT(refusal(), AllOf(HasSubstr("user.toml:2"), HasSubstr("no TOML")));
  file("user.toml", "\nthreads = 'many'\n");
  EXPECT_THAT(refusal(), AllOf(HasSubstr("user.toml:2"), HasSubstr("whole number")));
  file("user.toml", "device = 'toaster'\n");
  EXPECT_THAT(refusal(), AllOf(HasSubstr("user.toml:1"), HasSubstr("toaster")));
  file("user.toml", "device = [['cpu']]\n");
  EXPECT_THAT(refusal(), HasSubstr("user.toml:1"));
  file("user.toml", "use_cuda = 'no'\n");
  EXPECT_THAT(refusal(), HasSubstr("use_cuda is true or false"));
  file("user.toml", "");
  variable("GPU_BACKEND", "opencl");
  EXPECT_THAT(refusal(), AllOf(HasSubstr("GPU_BACKEND"), HasSubstr("opencl")));
  variable("GPU_BACKEND", "");
  variable("USE_CUDA", "maybe");
  EXPECT_THAT(refusal(), AllOf(HasSubstr("USE_CUDA"), HasSubstr("maybe")));
}

TEST_F(ConfigTest, the_example_is_valid_and_says_the_defaults) {
  std::string text = example_configuration();
  EXPECT_THAT(text, HasSubstr("docs/gpu.md"));
  for (size_t at = 0; (at = text.find("\n#", at)) != std::string::npos; ++at)
    if (text[at + 2] != ' ') text.erase(at + 1, 1);  // as a user would who wants them all
  std::vector<std::string> notes;
  const auto settings = parse_config_file(text, "example", notes);
  EXPECT_THAT(notes, IsEmpty());
  EXPECT_THAT(settings, SizeIs(option_specs().size()));
  const Options defaults;
  for (const Setting& each : settings) EXPECT_EQ(each.value, get_option(defaults, each.name)) << each.name;
}

}  // namespace
}  // namespace sotto::test
