#include <chrono>
#include <stdexcept>

#include "bench/cases/builders.h"
#include "bench/engine/workload.h"
#include "bench/machine/median.h"
#include "bench/study/studies.h"
#include "mlu_op_ext.h"

namespace bench {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kBatches = 41, kCallsInBatch = 2000;

/// The least each operator can be asked for: one element of everything.
std::vector<Case> smallest_cases(mluOpDataType_t dtype) {
  std::vector<Case> cases;
  for (const Direction d : {Direction::forward, Direction::backward}) {
    cases.push_back(make_carafe({1, 1, 1, 1, 1, 1, 1}, d, dtype));
    if (dtype == MLUOP_DTYPE_FLOAT) cases.push_back(make_psamask({1, 1, 1, 1, 1, 0}, d, dtype));
    cases.push_back(make_three_interpolate({1, 1, 1, 1}, d, dtype));
    cases.push_back(make_deform_roi_pool({1, 1, 1, 1, 1, 1.0f, true, 1, 1}, d, dtype));
    cases.push_back(make_border_align({1, 1, 1, 1, 1, 1}, d, dtype));
  }
  return cases;
}

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
    for (const Case& spec : smallest_cases(dtype)) {
      if (!selected(options.operators, spec.op)) continue;
      const Workload workload(spec);
      std::vector<std::string> cells = {spec.op, spec.shape, dtype_name(dtype)};
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
