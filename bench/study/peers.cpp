#include <map>

#include "bench/output/table.h"
#include "bench/study/process.h"
#include "bench/study/studies.h"

namespace bench {
namespace {

// The first Python that can import torch: a private one in front of Debian's need not have it.
std::string python_with_torch() {
  const std::vector<std::string> found = lines_of(
      "for p in python3 /usr/bin/python3; do $p -c 'import torch' 2>/dev/null && echo $p && break; done; true");
  if (found.empty())
    throw std::runtime_error("no python3 here can import torch (Debian: apt-get install python3-torch)");
  return found[0];
}

// Median milliseconds of the PyTorch composition, by operator and case.
std::map<std::pair<std::string, std::string>, double> torch_times(const std::string& python,
                                                                  const std::vector<Row>& rows, int threads) {
  std::string cases;
  for (const Row& row : rows) {
    const Case text = Case::read(row.op + " " + row.shape);
    cases.append(row.op).append("\t").append(row.shape).append("\t").append(with_defaults(text).shape()).append("\n");
  }
  const TemporaryFile list(cases);
  progress("PyTorch compositions");
  const std::string script = MLUOPS_BENCH_DIR "/peers.py";
  std::map<std::pair<std::string, std::string>, double> times;
  for (const std::string& line : lines_of(python + " " + shell_quoted(script) + " --threads " +
                                          std::to_string(threads) + " < " + shell_quoted(list.path()))) {
    const std::vector<std::string> fields = fields_of(line);
    times[{fields.at(0), fields.at(1)}] = std::stod(fields.at(2));
  }
  return times;
}

}  // namespace

Grid peers_study(const Options& given) {
  const std::string python = python_with_torch();
  Options options = given;
  options.check = false;
  options.backends = {"cpu"};
  options.dtypes = {MLUOP_DTYPE_FLOAT};
  options.threads = {given.threads.back()};
  const std::vector<Row> rows = run_network(options, make_targets(options), nullptr);
  const auto torch = torch_times(python, rows, options.threads[0]);
  Grid grid{format("PyTorch compositions beside it (float, %d threads)", options.threads[0]),
            {"operator", "case", "cpu ms", "PyTorch ms", "ratio"},
            "llrrr",
            {},
            "ratio: PyTorch's median over this library's; backward is the gradient alone, the graph being kept. "
            "Operators that bench/peers.py does not compose are left out."};
  for (const Row& row : rows) {
    const auto peer = torch.find({row.op, row.shape});
    if (!row.measured() || peer == torch.end()) continue;
    const double own = row.median() * 1e3;
    grid.add(
        {row.op, row.shape, format("%.3f", own), format("%.3f", peer->second), format("%.1f", peer->second / own)});
  }
  return grid;
}

}  // namespace bench
