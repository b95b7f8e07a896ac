// A recording as a case of its operator: what the reference in double makes of the recorded inputs, and the same call
// through the C API.
#pragma once

#include <map>
#include <string>

#include "test/replay/recording.h"
#include "test/support/run.h"

namespace mluops::replay {

/// Tensors of a call by their names, as bytes.
using NamedBytes = std::map<std::string, std::vector<unsigned char>>;

class RecordedCase {
 public:
  /// Throws std::runtime_error where the recording is no case: without its text or an input's data, with tensors that
  /// the case does not have.
  explicit RecordedCase(const Recording& recording);

  /// The case on numbers made up from it.
  explicit RecordedCase(const cases::Case& text);

  /// "" where the outputs are what the reference says, within the backend's tolerance, else what is not.
  std::string mismatch(const NamedBytes& outputs, const std::string& backend);
  /// The call through the C API, with everything a test looks at.
  test::Report run(const test::Handle& handle, const std::string& backend);
  /// What one call takes.
  double seconds(const test::Handle& handle);

 private:
  const test::Expected& expected(reference::Coordinates coordinates);

  test::Problem problem_;
  std::map<reference::Coordinates, test::Expected> expected_;
};

}  // namespace mluops::replay
