// The table on the terminal.
#pragma once

#include <string>
#include <vector>

#include "bench/engine/row.h"

namespace bench {

/// How many rows have which verdict, and whether the run as a whole is good: no row wrong or failed, and every backend
/// that was asked ran at least one row.
struct Totals {
  int ok = 0, wrong = 0, failed = 0, declined = 0, absent = 0, half_roof = 0, high_roof = 0, measured_cpu = 0;
  std::vector<std::string> idle_backends;
  std::int64_t checked = 0;

  bool good() const { return wrong == 0 && failed == 0 && idle_backends.empty(); }
};
Totals count(const std::vector<Row>& rows, const Machine& machine);

/// What the machine does, one line per number of threads.
std::string machine_text(const Machine& machine);
/// All rows with their heading.
std::string table_text(const std::vector<Row>& rows, const Machine& machine);
/// One line.
std::string totals_text(const Totals& totals);

/// printf into a string.
std::string format(const char* text, ...) __attribute__((format(printf, 1, 2)));

/// A line on stderr that is overwritten by the next one; only on a terminal.
void progress(const std::string& text);

}  // namespace bench
