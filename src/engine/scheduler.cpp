#include "engine/scheduler.h"

#include <algorithm>

#include "base/error.h"

namespace sotto {
namespace {

// Numbers count-1 .. 0: taking from the back gives the lowest first.
std::vector<int> descending(int count) {
  std::vector<int> numbers;
  for (int i = count; i-- > 0;) numbers.push_back(i);
  return numbers;
}

void give_back(std::vector<int>& free, int number) {
  free.insert(std::lower_bound(free.begin(), free.end(), number, std::greater<>()), number);
}

Error cancelled_error() {
  return {ErrorCode::cancelled, "the work was stopped before its end"};
}

}  // namespace

struct Scheduler::Item {
  WindowRequest request;
  std::promise<WindowResult> promise;
  std::shared_ptr<const std::atomic<bool>> cancelled;
  int priority = 0;
  uint64_t arrival = 0;

  // While it is active:
  std::unique_ptr<WindowJob> job;
  std::vector<int> slots;
  int window = -1;

  bool is_cancelled() const { return cancelled && *cancelled; }
};

bool Scheduler::ByPriority::operator()(const std::unique_ptr<Item>& a,
                                       const std::unique_ptr<Item>& b) const noexcept {
  return std::pair(a->priority, a->arrival) < std::pair(b->priority, b->arrival);
}

Scheduler::Scheduler(NetworkSource& source, const ModelConfig& config, const Tokenizer& tokenizer,
                     const SchedulerOptions& options)
    : source_(source),
      config_(config),
      mel_tables_{mel_transform_window(), mel_filter_table(config.mel_bins),
                  static_cast<size_t>(config.mel_bins)},
      tokenizer_(tokenizer),
      batch_(std::max(options.batch, 1)),
      keep_alive_(options.keep_alive),
      thread_([this] { run(); }) {}

Scheduler::User::User(Scheduler& scheduler) : scheduler_(scheduler) {
  const std::lock_guard lock(scheduler.mutex_);
  ++scheduler.users_;
}

Scheduler::User::~User() {
  {
    const std::lock_guard lock(scheduler_.mutex_);
    --scheduler_.users_;
  }
  scheduler_.wake_.notify_all();
}

Scheduler::~Scheduler() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_all();
  thread_.join();
}

std::future<WindowResult> Scheduler::submit(WindowRequest request, int priority,
                                            std::shared_ptr<const std::atomic<bool>> cancelled) {
  auto item = std::make_unique<Item>();
  item->request = std::move(request);
  item->cancelled = std::move(cancelled);
  item->priority = priority;
  auto future = item->promise.get_future();
  {
    const std::lock_guard lock(mutex_);
    item->arrival = arrivals_++;
    pending_.insert(std::move(item));
  }
  wake_.notify_all();
  return future;
}

void Scheduler::run() {
  while (wait_for_work()) {
    try {
      drop_cancelled();
      prepare_session();
      admit();
      encode_admitted();
      step();
    } catch (const Error& error) {
      recover(error);
    } catch (...) {
      fail(std::current_exception());
    }
  }
  fail_active(std::make_exception_ptr(cancelled_error()));
}

bool Scheduler::wait_for_work() {
  std::unique_lock lock(mutex_);
  const auto has_work = [this] { return stopping_ || !pending_.empty() || !active_.empty(); };
  while (!has_work()) {
    const bool may_unload = loaded_ && keep_alive_ >= 0;
    if (!may_unload || users_ > 0) {
      wake_.wait(lock, [&] { return has_work() || (may_unload && users_ == 0); });
    } else if (!wake_.wait_for(lock, std::chrono::duration<double>(keep_alive_),
                               [&] { return has_work() || users_ > 0; })) {
      lock.unlock();
      session_.reset();
      source_.unload();
      loaded_ = false;
      lock.lock();
    }
  }
  if (!stopping_) return true;
  for (const auto& item : pending_) item->promise.set_exception(std::make_exception_ptr(cancelled_error()));
  pending_.clear();
  return false;
}

void Scheduler::recover(const Error& error) {
  session_.reset();
  try {
    if (!source_.replace(error)) return fail(std::make_exception_ptr(error));
  } catch (...) {
    return fail(std::current_exception());
  }
  // What was under way begins anew; what was finished stays.
  const std::lock_guard lock(mutex_);
  for (auto& item : active_) {
    if (item->window < 0) continue;
    item->job.reset();
    item->window = -1;
    pending_.insert(std::move(item));
  }
  active_.clear();
}

