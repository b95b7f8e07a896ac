// A recording as a case of its operator: what the reference in double makes of the recorded inputs, and the same call
// through the C API.
#pragma once

#include <map>
#include <string>

#include "test/replay/recording.h"
#include "test/support/run.h"

namespace mluops::replay {

/// What a text may ask for that no bytes of a file stand behind.
struct Limits {
  std::uintmax_t bytes = 256 << 20;  ///< of tensors
  double work = 0x1p66;              ///< cases::work_of
};

class RecordedCase {
 public:
  /// Throws std::runtime_error where the recording is no case: without its text, with other tensors, or tensors of
  /// other sizes or directions, than the case has; beyond the limits. An input whose data were left out is zeros.
  explicit RecordedCase(const Recording& recording, const Limits& limits = {});

  /// The case on numbers made up from it.
  explicit RecordedCase(const cases::Case& text, const Limits& limits = {});

  /// Whether no input's data were left out.
  bool complete() const { return complete_; }
  /// The outputs' bytes before or after the recorded call; of those that were left out, what stands there.
  void put_outputs(const Recording& recording, std::vector<unsigned char> RecordedTensor::*bytes);
  mluOpStatus_t call(const test::Handle& handle) { return problem_.call(handle.get()); }
  const std::vector<std::unique_ptr<test::Tensor>>& outputs() const { return problem_.outputs; }

  /// "" where the outputs are what the reference says, within the backend's tolerance, else what is not.
  std::string mismatch(const std::string& backend);
  /// The call through the C API, with everything a test looks at. The reference is asked only about what it accepts.
  test::Report run(const test::Handle& handle, const std::string& backend);

 private:
  const test::Expected& expected(reference::Coordinates coordinates);

  test::Problem problem_;
  bool complete_ = true;
  std::map<reference::Coordinates, test::Expected> expected_;
};

}  // namespace mluops::replay
