// Scalar arguments in double. The C functions of operators take floats, as the vendor's do; mluOpExtSetScalars gives
// the numbers they were rounded from, for calls on tensors of DOUBLE.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <mutex>
#include <thread>
#include <vector>

#include "common/status.h"

namespace mluops {

/// A float argument of an operator; `exact` is what was given for it in double, else the float.
struct Scalar {
  float value;
  double exact;

  /// As a call on tensors of this dtype computes with it.
  double of(mluOpDataType_t dtype) const { return dtype == MLUOP_DTYPE_DOUBLE ? exact : static_cast<double>(value); }
};

/// A float argument under the name the C prototype gives it.
struct FloatArg {
  const char* name;
  float value;
};

/// The numbers given for the float arguments of one call; count 0: none.
struct GivenScalars {
  static constexpr std::size_t kMost = 16;  ///< no call has as many floats

  std::size_t count = 0;
  std::array<double, kMost> values{};
};

/// Numbers that threads have given for their next operator call on a handle, one set each: threads that share a handle
/// do not disturb each other.
class PendingScalars {
 public:
  /// Instead of what the calling thread gave before.
  void set(const GivenScalars& given);
  /// The calling thread's, which are no longer pending then.
  GivenScalars take();

 private:
  struct OfThread {
    std::thread::id thread;
    GivenScalars given;
  };

  std::mutex mutex_;
  std::atomic<std::size_t> count_{0};  ///< size of pending_: every call asks, so it is one load
  std::vector<OfThread> pending_;
};

/// Puts given.values[i], where there are any, into scalars[i].exact; BAD_PARAM unless there is one for each argument
/// and it rounds to it.
Status match_scalars(const GivenScalars& given, const FloatArg* arguments, std::size_t count, Scalar* scalars);

template <std::size_t kCount>
Status match_scalars(const GivenScalars& given, const FloatArg (&arguments)[kCount],
                     std::array<Scalar, kCount>& scalars) {
  return match_scalars(given, arguments, kCount, scalars.data());
}

}  // namespace mluops
