// What limits the rows that stay below the bound, as far as measuring tells.
#pragma once

#include <string>
#include <vector>

#include "bench/engine/row.h"
#include "bench/output/grid.h"

namespace bench {

/// Share of the bound from which on a row needs no explanation.
constexpr double kGoodShare = 0.8;

/// "arithmetic", "access", "latency", "core" or "mixed" (limits_grid says what they mean); "-" when it was not
/// measured.
std::string limited_by(const Row& row);

/// The rows of the cpu backend below kGoodShare that were measured with Settings::limits.
Grid limits_grid(const std::vector<Row>& rows);

}  // namespace bench
