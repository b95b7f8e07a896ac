// Runs a group of cases, interleaved with each other, and judges them.
#pragma once

#include <map>

#include "bench/engine/row.h"
#include "bench/engine/targets.h"

namespace bench {

struct Settings {
  double min_seconds = 0.1;  ///< of measured calls per repetition
  int repetitions = 3;
  bool check = true;    ///< compare with the reference
  bool limits = false;  ///< measure what limits the rows of backends that are not emulated: Row::floor and Row::warm
  Machine* machine = nullptr;               ///< measures Row::roof between the calls
  std::int64_t cache = last_level_cache();  ///< bytes of cache that consecutive calls must not find their data in
};

/// A call and the targets that run it.
struct Job {
  Description spec;
  std::vector<Target> targets;
  bool reduced = false;
};

/// Rows in the order of the jobs and their targets. All rows are measured in one interleaved round after the other, so
/// that rows of one group can be compared with each other on a machine whose speed drifts.
std::vector<Row> run_group(std::vector<Job> jobs, const Settings& settings);

/// Must be called once before run_group, with the flags meant for Google Benchmark.
void initialize_engine(std::vector<std::string> benchmark_flags);

}  // namespace bench
