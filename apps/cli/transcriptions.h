#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <variant>
#include <vector>

#include "cli/engine.h"

namespace sotto::cli {

// What the work on a file tells, in this order: one Begun, any number of the next two, one Ended.
struct Begun {
  bool resumes;  // an interrupted run has left a checkpoint from which this one goes on
};
struct SegmentText {
  std::string text;
};
struct Advanced {
  double done;   // seconds
  double total;  // negative: unknown
};
struct Ended {
  sotto_status status;
  std::string problem;  // one sentence, unless the status is SOTTO_OK
  ResultOwner result;   // with SOTTO_OK and SOTTO_CANCELLED
};
struct Event {
  size_t file;  // index into the list of files
  std::variant<Begun, SegmentText, Advanced, Ended> what;
};

// Transcribes files with one model, several at a time: each worker takes the next file of the list when it
// has ended one, and the engine decodes their windows side by side. All that happens is told to the one
// thread that calls next(). An interrupt ends the files that have begun early and leaves the others alone.
class Transcriptions {
 public:
  Transcriptions(sotto_model* model, const sotto_options* options, std::vector<std::string> files,
                 size_t at_a_time);
  ~Transcriptions();  // stops what is still being worked on
  Transcriptions(const Transcriptions&) = delete;
  Transcriptions& operator=(const Transcriptions&) = delete;

  // Waits for the next event; nothing when all work has ended.
  std::optional<Event> next();

 private:
  struct Listener;

  void start_worker(OptionsOwner options);
  void work(sotto_options* options);
  std::optional<size_t> take_file();
  Ended transcribe(size_t file, sotto_options* options);
  void post(Event event);
  bool should_stop() const;

  sotto_model* model_;
  const std::vector<std::string> files_;
  const bool user_names_checkpoint_;
  const bool resume_;
  std::atomic<bool> stopping_{false};

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Event> events_;  // guarded by mutex_
  size_t next_file_ = 0;      // guarded by mutex_
  size_t workers_ = 0;        // that may still post events; guarded by mutex_

  std::vector<std::thread> threads_;
};

}  // namespace sotto::cli
