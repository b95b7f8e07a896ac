#include <algorithm>
#include <cmath>

#include "bench/output/table.h"
#include "bench/study/plan.h"
#include "bench/study/studies.h"

namespace bench {
namespace {

// Slope of log(time) over log2 of the growth: least squares.
double exponent(const std::vector<double>& x, const std::vector<double>& y) {
  double mean_x = 0, mean_y = 0, above = 0, below = 0;
  for (std::size_t i = 0; i < x.size(); ++i) mean_x += std::log(x[i]), mean_y += std::log(y[i]);
  mean_x /= static_cast<double>(x.size()), mean_y /= static_cast<double>(x.size());
  for (std::size_t i = 0; i < x.size(); ++i) {
    above += (std::log(x[i]) - mean_x) * (std::log(y[i]) - mean_y);
    below += (std::log(x[i]) - mean_x) * (std::log(x[i]) - mean_x);
  }
  return above / below;
}

struct Series {
  std::vector<double> times, work, seconds;
};

// Growth of what the operator is asked for: bytes or flops, whichever grows faster.
double work_growth(const Row& row, const Row& first) {
  const double bytes = row.bytes() / first.bytes();
  return first.flops > 0 ? std::max(bytes, row.flops / first.flops) : bytes;
}

Series measured(const OperatorCases& op, const Growth& growth, const std::vector<Target>& targets,
                const Settings& settings) {
  std::vector<Job> jobs;
  for (const Case& step : growth.steps) jobs.push_back({describe(step.as(op.op), MLUOP_DTYPE_FLOAT), targets, false});
  const std::vector<Row> rows = run_group(std::move(jobs), settings);
  Series series;
  double times = 1;
  for (const Row& row : rows) {
    if (!row.measured()) throw std::runtime_error(row.op + " " + row.shape + ": " + row.reason);
    series.times.push_back(times);
    series.work.push_back(work_growth(row, rows[0]));
    series.seconds.push_back(row.median());
    times *= 2;
  }
  return series;
}

}  // namespace

std::vector<GrowthRow> measure_growth(const Options& options) {
  const std::vector<Target> targets = {Target("cpu", options.threads.back())};
  const Settings settings{options.min_seconds / 2, options.repetitions, false};
  std::vector<GrowthRow> rows;
  for (const OperatorCases& op : all_operators()) {
    if (op.growth == nullptr || !selected(options.operators, op.op)) continue;
    for (const Growth& growth : op.growth()) {
      progress(std::string(op.op) + " " + growth.name);
      const Series s = measured(op, growth, targets, settings);
      rows.push_back({op.op, growth.name, s.seconds, exponent(s.times, s.seconds), exponent(s.times, s.work)});
    }
  }
  progress("");
  return rows;
}

Grid sweep_study(const Options& options) {
  return growth_grid(measure_growth(options), options.threads.back());
}

}  // namespace bench
