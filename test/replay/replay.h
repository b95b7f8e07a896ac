// Runs a recording on a backend.
#pragma once

#include "test/replay/recording.h"

namespace mluops::replay {

enum class Comparison { kEqual, kWithin, kDiffers, kRefused, kLeftOut };

struct Outcome {
  Comparison comparison = Comparison::kRefused;
  std::string text;    ///< which tensor differs and how much, or why it was refused
  double seconds = 0;  ///< least of the calls
};

const char* name_of(Comparison comparison);

/// `calls` times on a fresh context of the backend. Throws std::runtime_error where it cannot be used or the recording
/// is of another version of the operator's problem.
Outcome replay(const Recording& recording, const std::string& backend, int threads, int calls);

}  // namespace mluops::replay
