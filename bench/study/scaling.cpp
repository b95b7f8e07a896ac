#include <map>
#include <set>

#include "bench/machine/parallel.h"
#include "bench/study/studies.h"

namespace bench {

std::vector<int> thread_ladder() {
  std::vector<int> ladder;
  for (int t = 1; t < available_cpus(); t *= 2) ladder.push_back(t);
  ladder.push_back(available_cpus());
  return ladder;
}

Grid speedup_grid(const std::vector<Row>& rows) {
  // By case, the rows of every number of threads.
  std::map<std::vector<std::string>, std::map<int, const Row*>> cases;
  std::vector<std::vector<std::string>> order;
  std::set<int> threads;
  for (const Row& row : rows) {
    if (!row.measured() || row.backend != "cpu") continue;
    const std::vector<std::string> key = {row.op, row.shape, row.dtype};
    if (!cases.contains(key)) order.push_back(key);
    cases[key][row.threads] = &row;
    threads.insert(row.threads);
  }
  Grid grid{"Threads (cpu)", {"operator", "case", "dtype"}, "lll", {}, ""};
  for (const int t : threads) grid.heading.push_back(format("ms, %d thr", t));
  grid.heading.push_back("speed-up");
  grid.align.append(threads.size() + 1, 'r');
  for (auto& cells : order) {
    const auto& steps = cases[cells];
    for (const auto& [t, row] : steps) cells.push_back(format("%.3f", row->median() * 1e3));
    cells.push_back(format("%.2f", steps.begin()->second->median() / steps.rbegin()->second->median()));
    grid.add(std::move(cells));
  }
  grid.note = "Medians; the rows of one case are measured in turns.";
  return grid;
}

Grid scaling_study(const Options& given) {
  Options options = given;
  options.check = false;
  options.backends = {"cpu"};
  options.threads = thread_ladder();
  Machine machine(options.threads);
  return speedup_grid(run_network(options, make_targets(options), machine));
}

}  // namespace bench
