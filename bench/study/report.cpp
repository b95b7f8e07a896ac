#include <algorithm>
#include <map>

#include "bench/output/json.h"
#include "bench/output/limits.h"
#include "bench/output/table.h"
#include "bench/plot/roofline.h"
#include "bench/study/studies.h"

namespace bench {
namespace {

// The best-known figures first: what a reader scans for, per operator and direction.
Grid summary_grid(const std::vector<Row>& rows, int threads) {
  Grid grid{format("Share of the bound (cpu, %d threads)", threads),
            {"operator", "dtype", "cases", "lowest %", "median %", "highest %", "cases >= 50 %", "cases >= 80 %"},
            "llrrrrrr",
            {},
            ""};
  std::map<std::pair<std::string, std::string>, std::vector<double>> shares;
  for (const Row& r : rows) {
    if (!r.measured() || r.backend != "cpu" || r.threads != threads) continue;
    shares[{r.op, r.dtype}].push_back(r.share() * 100);
  }
  for (auto& [key, values] : shares) {
    std::sort(values.begin(), values.end());
    const auto above = [&values = values](double limit) {
      return std::to_string(values.end() - std::lower_bound(values.begin(), values.end(), limit));
    };
    grid.add({key.first, key.second, std::to_string(values.size()), format("%.0f", values.front()),
              format("%.0f", values[values.size() / 2]), format("%.0f", values.back()), above(50), above(80)});
  }
  return grid;
}

std::string stem(const std::string& path) {
  return path.substr(0, path.rfind('.'));
}

std::string file_name(const std::string& path) {
  return path.substr(path.rfind('/') + 1);
}

}  // namespace

bool write_report(const Options& given) {
  Options options = given;
  if (options.threads.size() == 1) options.threads = thread_ladder();
  options.limits = true;
  Machine machine(options.threads);
  const std::vector<Row> rows = run_network(options, make_targets(options), &machine);
  const Grid sweep = sweep_study(options), scatter = scatter_study(options), overhead = overhead_study(options);
  const Totals totals = count(rows);
  const int most = options.threads.back();
  const std::string plot = stem(options.report) + ".svg";
  write_roofline(plot, rows, machine.at(most));
  std::string text = "# Measured tables\n\nWritten by `./run bench --report`; docs/performance.md explains them.\n\n";
  text += machine_grid(machine).markdown() + "\n" + summary_grid(rows, most).markdown();
  text += "\n![every case under the roof](" + file_name(plot) + ")\n\n";
  Grid all = result_grid(rows);
  all.title = "Every case";
  text += all.markdown() + "\n" + totals_text(totals) + "\n";
  for (const Grid& grid : {limits_grid(rows), speedup_grid(rows), slow_scaling_grid(rows)}) {
    text += grid.markdown() + "\n";
  }
  for (const Grid* study : {&sweep, &scatter, &overhead}) text += study->rows.empty() ? "" : study->markdown() + "\n";
  write_file(options.report, text);
  return totals.good();
}

}  // namespace bench