// Where nothing was under way it is the next window that cannot be served.
void Scheduler::fail(const std::exception_ptr& error) {
  if (active_.empty()) {
    const std::lock_guard lock(mutex_);
    if (!pending_.empty()) pending_.extract(pending_.begin()).value()->promise.set_exception(error);
  }
  fail_active(error);
}

bool Scheduler::fits(const Item& item) const {
  const auto slots = static_cast<size_t>(item.request.slots());
  return session_ && !free_windows_.empty() && free_slots_.size() >= slots;
}

// A session is made for what is asked of it. Memory that no window has used yet costs nothing on the CPU.
void Scheduler::prepare_session() {
  if (!active_.empty()) return;
  int slots = 0;
  {
    const std::lock_guard lock(mutex_);
    for (const auto& item : pending_)
      if (!item->is_cancelled()) {
        slots = item->request.slots();
        break;
      }
  }
  if (slots == 0 || (session_ && session_->slots() >= slots)) return;
  session_.reset();
  const Network& network = source_.network();
  loaded_ = true;
  session_ = std::make_unique<Session>(network, batch_, batch_ * slots, &mel_tables_);
  free_windows_ = descending(batch_);
  free_slots_ = descending(batch_ * slots);
}

void Scheduler::admit() {
  const std::lock_guard lock(mutex_);
  while (!pending_.empty()) {
    const Item& next = **pending_.begin();
    if (next.is_cancelled()) {
      pending_.extract(pending_.begin())
          .value()
          ->promise.set_exception(std::make_exception_ptr(cancelled_error()));
      continue;
    }
    if (!fits(next)) return;
    auto item = std::move(pending_.extract(pending_.begin()).value());
    const int slots = item->request.slots();
    item->window = free_windows_.back();
    free_windows_.pop_back();
    item->slots.assign(free_slots_.rbegin(), free_slots_.rbegin() + slots);
    free_slots_.resize(free_slots_.size() - static_cast<size_t>(slots));
    active_.push_back(std::move(item));
  }
}

// A device that computes no mels gets them computed, though the window was made for one that does.
EncodeItem Scheduler::encode_item(Item& item) const {
  WindowRequest& request = item.request;
  if (!request.audio.samples.empty() && !session_->computes_mel()) {
    request.mel = mel_of(request.audio, config_.mel_bins);
    request.audio = {};
  }
  return {item.window, request.mel, request.audio.samples, request.audio.audible_frames};
}

void Scheduler::encode_admitted() {
  std::vector<EncodeItem> items;
  for (const auto& item : active_)
    if (!item->job) items.push_back(encode_item(*item));
  if (items.empty()) return;
  session_->encode(items);
  for (const auto& item : active_) {
    if (item->job) continue;
    // The item keeps its request, so that it can begin anew on another device; the job needs no mel.
    std::vector<float> mel = std::move(item->request.mel);
    WindowSamples samples = std::move(item->request.audio);
    item->job = std::make_unique<WindowJob>(tokenizer_, config_, item->request, item->slots, item->window);
    item->request.mel = std::move(mel);
    item->request.audio = std::move(samples);
  }
}

void Scheduler::step() {
  if (active_.empty()) return;
  call_.clear();
  for (const auto& item : active_) item->job->plan(call_);
  const std::vector<SampleResult> results = call_.run(*session_);
  std::span<const SampleResult> rest = results;
  for (const auto& item : active_) rest = rest.subspan(item->job->accept(rest));
  for (const auto& item : active_) {
    if (!item->job->finished()) continue;
    if (item->job->wants_alignment()) item->job->align(*session_);
    item->promise.set_value(item->job->take_result());
    retire(*item);
  }
  std::erase_if(active_, [](const auto& item) { return item->window < 0; });
}

void Scheduler::retire(Item& item) {
  give_back(free_windows_, item.window);
  for (const int slot : item.slots) give_back(free_slots_, slot);
  item.window = -1;
}

void Scheduler::drop_cancelled() {
  for (const auto& item : active_) {
    if (!item->is_cancelled()) continue;
    item->promise.set_exception(std::make_exception_ptr(cancelled_error()));
    retire(*item);
  }
  std::erase_if(active_, [](const auto& item) { return item->window < 0; });
}

void Scheduler::fail_active(const std::exception_ptr& error) {
  for (const auto& item : active_)
    if (item->window >= 0) item->promise.set_exception(error);
  active_.clear();
  session_.reset();  // its caches may hold anything now
}

}  // namespace sotto
