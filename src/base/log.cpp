#include "base/log.h"

#include <memory>
#include <mutex>

namespace sotto {
namespace {

std::mutex g_mutex;
std::shared_ptr<const LogSink> g_sink;  // guarded by g_mutex

}  // namespace

void set_log_sink(LogSink sink) {
  auto next = sink ? std::make_shared<const LogSink>(std::move(sink)) : nullptr;
  const std::lock_guard lock(g_mutex);
  g_sink = std::move(next);
}

void log_message(LogLevel level, std::string_view text) {
  std::shared_ptr<const LogSink> sink;
  {
    const std::lock_guard lock(g_mutex);
    sink = g_sink;
  }
  if (sink) (*sink)(level, text);  // called without the lock: a sink may log or replace itself
}

}  // namespace sotto
