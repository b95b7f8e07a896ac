// The command line.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "mlu_op.h"

namespace bench {

struct Options {
  std::vector<std::string> operators, cases;  ///< parts of names; empty: all
  std::vector<std::string> backends = {"cpu", "mlu_emu"};
  std::vector<mluOpDataType_t> dtypes;
  std::vector<int> threads;    ///< empty: all CPUs of this process
  std::vector<int> simulated;  ///< numbers of threads of --scaling=K,..; empty: those this machine has
  double memory = 200;         ///< GB/s that the memory of the simulated machine moves
  bool all = false, quick = false, full = false, check = true, list = false, operators_table = false, help = false;
  bool brief = false;  ///< nothing is selected: one case of every operator, its rows family by family
  double min_seconds = -1;
  int repetitions = 0;
  std::string json, html, roofline, report, against, times, operators_page;
  bool limits = false, scaling = false, scatter = false, layout = false, sweep = false, overhead = false, peers = false;
  /// Bytes of cache that data must not be found in: filling a large one for every case takes a long run.
  std::int64_t cache() const;
  /// For so many seconds a measurement of the machine holds.
  double fresh_seconds() const { return brief ? 4 : 0.5; }
  std::vector<std::string> benchmark_flags;  ///< --benchmark_*: passed on to Google Benchmark
};

/// Throws std::invalid_argument with a text for the user.
Options parse_options(int argc, char** argv);

/// What --help prints.
const char* help_text();

/// Whether one of the parts occurs in the name; no parts: yes.
bool selected(const std::vector<std::string>& parts, const std::string& name);

}  // namespace bench
