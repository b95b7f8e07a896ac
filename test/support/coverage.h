// What each backend is expected to run: the one list the suites believe.
#pragma once

#include <string>
#include <vector>

#include "mlu_op_ext.h"
#include "test/support/settings.h"

namespace mluops::test {

/// What a backend should do with an operator in a dtype.
enum class Duty {
  kStrict,    ///< runs under both contracts
  kExtended,  ///< runs under MLUOP_EXT_CONTRACT_EXTENDED only
  kNone,      ///< not offered
};

Duty duty(const std::string& backend, const std::string& op, mluOpDataType_t dtype);

/// HALF, FLOAT, DOUBLE, BFLOAT16.
const std::vector<mluOpDataType_t>& float_dtypes();

/// The contract under which the duty can be asked for.
mluOpExtContract_t contract_for(Duty duty);

/// Thread counts the suites use on a backend.
std::vector<int> thread_counts(const std::string& backend);

}  // namespace mluops::test
