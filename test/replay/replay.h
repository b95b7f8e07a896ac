// Runs a recording on a backend.
#pragma once

#include <functional>

#include "test/replay/reference.h"

namespace mluops::replay {

enum class Comparison { kEqual, kWithin, kDiffers, kRefused, kLeftOut, kNotRecorded };

/// What the reference in double says about the outputs.
enum class Judgement { kNotAsked, kRight, kWrong };

struct Outcome {
  Comparison comparison = Comparison::kRefused;
  std::string text;    ///< which tensor differs and how much, or why it was refused
  double seconds = 0;  ///< least of the calls
  Judgement reference = Judgement::kNotAsked;
  std::string mismatch = {};  ///< where it is wrong

  /// By the reference where there is one, else by the recording.
  bool good() const {
    return reference == Judgement::kNotAsked ? comparison != Comparison::kDiffers : reference == Judgement::kRight;
  }
};

const char* name_of(Comparison comparison);
const char* name_of(Judgement judgement);

/// The least time of so many calls, `prepare` before each; refused with the text where one fails.
Outcome time_calls(RecordedCase& made, const test::Handle& handle, int calls, const std::function<void()>& prepare);

/// `calls` times on a fresh handle, through the C API: what it does not take is refused. `made` is of this recording.
/// Throws std::runtime_error where the backend cannot be used.
Outcome replay(const Recording& recording, RecordedCase& made, const std::string& backend, int threads, int calls,
               bool by_reference = false);

}  // namespace mluops::replay
