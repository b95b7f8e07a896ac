// Which calls a run measures: the network's cases of every selected operator.
#pragma once

#include "bench/engine/runner.h"
#include "bench/study/options.h"

namespace bench {

/// Rows that are measured in turns: one case in every selected dtype, on every target; for emulated machines a smaller
/// one of the same kind (Options::full: the case itself).
struct Group {
  const OperatorCases* op;
  Case text;
};

std::vector<Group> chosen_groups(const Options& options);

/// The group's calls. Tensors are described, not yet in memory.
std::vector<Job> jobs_of(const Group& group, const Options& options, const std::vector<Target>& targets);

/// Whether the operator can be asked for the dtype under the contract a new handle has.
bool has_dtype(const OperatorCases& op, mluOpDataType_t dtype);

}  // namespace bench
