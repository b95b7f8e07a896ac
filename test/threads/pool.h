// A thread pool as a program would bring its own.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <thread>
#include <vector>

#include "mlu_op_ext.h"

namespace mluops::test {

/// Workers that wait for tasks; several loops may run at once.
class Pool {
 public:
  explicit Pool(int workers) {
    for (int i = 0; i < workers; ++i) workers_.emplace_back([this] { work(); });
  }
  Pool(const Pool&) = delete;
  Pool& operator=(const Pool&) = delete;
  ~Pool() {
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      ended_ = true;
    }
    changed_.notify_all();
  }

  mluOpExtExecutor_t executor() { return {this, parallel_for}; }

 private:
  struct Loop {
    std::int64_t tasks, next, open;
    void (*body)(void*, std::int64_t);
    void* arg;
  };

  static void parallel_for(void* context, std::int64_t tasks, void (*body)(void*, std::int64_t), void* arg) {
    static_cast<Pool*>(context)->run(tasks, body, arg);
  }

  /// The caller works along, then waits for what others took.
  void run(std::int64_t tasks, void (*body)(void*, std::int64_t), void* arg) {
    Loop loop{tasks, 0, tasks, body, arg};
    std::unique_lock<std::mutex> lock(mutex_);
    loops_.push_back(&loop);
    changed_.notify_all();
    while (loop.next < loop.tasks) take(loop, lock);
    changed_.wait(lock, [&] { return loop.open == 0; });
    std::erase(loops_, &loop);
  }

  void work() {
    std::unique_lock<std::mutex> lock(mutex_);
    while (true) {
      Loop* const loop = unfinished();
      if (loop != nullptr) {
        take(*loop, lock);
      } else if (ended_) {
        return;
      } else {
        changed_.wait(lock);
      }
    }
  }

  Loop* unfinished() const {
    for (Loop* const loop : loops_) {
      if (loop->next < loop->tasks) return loop;
    }
    return nullptr;
  }

  void take(Loop& loop, std::unique_lock<std::mutex>& lock) {
    const std::int64_t task = loop.next++;
    lock.unlock();
    loop.body(loop.arg, task);
    lock.lock();
    if (--loop.open == 0) changed_.notify_all();
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<Loop*> loops_;
  bool ended_ = false;
  std::vector<std::jthread> workers_;  // last: they end before what they use
};

}  // namespace mluops::test
