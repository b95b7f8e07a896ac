// The caller's rounding mode and treatment of denormal numbers change no result, and hold again after the call.
#include <cfenv>

#include "test/calls/suite.h"

#if defined(__SSE__)
#include <xmmintrin.h>
#endif

namespace mluops::test {
namespace {

/// Round upwards, and flush denormal numbers to zero where the machine can.
void set_odd_mode() {
  std::fesetround(FE_UPWARD);
#if defined(__SSE__)
  constexpr unsigned kFlushAndDenormalsAreZero = 0x8040;
  _mm_setcsr(_mm_getcsr() | kFlushAndDenormalsAreZero);
#endif
}

unsigned mode() {
#if defined(__SSE__)
  return _mm_getcsr();
#else
  return static_cast<unsigned>(std::fegetround());
#endif
}

class FloatMode : public OperatorCallTest {};

/// Bytes of the outputs; in an odd mode, which must be the same afterwards.
std::vector<std::vector<unsigned char>> outputs(Problem& problem, const Handle& handle, bool odd) {
  std::fenv_t before;
  std::fegetenv(&before);
  if (odd) set_odd_mode();
  const unsigned callers = mode();
  const mluOpStatus_t status = problem.call(handle.get());
  const unsigned after = mode();
  std::fesetenv(&before);
  EXPECT_EQ(status, MLUOP_STATUS_SUCCESS) << mluOpExtGetLastErrorText();
  EXPECT_EQ(after, callers);
  std::vector<std::vector<unsigned char>> bytes;
  for (const auto& output : problem.outputs) bytes.push_back(output->bytes());
  return bytes;
}

TEST_P(FloatMode, OfTheCallerIsNeitherUsedNorChanged) {
  for (const std::string backend : {"cpu", "mlu_emu"}) {
    if (duty(backend, GetParam(), MLUOP_DTYPE_FLOAT) == Duty::kNone) continue;  // the device lacks the operator
    // The emulator takes its time: small calls.
    for (const CallVariant& v : backend == "cpu" ? large_calls(GetParam()) : small_calls(GetParam())) {
      if (v.atomic || v.dtype != MLUOP_DTYPE_FLOAT) continue;  // one order of additions
      Problem problem = make_problem(v.text, v.dtype);
      for (const int threads : {1, 3}) {
        Handle handle(backend, threads);
        handle.contract(MLUOP_EXT_CONTRACT_EXTENDED);
        const auto usual = outputs(problem, handle, false);
        EXPECT_TRUE(outputs(problem, handle, true) == usual) << v << ", " << backend << ", " << threads << " threads";
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, FloatMode, ::testing::ValuesIn(operators()), operator_name);

}  // namespace
}  // namespace mluops::test
