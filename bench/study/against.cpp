#include <map>

#include "bench/machine/median.h"
#include "bench/output/json.h"
#include "bench/output/table.h"
#include "bench/study/process.h"
#include "bench/study/studies.h"

namespace bench {
namespace {

constexpr int kRounds = 5;

/// Operator, case, dtype, backend, threads.
using Key = std::vector<std::string>;
/// Milliseconds of every round.
using Times = std::map<Key, std::vector<double>>;

std::string joined(const std::vector<std::string>& parts) {
  std::string text;
  for (const std::string& part : parts) text.append(part).append(",");
  return text;
}

// The options that choose rows, for the process that measures one side.
std::string selection(const Options& o) {
  std::string flags;
  if (!o.operators.empty()) flags += " --op " + shell_quoted(joined(o.operators));
  if (!o.cases.empty()) flags += " --case " + shell_quoted(joined(o.cases));
  std::string dtypes, threads;
  for (const mluOpDataType_t d : o.dtypes) dtypes += std::string(dtype_name(d)) + ",";
  for (const int t : o.threads) threads += std::to_string(t) + ",";
  flags += " --backend " + shell_quoted(joined(o.backends)) + " --dtype " + dtypes + " --threads " + threads;
  return flags + (o.quick ? " --quick" : "") + format(" --min-time %g --repetitions 1", o.min_seconds);
}

// A process with one library's folder first on the search path.
void measure_side(const std::string& program, const std::string& folder, const Options& options, Times& times) {
  const TemporaryFile result("");
  std::string command = folder.empty() ? "" : "LD_LIBRARY_PATH=" + shell_quoted(folder) + " ";
  command += shell_quoted(program) + selection(options) + " --times " + shell_quoted(result.path());
  lines_of(command);
  for (const std::string& line : lines_of("cat " + shell_quoted(result.path()))) {
    std::vector<std::string> fields = fields_of(line);
    const double ms = std::stod(fields.back());
    fields.pop_back();
    times[fields].push_back(ms);
  }
}

}  // namespace

void write_times(const Options& given) {
  Options options = given;
  options.check = false;
  std::string text;
  for (const Row& r : run_network(options, make_targets(options), nullptr)) {
    if (!r.measured()) continue;
    text +=
        r.op + "\t" + r.shape + "\t" + r.dtype + "\t" + r.backend + format("\t%d\t%.9g\n", r.threads, r.median() * 1e3);
  }
  write_file(options.times, text);
}

Grid against_study(const Options& options, const std::string& program) {
  const std::string builder = MLUOPS_BENCH_DIR "/build_revision.sh";
  const std::vector<std::string> built = lines_of(shell_quoted(builder) + " " + shell_quoted(options.against));
  if (built.empty()) throw std::runtime_error("cannot build revision " + options.against);
  Times here, there;
  for (int round = 0; round < kRounds; ++round) {
    progress(format("round %d of %d", round + 1, kRounds));
    // Alternating order: a drift of the machine hits both sides alike.
    for (const int side : {round % 2, 1 - round % 2}) {
      measure_side(program, side == 0 ? "" : built.back(), options, side == 0 ? here : there);
    }
  }
  Grid grid{
      "This library against revision " + options.against,
      {"operator", "case", "dtype", "backend", "thr", "ms here", "ms there", "there/here"},
      "llllrrrr",
      {},
      format("Medians over %d alternating rounds of each side's medians; there/here above 1: faster now.", kRounds)};
  for (const auto& [key, mine] : here) {
    Key cells = key;
    const auto theirs = there.find(key);
    cells.push_back(format("%.3f", median_of(mine)));
    const bool both = theirs != there.end();
    cells.push_back(both ? format("%.3f", median_of(theirs->second)) : "-");
    cells.push_back(both ? format("%.2f", median_of(theirs->second) / median_of(mine)) : "-");
    grid.add(std::move(cells));
  }
  return grid;
}

}  // namespace bench
