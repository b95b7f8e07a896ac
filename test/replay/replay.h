// Runs a recording on a backend.
#pragma once

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

/// `calls` times on a fresh context of the backend; judged by `reference` where that is not NULL. Throws
/// std::runtime_error where it cannot be used or the recording is of another version of the operator's problem.
Outcome replay(const Recording& recording, const std::string& backend, int threads, int calls,
               RecordedCase* reference = nullptr);

}  // namespace mluops::replay
