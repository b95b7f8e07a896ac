// Non-maximum suppression in its textbook form: look for the best box left, take it, deal with the others.
#pragma once

#include "test/reference/reference.h"

namespace mluops::reference {

/// What a selection gives, as long as its tensors: zeros behind the boxes taken.
struct NmsResult {
  Values output;       ///< nms: max_output indices, or rows of score and box ([5, room] in that mode)
  double output_size;  ///< boxes taken
};
/// The precision of coordinates is that of everything here: each operation on boxes is rounded to it.
NmsResult nms(const mluopsNmsProblem& problem, Coordinates coordinates = Coordinates::kDouble);

struct SoftNmsResult {
  Values dets;     ///< [boxes,5]
  Values indices;  ///< [boxes]
  double output_size;
};
SoftNmsResult soft_nms(const mluopsSoftNmsProblem& problem, Coordinates coordinates = Coordinates::kDouble);

struct NmsMatchResult {
  Values indices;      ///< [boxes]
  Values group_sizes;  ///< [boxes]
  double group_count;
};
NmsMatchResult nms_match(const mluopsNmsMatchProblem& problem, Coordinates coordinates = Coordinates::kDouble);

}  // namespace mluops::reference
