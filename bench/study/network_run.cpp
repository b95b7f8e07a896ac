#include "bench/study/network_run.h"

#include "bench/cases/network.h"
#include "bench/output/table.h"

namespace bench {
namespace {

constexpr Direction kDirections[] = {Direction::forward, Direction::backward};

bool wanted(const Options& options, const Case& c) {
  return selected(options.operators, c.op) && selected(options.cases, c.shape);
}

// The job of a case, and where emulated backends get a smaller case, a second one for them.
void add_jobs(std::vector<Job>& jobs, const Options& options, const std::vector<Target>& targets, const NetworkCase& n,
              Direction direction, mluOpDataType_t dtype) {
  Case spec = n.make(direction, dtype, false), small = n.make(direction, dtype, true);
  if (!wanted(options, spec)) return;
  const bool reduce = !options.full && small.shape != spec.shape;
  Job whole{std::move(spec), {}, false}, part{std::move(small), {}, true};
  for (const Target& t : targets) (reduce && t.emulated() ? part : whole).targets.push_back(t);
  if (!whole.targets.empty()) jobs.push_back(std::move(whole));
  if (!part.targets.empty()) jobs.push_back(std::move(part));
}

std::vector<Job> jobs_of(const Options& options, const std::vector<Target>& targets, const NetworkCase& n) {
  std::vector<Job> jobs;
  for (const Direction direction : kDirections) {
    for (const mluOpDataType_t dtype : options.dtypes) {
      if (dtype == MLUOP_DTYPE_HALF && !n.has_half) continue;
      add_jobs(jobs, options, targets, n, direction, dtype);
    }
  }
  return jobs;
}

std::vector<const NetworkCase*> chosen_cases(const Options& options) {
  std::vector<const NetworkCase*> chosen;
  for (const NetworkCase& n : network_cases()) {
    const bool any = wanted(options, n.make(Direction::forward, MLUOP_DTYPE_FLOAT, false)) ||
                     wanted(options, n.make(Direction::backward, MLUOP_DTYPE_FLOAT, false));
    if (any && (n.quick || !options.quick)) chosen.push_back(&n);
  }
  return chosen;
}

}  // namespace

std::vector<Target> make_targets(const Options& options) {
  std::vector<Target> targets;
  for (const std::string& backend : options.backends) {
    for (const int threads : options.threads) targets.emplace_back(backend, threads);
  }
  return targets;
}

std::vector<Row> run_network(const Options& options, const std::vector<Target>& targets, Machine* machine) {
  const Settings settings{options.min_seconds, options.repetitions, options.check, options.limits, machine};
  const std::vector<const NetworkCase*> chosen = chosen_cases(options);
  std::vector<Row> rows;
  int group = 0;
  for (const NetworkCase* n : chosen) {
    std::vector<Job> jobs = jobs_of(options, targets, *n);
    progress(format("[%d/%zu] %s %s", ++group, chosen.size(), n->operators.c_str(), jobs.front().spec.shape.c_str()));
    for (Row& row : run_group(std::move(jobs), settings)) rows.push_back(std::move(row));
  }
  return rows;
}

std::string list_text(const Options& options) {
  std::string text;
  for (const NetworkCase* n : chosen_cases(options)) {
    for (const Direction direction : kDirections) {
      const Case c = n->make(direction, MLUOP_DTYPE_FLOAT, false);
      if (wanted(options, c)) text += format("%-26s %s\n", c.op.c_str(), c.shape.c_str());
    }
  }
  return text;
}

}  // namespace bench
