// The lists of cases every backend has to pass, as the tests take them.
#pragma once

#include "test/cases/base/random.h"
#include "test/support/settings.h"

namespace mluops::test {

Cases document_cases(const std::string& op);
Cases edge_cases(const std::string& op);
/// A problem of at most `effort`.
Case random_case(const std::string& op, Random& random, double effort = 1);

using Filter = bool (*)(const Case&);

/// count problems that pass the filter, the same for the same seed.
Cases random_cases(const std::string& op, std::uint64_t seed, int count, double effort = 1, Filter filter = nullptr);

/// meaningful_in_half where it matters (mlu_emu in half), else nothing.
Filter filter_for(const std::string& backend, mluOpDataType_t dtype);

}  // namespace mluops::test
