// Runs of the program under test keep their checkpoints in a folder of the test's own, not in the user's
// cache.
#include <cstdlib>

#include <gtest/gtest.h>

#include "support/temporary_folder.h"

namespace sotto::test {
namespace {

class OwnCache : public testing::Environment {
 public:
  void SetUp() override { setenv("XDG_CACHE_HOME", folder_.path().c_str(), 1); }

 private:
  TemporaryFolder folder_;
};

const testing::Environment* const kOwnCache = testing::AddGlobalTestEnvironment(new OwnCache);

}  // namespace
}  // namespace sotto::test
