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

/// Whether the operator has the choice between owner and atomic.
inline bool scatters(const std::string& op) {
  return op.ends_with("_backward") && !op.starts_with("psamask");
}

/// The cases of one operator ("name=value ..." each) in every dtype, those that scatter both ways.
inline std::vector<CallVariant> variants_of(const std::string& op, const std::vector<const char*>& texts) {
  std::vector<CallVariant> all;
  for (const char* text : texts) {
    const Case c = Case::parse(op + " " + text);
    for (const mluOpDataType_t dtype : float_dtypes()) {
      all.push_back({c, dtype, false});
      if (scatters(op)) all.push_back({c, dtype, true});
    }
  }
  return all;
}

/// A handle of cpu that runs the variant.
inline std::unique_ptr<Handle> make_handle(const CallVariant& v, int threads) {
  auto handle =
      std::make_unique<Handle>("cpu", threads, std::vector<std::string>{v.atomic ? "scatter=atomic" : "scatter=owner"});
  handle->contract(MLUOP_EXT_CONTRACT_EXTENDED);
  handle->atomics(v.atomic ? MLUOP_ATOMICS_ALLOWED : MLUOP_ATOMICS_NOT_ALLOWED);
  return handle;
}

/// Tests with the name of an operator as their parameter.
class OperatorCallTest : public ::testing::TestWithParam<std::string> {};

inline std::string operator_name(const ::testing::TestParamInfo<std::string>& info) {
  return info.param;
}

}  // namespace mluops::test
