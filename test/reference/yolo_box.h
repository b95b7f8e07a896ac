// YoloBox, each number by itself, in double throughout.
#pragma once

#include "test/reference/reference.h"

namespace mluops::reference {

struct YoloBoxResult {
  Values boxes;   ///< [n,anchors,4,h*w]
  Values scores;  ///< [n,anchors,classes,h*w]
};
YoloBoxResult yolo_box(const mluopsYoloBoxProblem& problem);

}  // namespace mluops::reference
