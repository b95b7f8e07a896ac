// The table of a run.
#pragma once

#include <string>
#include <vector>

#include "bench/engine/row.h"
#include "bench/output/grid.h"

namespace bench {

/// How many rows have which verdict, and whether the run as a whole is good: no row wrong or failed, and every backend
/// that has one of the operators ran at least one row.
struct Totals {
  int ok = 0, wrong = 0, failed = 0, declined = 0, absent = 0, half_roof = 0, high_roof = 0, measured_cpu = 0;
  int not_judged = 0;  ///< ran, and nobody looked at the outputs; not among `ok`
  std::vector<std::string> idle_backends;
  std::int64_t checked = 0;

  bool good() const { return wrong == 0 && failed == 0 && idle_backends.empty(); }
};
Totals count(const std::vector<Row>& rows);

/// What the machine does, one row per number of threads.
Grid machine_grid(const Machine& machine);
/// All rows.
Grid result_grid(const std::vector<Row>& rows);

/// result_grid() row by row, before all are known: columns as wide as the selection needs.
class LiveTable {
 public:
  LiveTable(std::size_t operator_width, std::size_t case_width);
  std::string heading() const;
  std::string line(const Row& row) const;

 private:
  std::vector<std::size_t> widths_;
};

/// For every bad row the command that runs it again.
std::string again_text(const std::vector<Row>& rows);
/// Two lines.
std::string totals_text(const Totals& totals);

/// A line on stderr that is overwritten by the next one; only on a terminal.
void progress(const std::string& text);

}  // namespace bench
