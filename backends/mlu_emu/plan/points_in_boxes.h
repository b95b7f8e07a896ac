// PointsInBoxes on the device: tiles of points, all boxes of a cloud beside them.
#pragma once

#include "backends/mlu_emu/plan/plan.h"
#include "mluops/problem/points_in_boxes.h"

namespace mluops::emu::plan {

/// BLOCK; the points of all clouds in contiguous shares, a core holds the boxes of a cloud and up to `tile` points.
/// "All" also holds a table of the tile's results for up to `columns` boxes.
struct PointsInBoxesPlan : Plan {
  std::int64_t tile = 0, columns = 0;
  // Byte offsets. `work` is three rows, and where points are loaded.
  std::int64_t work_offset = 0, rows_offset = 0, result_offset = 0, table_offset = 0, boxes_offset = 0;
};

PointsInBoxesPlan plan_points_in_boxes_part(const mluopsPointsInBoxesShape& shape, const Machine& machine);
PointsInBoxesPlan plan_points_in_boxes_all(const mluopsPointsInBoxesShape& shape, const Machine& machine);

}  // namespace mluops::emu::plan
