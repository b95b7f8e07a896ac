#include <cstdio>
#include <stdexcept>

#include "bench/output/json.h"
#include "bench/output/table.h"
#include "bench/program/network_run.h"

namespace bench {
namespace {

int run_table(const Options& options) {
  const std::vector<Target> targets = make_targets(options);
  Machine machine(options.threads);
  progress("measuring the machine");
  machine.refresh(options.quick ? 0.4 : 1.0);
  const std::vector<Row> rows = run_network(options, targets, machine);
  machine.refresh(options.quick ? 0.2 : 0.6);
  progress("");
  if (rows.empty()) throw std::invalid_argument("no case is selected (see --list)");
  const Totals totals = count(rows, machine);
  std::printf("%s\n%s\n%s", machine_text(machine).c_str(), table_text(rows, machine).c_str(),
              totals_text(totals).c_str());
  if (!options.json.empty()) write_file(options.json, json_text(rows, machine));
  return totals.good() ? 0 : 1;
}

int run(int argc, char** argv) {
  const Options options = parse_options(argc, argv);
  if (options.help) return std::fputs(help_text(), stdout), 0;
  if (options.list) return std::fputs(list_text(options).c_str(), stdout), 0;
  initialize_engine(options.benchmark_flags);
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
