#include "base/log.h"

#include <atomic>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace sotto {
namespace {

class Log : public testing::Test {
 protected:
  ~Log() override { set_log_sink(nullptr); }
};

TEST_F(Log, WithoutASinkMessagesGoNowhere) {
  set_log_sink(nullptr);
  EXPECT_NO_THROW(log(LogLevel::error, "nobody hears {}", "this"));
}

TEST_F(Log, TheSinkGetsLevelAndFormattedText) {
  std::vector<std::pair<LogLevel, std::string>> heard;
  set_log_sink([&](LogLevel level, std::string_view text) { heard.emplace_back(level, text); });
  log(LogLevel::debug, "{} of {}", 1, 2);
  log_message(LogLevel::warning, "braces {} stay");
  ASSERT_EQ(heard.size(), 2U);
  EXPECT_EQ(heard[0], std::pair(LogLevel::debug, std::string("1 of 2")));
  EXPECT_EQ(heard[1], std::pair(LogLevel::warning, std::string("braces {} stay")));
}

TEST_F(Log, ANewSinkReplacesTheOldOne) {
  int first = 0, second = 0;
  set_log_sink([&](LogLevel, std::string_view) { ++first; });
  set_log_sink([&](LogLevel, std::string_view) { ++second; });
  log(LogLevel::info, "once");
  EXPECT_EQ(first, 0);
  EXPECT_EQ(second, 1);
}

TEST_F(Log, ASinkMayLogAndReplaceItself) {
  std::vector<std::string> heard;
  set_log_sink([&](LogLevel, std::string_view text) {
    heard.emplace_back(text);
    set_log_sink([&](LogLevel, std::string_view later) { heard.push_back("second: " + std::string(later)); });
    log(LogLevel::info, "from inside");
  });
  log(LogLevel::info, "outside");
  EXPECT_EQ(heard, (std::vector<std::string>{"outside", "second: from inside"}));
}

TEST_F(Log, ThreadsMayLogWhileTheSinkChanges) {
  std::atomic<int> heard = 0;
  const auto count = [&](LogLevel, std::string_view) { ++heard; };
  set_log_sink(count);
  constexpr int kThreads = 4, kMessages = 500;
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i)
    threads.emplace_back([] {
      for (int j = 0; j < kMessages; ++j) log(LogLevel::info, "message {}", j);
    });
  for (int i = 0; i < 100; ++i) set_log_sink(count);
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(heard, kThreads * kMessages);
}

}  // namespace
}  // namespace sotto
