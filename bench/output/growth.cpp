#include "bench/output/growth.h"

namespace bench {

Grid growth_grid(const std::vector<GrowthRow>& rows, int threads) {
  Grid grid{format("Growth with each parameter (cpu, float, %d threads)", threads),
            {"operator", "parameter", "ms x1", "ms x2", "ms x4", "ms x8", "exponent", "of the work", "growth"},
            "llrrrrrrl",
            {},
            "exponent: fitted slope of log time over log size; of the work: the same fit for the bytes or flops, "
            "whichever grow faster (steps that cannot double, such as odd kernels, come near). linear: time grows no "
            "faster than "
            "the work, up to 0.15."};
  for (const GrowthRow& row : rows) {
    std::vector<std::string> cells = {row.op, row.parameter};
    for (const double seconds : row.seconds) cells.push_back(format("%.3f", seconds * 1e3));
    cells.push_back(format("%.2f", row.exponent));
    cells.push_back(format("%.2f", row.of_work));
    cells.push_back(row.linear() ? "linear" : "MORE");
    grid.add(std::move(cells));
  }
  return grid;
}

}  // namespace bench
