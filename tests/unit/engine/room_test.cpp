// What a device has no room for is refused before anything is moved there, with the figures and what to do.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "backend/cpu/cpu_backend.h"
#include "support/checkpoint_tools.h"
#include "unit/device/wrapped_backend.h"
#include "whisper/network.h"

namespace sotto::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;

constexpr size_t kMebibyte = 1 << 20;

class Room : public testing::Test {
 protected:
  const Checkpoint checkpoint = make_random_checkpoint(small_config(), 1);
  WrappedBackend backend{make_cpu_backend({.compute_type = ComputeType::float32, .threads = 1})};

  void leave(size_t mebibytes) { backend.limit = Backend::Room{mebibytes * kMebibyte, 4, 4}; }
};

TEST_F(Room, IsAskedForBeforeTheModelIsMoved) {
  leave(10);
  EXPECT_THAT(
      error_of([&] { Network network(backend, checkpoint); }),
      AllOf(HasSubstr("the model needs 66 MiB"), HasSubstr("but 10 MiB are free"), HasSubstr("--batch-size"),
            HasSubstr("--compute-type int8"), HasSubstr("a smaller model"), HasSubstr("--device cpu")));
  leave(70);
  EXPECT_NO_THROW(Network(backend, checkpoint));
}

TEST_F(Room, IsAskedForBeforeTheWorkBegins) {
  const Network network(backend, checkpoint);
  leave(80);
  EXPECT_NO_THROW(Session(network, 1, 1));
  EXPECT_THAT(error_of([&] { Session session(network, 16, 80); }),
              AllOf(HasSubstr("decoding 16 windows with 80 hypotheses at a time needs"),
                    HasSubstr("but 80 MiB are free"), HasSubstr("--batch-size")));
}

TEST_F(Room, IsNoQuestionWhereTheMemoryIsTheSystems) {
  const Network network(backend, checkpoint);
  EXPECT_NO_THROW(Session(network, 16, 80));
}

}  // namespace
}  // namespace sotto::test
