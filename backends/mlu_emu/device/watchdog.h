// Tells by a flag that something takes too long.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <stop_token>
#include <thread>

namespace mluops::emu {

/// Raises the flag when it has lived for so many seconds, lowers it when it ends. No thread for 0, which is no limit.
class Watchdog {
 public:
  Watchdog(std::int64_t seconds, std::atomic<bool>& overdue) : overdue_(overdue) {
    if (seconds > 0) thread_ = std::jthread([this, seconds](const std::stop_token& ended) { watch(seconds, ended); });
  }
  Watchdog(const Watchdog&) = delete;
  Watchdog& operator=(const Watchdog&) = delete;
  ~Watchdog() {
    if (!thread_.joinable()) return;
    thread_.request_stop();
    thread_.join();
    overdue_ = false;
  }

 private:
  void watch(std::int64_t seconds, const std::stop_token& ended) {
    std::unique_lock<std::mutex> lock(mutex_);
    woken_.wait_for(lock, ended, std::chrono::seconds(seconds), [] { return false; });
    if (!ended.stop_requested()) overdue_ = true;
  }

  std::atomic<bool>& overdue_;
  std::mutex mutex_;
  std::condition_variable_any woken_;
  std::jthread thread_;
};

}  // namespace mluops::emu
