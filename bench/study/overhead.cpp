#include <chrono>
#include <stdexcept>

#include "bench/engine/workload.h"
#include "bench/machine/median.h"
#include "bench/study/plan.h"
#include "bench/study/studies.h"
#include "mlu_op_ext.h"

namespace bench {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kBatches = 41, kCallsInBatch = 2000;

/// Nanoseconds of one call, data in the first cache: median over batches.
double call_ns(const Workload& workload, const Target& target) {
  std::vector<double> batches;
  for (int b = 0; b < kBatches; ++b) {
    const Clock::time_point start = Clock::now();
    for (int i = 0; i < kCallsInBatch; ++i) {
      if (workload.run(target.handle(), 0) != MLUOP_STATUS_SUCCESS)
        throw std::runtime_error(mluOpExtGetLastErrorText());
    }
    batches.push_back(std::chrono::duration<double, std::nano>(Clock::now() - start).count() / kCallsInBatch);
  }
  return median_of(std::move(batches));
}

}  // namespace

Grid overhead_study(const Options& options) {
  const std::vector<int> ladder = thread_ladder();
  Grid grid{"Smallest calls (cpu)", {"operator", "case", "dtype"}, "lll", {}, ""};
  std::vector<Target> targets;
  for (const int threads : ladder) {
    targets.emplace_back("cpu", threads);
    grid.heading.push_back(format("ns, %d thr", threads));
  }
  targets.emplace_back("cpu", ladder.back());
  targets.back().set_option("threading", "tbb");
  grid.heading.push_back("the same, tbb");
  grid.align.append(targets.size(), 'r');
  for (const mluOpDataType_t dtype : options.dtypes) {
    for (const OperatorCases& op : all_operators()) {
      if (!selected(options.operators, op.op) || !has_dtype(op, dtype)) continue;
      const Case text = cases_of(op, op.smallest).front();
      const Workload workload(describe(text, dtype));
      std::vector<std::string> cells = {op.op, text.shape(), dtype_name(dtype)};
      for (const Target& target : targets) cells.push_back(format("%.0f", call_ns(workload, target)));
      grid.add(std::move(cells));
    }
  }
  grid.note = format(
      "One element of everything, descriptors and data ready and in the first cache: the whole C call, median of %d "
      "batches of %d. What it computes itself takes a few nanoseconds.",
      kBatches, kCallsInBatch);
  return grid;
}

}  // namespace bench
