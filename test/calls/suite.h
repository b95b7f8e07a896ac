// Calls on the cpu backend: a case in a dtype, gradients summed one way or the other.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "test/support/coverage.h"
#include "test/support/run.h"

namespace mluops::test {

struct CallVariant {
  Case text;
  mluOpDataType_t dtype;
  bool atomic;  ///< atomic additions asked for and allowed
};

inline std::ostream& operator<<(std::ostream& out, const CallVariant& v) {
  return out << v.text.text() << ", " << dtype_name(v.dtype) << (v.atomic ? ", atomic" : "");
}

/// In every dtype, gradients both ways where there is a choice. Per operator one element of everything, then a few of
/// each, with tails.
std::vector<CallVariant> small_calls(const std::string& op);
/// Calls large enough for several threads, in every way an operator can take: written past the caches or not, by
/// blocks or by rows, sorted or not.
std::vector<CallVariant> large_calls(const std::string& op);

/// A handle of cpu that runs the variant.
std::unique_ptr<Handle> make_handle(const CallVariant& v, int threads);

/// What the handle's cpu backend holds.
std::int64_t working_bytes(const Handle& handle);

/// Tests with the name of an operator as their parameter.
class OperatorCallTest : public ::testing::TestWithParam<std::string> {};

inline std::string operator_name(const ::testing::TestParamInfo<std::string>& info) {
  return info.param;
}

}  // namespace mluops::test
