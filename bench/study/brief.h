// The run without a selection: one case of every operator, family by family.
#pragma once

#include "bench/engine/runner.h"
#include "bench/study/options.h"

namespace bench {

/// Prints each family as soon as its rows are final, PyTorch's time beside them where a Python here has it, and at the
/// end what is absent. Returns the rows.
std::vector<Row> run_brief(const Options& options, const std::vector<Target>& targets, Machine* machine);

}  // namespace bench
