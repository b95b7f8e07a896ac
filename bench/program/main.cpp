#include <algorithm>
#include <cstdio>
#include <stdexcept>

#include "bench/output/brief.h"
#include "bench/output/json.h"
#include "bench/output/table.h"
#include "bench/plot/roofline.h"
#include "bench/study/brief.h"
#include "bench/study/operators.h"
#include "bench/study/plan.h"
#include "bench/study/studies.h"

namespace bench {
namespace {

/// Wide enough for what is selected.
LiveTable live_table(const Options& options) {
  const std::vector<Group> groups = chosen_groups(options);
  if (groups.empty()) throw std::invalid_argument("no case is selected (see --list)");
  std::size_t op = 0, shape = 0;
  for (const Group& g : groups) {
    op = std::max(op, g.text.op().size());
    shape = std::max(shape, g.text.shape().size());
  }
  return {op, shape};
}

std::vector<Row> run_all(const Options& options, const std::vector<Target>& targets, Machine* machine) {
  const LiveTable table = live_table(options);
  std::fputs(table.heading().c_str(), stdout);
  std::vector<Row> rows = run_network(options, targets, machine, [&](const std::vector<Row>& final_rows) {
    progress("");
    for (const Row& row : final_rows) {
      if (row.verdict != Verdict::absent) std::fputs(table.line(row).c_str(), stdout);
    }
    std::fflush(stdout);
  });
  std::printf("\n%s\n%s", machine_grid(*machine).text().c_str(), absent_text(rows).c_str());
  return rows;
}

int run_table(const Options& options) {
  const std::vector<Target> targets = make_targets(options);
  Machine machine(options.threads, options.cache(), options.fresh_seconds());
  const std::vector<Row> rows =
      options.brief ? run_brief(options, targets, &machine) : run_all(options, targets, &machine);
  const Totals totals = count(rows);
  std::printf("%s%s", again_text(rows).c_str(), totals_text(totals).c_str());
  if (options.brief) std::puts("--all: every case, half too; --op NAME: all of an operator; --help: the rest");
  if (!options.html.empty()) {
    write_file(options.html,
               page_text(rows, machine, options.quick ? std::vector<GrowthRow>() : measure_growth(options)));
  }
  if (!options.json.empty()) write_file(options.json, json_text(rows, machine));
  if (!options.roofline.empty()) write_roofline(options.roofline, rows, machine.at(options.threads.back()));
  return totals.good() ? 0 : 1;
}

int print(const Grid& grid) {
  progress("");
  std::fputs(grid.text().c_str(), stdout);
  return 0;
}

int run(int argc, char** argv) {
  const Options options = parse_options(argc, argv);
  if (options.help) return std::fputs(help_text(), stdout), 0;
  if (options.list) return std::fputs(list_text(options).c_str(), stdout), 0;
  if (options.operators_table) return print(operators_grid());
  if (!options.operators_page.empty()) return write_file(options.operators_page, operators_page()), 0;
  initialize_engine(options.benchmark_flags);
  if (options.limits) return print(limits_study(options));
  if (!options.simulated.empty()) return print(simulated_study(options));
  if (options.scaling) {
    for (const Grid& grid : scaling_study(options)) print(grid), std::puts("");
    return 0;
  }
  if (options.scatter) return print(scatter_study(options));
  if (options.layout) return print(layout_study(options));
  if (options.sweep) return print(sweep_study(options));
  if (options.overhead) return print(overhead_study(options));
  if (options.peers) return print(peers_study(options));
  if (!options.against.empty()) return print(against_study(options, argv[0]));
  if (!options.times.empty()) return write_times(options), 0;
  if (!options.report.empty()) return write_report(options) ? 0 : 1;
  return run_table(options);
}

}  // namespace
}  // namespace bench

int main(int argc, char** argv) {
  try {
    return bench::run(argc, argv);
  } catch (const std::exception& error) {
    bench::progress("");
    std::fprintf(stderr, "mluops_bench: %s\n", error.what());
    return 2;
  }
}
