#include "bench/output/table.h"
#include "bench/study/plan.h"
#include "bench/study/studies.h"

namespace bench {
namespace {

struct Level {
  std::string contention;
  Case text;
  mluOpDataType_t dtype;
};

std::vector<Level> all_levels(const Options& options) {
  std::vector<Level> chosen;
  for (const mluOpDataType_t dtype : options.dtypes) {
    for (const OperatorCases& op : all_operators()) {
      if (op.contention == nullptr || !has_dtype(op, dtype) || !selected(options.operators, op.op)) continue;
      for (const Contention& level : op.contention()) chosen.push_back({level.text, level.what.as(op.op), dtype});
    }
  }
  return chosen;
}

// One handle per strategy; all three may use atomics.
std::vector<Target> strategies(int threads) {
  std::vector<Target> targets;
  for (const char* strategy : {"owner", "atomic", "auto"}) {
    targets.emplace_back("cpu", threads);
    targets.back().allow_atomics(true);
    targets.back().set_option("scatter", strategy);
  }
  return targets;
}

}  // namespace

Grid scatter_study(const Options& options) {
  const int threads = options.threads.back();
  const std::vector<Target> targets = strategies(threads);
  const Settings settings{options.min_seconds / 2, options.repetitions, options.check};
  Grid grid{format("Scatter-add gradients: owner and atomic (cpu, %d threads)", threads),
            {"operator", "case", "contention", "dtype", "owner ms", "atomic ms", "atomic/owner", "auto ms",
             "auto takes", "verdicts"},
            "llllrrrrll",
            {},
            "All three handles allow atomics; where they are not allowed, owner is taken always."};
  for (const Level& level : all_levels(options)) {
    progress(level.text.op() + " " + level.contention);
    const std::vector<Row> rows = run_group({{describe(level.text, level.dtype), targets, false}}, settings);
    std::vector<std::string> cells = {rows[0].op, rows[0].shape, level.contention, rows[0].dtype};
    const auto ms = [](const Row& r) { return r.measured() ? format("%.3f", r.median() * 1e3) : std::string("-"); };
    const bool ran = rows[0].measured() && rows[1].measured();
    cells.insert(cells.end(),
                 {ms(rows[0]), ms(rows[1]), ran ? format("%.2f", rows[1].median() / rows[0].median()) : "-",
                  ms(rows[2]), targets[2].query("last_scatter"), ""});
    for (const Row& r : rows) cells.back().append(cells.back().empty() ? "" : " ").append(verdict_name(r.verdict));
    grid.add(std::move(cells));
  }
  return grid;
}

}  // namespace bench
