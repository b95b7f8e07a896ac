// An end for what a hostile file may ask for: time by a thread that waits, memory by the system.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <string>
#include <thread>

namespace mluops::replay {

/// Ends the program with status 2 and a text where it lives for more than so many seconds.
class Watchdog {
 public:
  Watchdog(std::string what, int seconds);
  Watchdog(const Watchdog&) = delete;
  Watchdog& operator=(const Watchdog&) = delete;
  ~Watchdog();

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool done_ = false;
  std::thread waits_;
};

/// From now on the process gets no more than so many bytes of memory: further allocations fail. Not under sanitizers,
/// whose own memory counts.
void limit_memory(std::uintmax_t bytes);

}  // namespace mluops::replay
