#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <future>
#include <memory>
#include <mutex>
#include <set>
#include <thread>
#include <vector>

#include "engine/network_source.h"
#include "engine/window_job.h"

namespace sotto {

// The one thread that works on a model's device. It takes windows from any number of transcriptions, encodes
// them together and decodes them side by side: when one is finished the next one takes its place (continuous
// batching). What a window's result is does not depend on what else is being decoded.
struct SchedulerOptions {
  int batch = 1;           // most windows at a time
  double keep_alive = -1;  // seconds without a user after which the network is unloaded; negative: never
};

class Scheduler {
 public:
  Scheduler(NetworkSource& source, const ModelConfig& config, const Tokenizer& tokenizer,
            const SchedulerOptions& options);
  ~Scheduler();  // what has not begun or is not finished fails as cancelled
  Scheduler(const Scheduler&) = delete;
  Scheduler& operator=(const Scheduler&) = delete;

  // A lower priority number goes first; equal ones in the order of their arrival. Once *cancelled is true the
  // window is given up at the next decoding step, and the future throws Error(cancelled).
  std::future<WindowResult> submit(WindowRequest request, int priority,
                                   std::shared_ptr<const std::atomic<bool>> cancelled);

  int batch() const noexcept { return batch_; }

  // While one exists, more windows may come at any time and the network is not unloaded.
  class User {
   public:
    explicit User(Scheduler& scheduler);
    ~User();
    User(const User&) = delete;
    User& operator=(const User&) = delete;

   private:
    Scheduler& scheduler_;
  };

 private:
  struct Item;
  struct ByPriority {
    bool operator()(const std::unique_ptr<Item>& a, const std::unique_ptr<Item>& b) const noexcept;
  };

  void run();
  bool wait_for_work();    // false: it is to end
  void prepare_session();  // for what the next window wants
  void admit();            // pending windows for which there is room
  void encode_admitted();
  EncodeItem encode_item(Item& item) const;
  void step();  // one decoder call for all active windows
  void retire(Item& item);
  void drop_cancelled();
  void recover(const Error& error);  // on another device, or by failing what was under way
  void fail(const std::exception_ptr& error);
  void fail_active(const std::exception_ptr& error);
  bool fits(const Item& item) const;

  NetworkSource& source_;
  const ModelConfig config_;
  const MelTables mel_tables_;
  const Tokenizer& tokenizer_;
  const int batch_;
  const double keep_alive_;

  std::mutex mutex_;
  std::condition_variable wake_;
  std::set<std::unique_ptr<Item>, ByPriority> pending_;  // guarded by mutex_
  uint64_t arrivals_ = 0;                                // guarded by mutex_
  int users_ = 0;                                        // guarded by mutex_
  bool stopping_ = false;                                // guarded by mutex_

  // The rest belongs to the thread.
  bool loaded_ = true;  // the network, as far as is known
  std::unique_ptr<Session> session_;
  std::vector<std::unique_ptr<Item>> active_;
  std::vector<int> free_windows_, free_slots_;  // lowest last, so that memory is touched late
  DecodeCall call_;
  std::thread thread_;
};

}  // namespace sotto
