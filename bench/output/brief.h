// The short table: a line about each family, then its rows. One dtype, one number of threads.
#pragma once

#include <string>
#include <vector>

#include "bench/engine/row.h"

namespace bench {

/// The processor and its roof at one number of threads: one line.
std::string machine_line(const Roof& roof);

/// What a family's rows say in one line: verdicts, share of the bound on cpu, ratio to PyTorch, emulated backends.
std::string family_line(const std::string& family, const std::vector<Row>& rows);

/// Rows of all backends that have the operator; the case comes last, with the reason where a verdict is not ok.
class BriefTable {
 public:
  explicit BriefTable(std::size_t operator_width);
  std::string heading() const;
  std::string line(const Row& row) const;

 private:
  std::vector<std::size_t> widths_;
};

/// Which operators a backend lacks, one line for each backend that lacks some; "" when all have all.
std::string absent_text(const std::vector<Row>& rows);

}  // namespace bench
