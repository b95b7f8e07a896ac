#include "bench/study/peers.h"

#include <stdexcept>

#include "bench/output/table.h"
#include "bench/study/studies.h"

namespace bench {

Peers::Peers(int threads, double seconds) {
  const std::string rest = format(" %s --threads %d --seconds %g 2>/dev/null",
                                  shell_quoted(MLUOPS_BENCH_DIR "/python/peers.py").c_str(), threads, seconds);
  for (const char* python :
       {"python3", "/usr/bin/python3"}) {  // a private one in front of Debian's need not have torch
    auto started = std::make_unique<Companion>(std::string(python).append(rest));
    if (started->listen() != "ready") continue;
    python_ = std::move(started);
    return;
  }
}

double Peers::seconds(const Row& row) {
  if (!there()) return 0;
  const std::string what = with_defaults(Case::read(row.op + " " + row.shape)).shape();
  const std::optional<std::string> answer = python_->ask(row.op + "\t" + what);
  if (!answer) throw std::runtime_error("bench/python/peers.py ended at " + row.op + " " + what);
  return *answer == "-" ? 0 : std::stod(*answer) * 1e-3;
}

Grid peers_study(const Options& given) {
  Options options = given;
  options.check = false;
  options.backends = {"cpu"};
  options.dtypes = {MLUOP_DTYPE_FLOAT};
  options.threads = {given.threads.back()};
  Peers peers(options.threads[0], 0.3);
  if (!peers.there())
    throw std::runtime_error("no python3 here can import torch (Debian: apt-get install python3-torch)");
  const std::vector<Row> rows = run_network(options, make_targets(options), nullptr);
  Grid grid{format("PyTorch compositions beside it (float, %d threads)", options.threads[0]),
            {"operator", "case", "cpu ms", "PyTorch ms", "ratio"},
            "llrrr",
            {},
            "ratio: PyTorch's median over this library's; backward is the gradient alone, the graph being kept. "
            "Operators that bench/python/peers.py does not compose are left out."};
  progress("PyTorch compositions");
  for (const Row& row : rows) {
    const double peer = row.measured() ? peers.seconds(row) : 0;
    if (peer == 0) continue;
    grid.add({row.op, row.shape, format("%.3f", row.median() * 1e3), format("%.3f", peer * 1e3),
              format("%.1f", peer / row.median())});
  }
  return grid;
}

}  // namespace bench
