#include "cli/transcriptions.h"

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "cli/checkpoint_file.h"
#include "cli/interrupt.h"

namespace sotto::cli {
namespace {

bool has_content(const std::filesystem::path& path) {
  std::error_code problem;
  const auto size = std::filesystem::file_size(path, problem);
  return !problem && size > 0;
}

}  // namespace

// What the callbacks of the C API are given.
struct Transcriptions::Listener {
  Transcriptions& owner;
  size_t file;

  // noexcept: an exception must not travel through the engine, and all that could fail here is to find memory
  // for a line of text.
  static void on_segment(const sotto_segment* segment, void* user) noexcept {
    auto& self = *static_cast<Listener*>(user);
    self.owner.post({self.file, SegmentText{segment->text}});
  }
  static void on_progress(double done, double total, void* user) noexcept {
    auto& self = *static_cast<Listener*>(user);
    self.owner.post({self.file, Advanced{done, total}});
  }
  static int should_stop(void* user) noexcept { return static_cast<Listener*>(user)->owner.should_stop(); }
};

Transcriptions::Transcriptions(sotto_model* model, const sotto_options* options,
                               std::vector<std::string> files, size_t at_a_time)
    : model_(model),
      files_(std::move(files)),
      user_names_checkpoint_(!option_text(options, "checkpoint").empty()),
      resume_(option_is_on(options, "resume")) {
  const size_t wanted = std::min(std::max<size_t>(at_a_time, 1), files_.size());
  while (threads_.size() < wanted) {
    OptionsOwner own_options = copy_options(options);
    try {
      start_worker(std::move(own_options));
    } catch (const std::system_error&) {  // no more threads to be had: fewer do the same work
      if (threads_.empty()) throw;
      break;
    }
  }
}

Transcriptions::~Transcriptions() {
  stopping_ = true;
  for (std::thread& thread : threads_) thread.join();
}

void Transcriptions::start_worker(OptionsOwner options) {
  threads_.reserve(threads_.size() + 1);
  // Counted under the lock, so that next() cannot take the moment before for the end of all work.
  const std::lock_guard lock(mutex_);
  threads_.emplace_back([this, own = std::move(options)] { work(own.get()); });
  ++workers_;
}

void Transcriptions::work(sotto_options* options) {
  while (const auto file = take_file()) {
    Ended ending{SOTTO_ERROR_INTERNAL, "", nullptr};
    try {
      ending = transcribe(*file, options);
    } catch (const std::exception& problem) {
      ending.problem = problem.what();
    }
    post({*file, std::move(ending)});
  }
  const std::lock_guard lock(mutex_);
  --workers_;
  changed_.notify_all();
}

std::optional<size_t> Transcriptions::take_file() {
  const std::lock_guard lock(mutex_);
  if (should_stop() || next_file_ == files_.size()) return std::nullopt;
  return next_file_++;
}

Ended Transcriptions::transcribe(size_t file, sotto_options* options) {
  const std::string& path = files_[file];
  const CheckpointFile own_checkpoint(user_names_checkpoint_ ? std::filesystem::path()
                                                             : checkpoint_path(path));
  if (!user_names_checkpoint_)
    require_ok(sotto_options_set(options, "checkpoint",
                                 own_checkpoint.usable() ? own_checkpoint.path().c_str() : ""));
  const bool earlier_run = user_names_checkpoint_ ? has_content(option_text(options, "checkpoint"))
                                                  : own_checkpoint.holds_earlier_run();
  post({file, Begun{resume_ && earlier_run}});

  Listener listener{*this, file};
  const sotto_callbacks callbacks{sizeof(sotto_callbacks), &listener,
                                  Listener::on_segment,    Listener::on_progress,
                                  Listener::should_stop,   nullptr};
  sotto_result* result = nullptr;
  const sotto_status status = sotto_transcribe_file(model_, path.c_str(), options, &callbacks, &result);
  return {status, status == SOTTO_OK ? "" : sotto_last_error(), ResultOwner(result)};
}

void Transcriptions::post(Event event) {
  const std::lock_guard lock(mutex_);
  events_.push_back(std::move(event));
  changed_.notify_all();
}

std::optional<Event> Transcriptions::next() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return !events_.empty() || workers_ == 0; });
  if (events_.empty()) return std::nullopt;
  Event event = std::move(events_.front());
  events_.pop_front();
  return event;
}

bool Transcriptions::should_stop() const {
  return stopping_ || interrupted();
}

}  // namespace sotto::cli
