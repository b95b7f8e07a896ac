// The command line.
#pragma once

#include <string>
#include <vector>

#include "mlu_op.h"

namespace bench {

struct Options {
  std::vector<std::string> operators, cases;  ///< parts of names; empty: all
  std::vector<std::string> backends = {"cpu", "mlu_emu"};
  std::vector<mluOpDataType_t> dtypes = {MLUOP_DTYPE_FLOAT, MLUOP_DTYPE_HALF};
  std::vector<int> threads;  ///< empty: all CPUs of this process
  bool quick = false, full = false, check = true, list = false, help = false;
  double min_seconds = 0.1;
  int repetitions = 3;
  std::string json, roofline, report, against, times;
  bool limits = false, scaling = false, scatter = false, layout = false, sweep = false, overhead = false, peers = false;
  std::vector<std::string> benchmark_flags;  ///< --benchmark_*: passed on to Google Benchmark
};

/// Throws std::invalid_argument with a text for the user.
Options parse_options(int argc, char** argv);

/// What --help prints.
const char* help_text();

/// Whether one of the parts occurs in the name; no parts: yes.
bool selected(const std::vector<std::string>& parts, const std::string& name);

}  // namespace bench
