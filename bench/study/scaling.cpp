#include <map>
#include <set>

#include "bench/output/limits.h"
#include "bench/output/table.h"
#include "bench/study/studies.h"

namespace bench {

std::vector<int> thread_ladder() {
  std::vector<int> ladder;
  for (int t = 1; t < available_cpus(); t *= 2) ladder.push_back(t);
  ladder.push_back(available_cpus());
  return ladder;
}

namespace {

/// The rows of a case with one and with two threads, for every case of the cpu backend that has both.
std::vector<std::pair<const Row*, const Row*>> pairs_of(const std::vector<Row>& rows) {
  std::vector<std::pair<const Row*, const Row*>> pairs;
  for (const Row& one : rows) {
    if (!one.measured() || one.backend != "cpu" || one.threads != 1) continue;
    for (const Row& two : rows) {
      const bool same = two.op == one.op && two.shape == one.shape && two.dtype == one.dtype;
      if (same && two.measured() && two.backend == "cpu" && two.threads == 2) pairs.emplace_back(&one, &two);
    }
  }
  return pairs;
}

}  // namespace

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

Grid slow_scaling_grid(const std::vector<Row>& rows) {
  constexpr double kSeconds = 5e-3, kGain = 1.8;
  Grid grid{"Cases over 5 ms that a second thread makes less than 1.8 times as fast",
            {"operator", "case", "dtype", "ms, 1 thr", "ms, 2 thr", "speed-up", "by", "of the bound", "of the floor"},
            "lllrrrlrr",
            {},
            ""};
  int cases = 0;
  for (const auto& [one, two] : pairs_of(rows)) {
    if (one->median() < kSeconds) continue;
    ++cases;
    const double gain = one->median() / two->median();
    if (gain >= kGain) continue;
    grid.add({one->op, one->shape, one->dtype, format("%.3f", one->median() * 1e3), format("%.3f", two->median() * 1e3),
              format("%.2f", gain), two->limit(), format("%.2f", one->bound() / two->bound()),
              two->floor > 0 ? format("%.2f", one->floor / two->floor) : "-"});
  }
  grid.note = format(
      "%zu of %d such cases. of the bound: by how much the second thread makes the bound smaller; of the floor: the\n"
      "same for the loop that only moves the case's bytes (the table of limits explains it).",
      grid.rows.size(), cases);
  return grid;
}

Grid limits_study(const Options& given) {
  Options options = given;
  options.check = false;
  options.limits = true;
  options.backends = {"cpu"};
  Machine machine(options.threads);
  return limits_grid(run_network(options, make_targets(options), &machine));
}

std::vector<Grid> scaling_study(const Options& given) {
  Options options = given;
  options.check = false;
  options.limits = true;
  options.backends = {"cpu"};
  options.threads = thread_ladder();
  Machine machine(options.threads);
  const std::vector<Row> rows = run_network(options, make_targets(options), &machine);
  return {speedup_grid(rows), machine_grid(machine), slow_scaling_grid(rows)};
}

}  // namespace bench
