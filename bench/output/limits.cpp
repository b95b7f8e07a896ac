#include "bench/output/limits.h"

namespace bench {
namespace {

/// From this share on a part of the time counts as what limits the call.
constexpr double kMostOf = 0.65;
/// So many times the floor on top of the warm time is more than moving the bytes explains.
constexpr double kLatency = 1.25;

double arithmetic_seconds(const Row& row) {
  return row.flops / row.roof.flops;
}

std::string share_of(double part, double whole) {
  return format("%.0f", part / whole * 100);
}

// clang-format off
const char* const kNote =
    "% lines: the share of the bound when reads are counted in whole cache lines of 64 bytes. % fma: arithmetic at the\n"
    "machine's peak. floor: a loop of the bench that reads one word of each of those lines, in memory order, while it\n"
    "fills the outputs past the caches, on the same memory with as many threads; it computes nothing. warm: the same\n"
    "call again and again on one set of tensors, where that fits into half of the last-level cache.\n"
    "\n"
    "limited by, the first that holds: arithmetic: % fma is 65 or more. access: % floor is 65 or more, so moving these\n"
    "bytes takes that long without computing anything. latency: cold data cost the call 1.25 times as much as moving\n"
    "them takes, so it waits for lines that could have been under way together. core: 65 % of the time is left when the\n"
    "data are in cache, or, where they do not fit, the floor is at most 35 %: instructions, and traffic of the first two\n"
    "caches. mixed: none of them alone.";
// clang-format on

}  // namespace

std::string limited_by(const Row& row) {
  const double s = row.median();
  if (row.floor == 0) return "-";
  if (arithmetic_seconds(row) >= kMostOf * s) return "arithmetic";
  if (row.floor >= kMostOf * s) return "access";
  if (row.warm > 0 && s - row.warm >= kLatency * row.floor && row.warm < kMostOf * s) return "latency";
  const bool core = row.warm > 0 ? row.warm >= kMostOf * s : row.floor <= (1 - kMostOf) * s;
  return core ? "core" : "mixed";
}

Grid limits_grid(const std::vector<Row>& rows) {
  Grid grid{"What limits the rows below 80 %",
            {"operator", "case", "dtype", "thr", "ms", "% bound", "by", "% lines", "% fma", "floor ms", "% floor",
             "warm ms", "limited by"},
            "lllrrrlrrrrrl",
            {},
            kNote};
  for (const Row& row : rows) {
    if (!row.measured() || row.floor == 0) continue;
    const double s = row.median();
    if (row.share() >= kGoodShare) continue;
    grid.add({row.op, row.shape, row.dtype, std::to_string(row.threads), format("%.3f", s * 1e3),
              share_of(row.share(), 1), row.limit(), share_of(row.line_bound(), s),
              share_of(arithmetic_seconds(row), s), format("%.3f", row.floor * 1e3), share_of(row.floor, s),
              row.warm > 0 ? format("%.3f", row.warm * 1e3) : "-", limited_by(row)});
  }
  return grid;
}

}  // namespace bench
