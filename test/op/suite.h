// One test: an operator on a backend in a dtype over a group of cases.
#pragma once

#include <gtest/gtest.h>

#include <ostream>
#include <string>
#include <vector>

#include "test/support/coverage.h"
#include "test/support/lists.h"
#include "test/support/run.h"

namespace mluops::test {

struct Combination {
  std::string backend, op;
  mluOpDataType_t dtype;
  std::string group;  // document, edge or random
  std::string name() const { return backend + "_" + op + "_" + dtype_name(dtype) + (group.empty() ? "" : "_" + group); }
};

inline std::ostream& operator<<(std::ostream& out, const Combination& c) {
  return out << c.name();
}

inline std::string name_of(const ::testing::TestParamInfo<Combination>& info) {
  return info.param.name();
}

/// Every backend x operator x dtype there is a duty for, times groups.
std::vector<Combination> combinations(const std::vector<std::string>& groups = {""});

/// The cases of a group that make sense for the combination; only the selected one when MLUOP_TEST_CASE is set.
Cases cases_of(const Combination& c);

/// Random cases the backend can be held to in the dtype, scaled(count) of them.
Cases random_cases_for(const Combination& c, std::uint64_t seed, int count);

/// The case says declines=<backend>: it lies beyond a documented limit there.
bool may_decline(const Case& text, const std::string& backend);

}  // namespace mluops::test
