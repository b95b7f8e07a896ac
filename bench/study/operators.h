// The table of operators: who has what, asked of the library and of the descriptions.
#pragma once

#include "bench/output/grid.h"

namespace bench {

/// One row an operator. Backends are those of this process, plugins too.
Grid operators_grid();

/// docs/operators.md.
std::string operators_page();

}  // namespace bench
