// The cores of a launch alive at once: each on a host thread of its own, one running at a time. They pass a baton, so a
// launch repeats exactly; a task that waits at a barrier keeps its thread, one that ends lends it to the next.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <exception>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "backends/mlu_emu/device/context.h"
#include "backends/mlu_emu/device/core.h"

namespace mluops::emu {

/// A host thread with a core's memories: the thread is bound to them for good, since kernels hold references to them.
class Worker {
 public:
  Worker(const Arch& arch, Nram* sram, Window* shared);
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;
  ~Worker();

  /// Runs `step` on the worker's thread until it ends or calls pause().
  void start(std::function<void()> step);
  /// Goes on behind pause().
  void resume();
  /// Called on the worker's thread: hands the baton back.
  void pause();
  bool paused() const { return paused_; }

  Core core;

 private:
  void serve();
  void run_until_back(std::unique_lock<std::mutex>& lock);

  std::mutex mutex_;
  std::condition_variable to_worker_, to_conductor_;
  std::function<void()> step_;
  bool working_ = false, paused_ = false, quit_ = false;
  std::thread thread_;
};

class Crew {
 public:
  explicit Crew(const Arch& arch) : arch_(arch) {}

  /// Runs all tasks of a launch. Returns "" or the fault that stopped it; other exceptions pass through.
  std::string run(const LaunchState& state, const KernelBody& body, std::vector<Timeline>& timelines,
                  const std::vector<std::int64_t>& job_order);

  /// Clusters that start together in a launch of that kind; tasks of one such job.
  static std::int64_t job_tasks(const LaunchSpec& spec, const Arch& arch) {
    return spec.clusters == 0 ? 1 : std::int64_t{spec.clusters} * arch.cores_per_cluster;
  }

 private:
  friend class Job;
  /// One cluster of the machine: its SRAM and the threads that were its cores.
  struct Cluster {
    std::unique_ptr<Nram> sram;
    std::unique_ptr<Window> shared;  // who wrote and read it
    std::vector<std::unique_ptr<Worker>> workers;
  };
  Cluster& cluster(std::size_t index);
  Worker& idle_worker(std::size_t cluster);

  Arch arch_;
  std::vector<Cluster> clusters_;
};

}  // namespace mluops::emu
