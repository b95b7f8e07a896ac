// DiffIouRotatedSortVertices from its definition.
#pragma once

#include "test/reference/reference.h"

namespace mluops::reference {

/// idx [n,9].
Values diff_iou_rotated_sort_vertices(const mluopsDiffIouRotatedSortVerticesProblem& problem);

}  // namespace mluops::reference
