#include "bench/study/network_run.h"

#include <algorithm>

#include "bench/output/table.h"
#include "bench/study/countdown.h"
#include "bench/study/plan.h"

namespace bench {

std::vector<Target> make_targets(const Options& options) {
  std::vector<Target> targets;
  for (const std::string& backend : options.backends) {
    for (const int threads : options.threads) {
      // A page shows what threads gain on backends that are not emulated.
      const Target target(backend, threads);
      if (options.html.empty() || threads == options.threads.back() || !target.emulated()) targets.push_back(target);
    }
  }
  return targets;
}

Settings settings_of(const Options& options, Machine* machine) {
  return {options.min_seconds, options.repetitions, options.check, options.limits, machine, options.cache()};
}

std::vector<Row> run_network(const Options& options, const std::vector<Target>& targets, Machine* machine,
                             const RowVisitor& visit) {
  const Settings settings = settings_of(options, machine);
  const std::vector<Group> groups = chosen_groups(options);
  Countdown countdown(groups, options, targets);
  std::vector<Row> rows;
  for (const Group& group : groups) {
    countdown.show(group.text.text());
    const std::vector<Row> own = run_group(jobs_of(group, options, targets), settings);
    countdown.done();
    if (visit) visit(own);
    rows.insert(rows.end(), own.begin(), own.end());
  }
  return rows;
}

std::string list_text(const Options& options) {
  std::string text;
  for (const Group& group : chosen_groups(options)) {
    text += format("%-26s %s\n", group.op->op, group.text.shape().c_str());
  }
  return text;
}

}  // namespace bench
