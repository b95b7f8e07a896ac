// Parallel loops. Kernels say how many items there are and what one costs; who runs them is decided here.
//
// A loop runs on the caller's executor if the call brings one, else on OpenMP, TBB or threads as the handle says. It
// runs on the calling thread alone when the work would not repay a second thread, or inside somebody else's OpenMP
// region. Loops do not nest. Which thread gets which items varies from run to run: a body must compute each item in a
// way that does not depend on where its chunk begins or ends.
#pragma once

#include <cstdint>
#include <span>
#include <type_traits>

#include "backends/cpu/runtime/context.h"

namespace mluops::cpu {

/// One loop over items [0, n). Cheap to make; holds no threads until run.
class Loop {
 public:
  /// Items of about the same cost, in nanoseconds of one thread.
  Loop(const Context& context, const mluopsCall& call, std::int64_t items, double item_ns);
  /// Items of different cost: items i costs prefix_ns[i + 1] - prefix_ns[i]; prefix_ns has one entry more than there
  /// are items, starts with 0 and must outlive the loop.
  Loop(const Context& context, const mluopsCall& call, std::span<const double> prefix_ns);

  /// For a call that runs dozens of loops: each runs on the calling thread alone unless it is a long one.
  static Loop one_of_many(const Context& context, const mluopsCall& call, std::int64_t items, double item_ns);

  /// Bodies get slot numbers below this, and no two bodies that run at the same time get the same: index of the body's
  /// part of the arena.
  int slots() const { return slots_; }

  /// body(begin, end, slot) for chunks that cover all items once. It must not throw.
  template <class Body>
  void run(Body&& body) const {
    using Stored = std::remove_reference_t<Body>;
    run_chunks(
        [](void* b, std::int64_t begin, std::int64_t end, int slot) { (*static_cast<Stored*>(b))(begin, end, slot); },
        const_cast<void*>(static_cast<const void*>(&body)));
  }

 private:
  using ChunkBody = void (*)(void* body, std::int64_t begin, std::int64_t end, int slot);

  void plan(const mluopsCall& call, double total_ns);
  std::int64_t chunk_begin(std::int64_t chunk) const;
  void run_chunks(ChunkBody function, void* body) const;

  Threading threading_;
  int threads_;  ///< those the call may use
  const mluOpExtExecutor_t* executor_;
  std::int64_t items_;
  std::span<const double> prefix_ns_;
  int slots_ = 1;
  std::int64_t chunks_ = 1;
};

/// task(arg, i) for each i in [0, tasks); returns when all are done. The runtimes behind Loop. `team`, at least tasks,
/// is the size of team that this caller's loops should agree on: some runtimes change it at a high price.
using Task = void (*)(void* arg, std::int64_t task);
/// Whether this build has the runtime; one it lacks falls back to run_on_new_threads.
bool has_openmp();
bool has_tbb();
void run_on_openmp(int tasks, int team, Task task, void* arg);
void run_on_tbb(int tasks, Task task, void* arg);
/// Threads started and joined for this one loop: slow to start, but in every build; fork() breaks nothing of it, and it
/// makes do with the threads that can be started.
void run_on_new_threads(int tasks, Task task, void* arg);

/// Whether the calling thread can have a team of that many: the runtimes end the process or spin for ever when they
/// cannot start a thread. Tried out once for each larger team of a calling thread.
bool team_can_start(int team);

bool inside_openmp_region();

}  // namespace mluops::cpu
