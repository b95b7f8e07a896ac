// PSAMask on the device: split over clusters, then over cores, then segments that fit NRAM.
#pragma once

#include "backends/mlu_emu/plan/plan.h"
#include "mluops/problem/psamask.h"

namespace mluops::emu::plan {

/// UNION1 over {cores, clusters}. Either images or rows are split between clusters, and again between cores; a core
/// walks its part in segments: whole images (segment_n of them), or whole rows of one image, or pixels of one row.
struct PsamaskPlan : Plan {
  std::int64_t n_per_cluster = 0, h_per_cluster = 0;
  std::int64_t n_per_core = 0, h_per_core = 0;
  std::int64_t segment_n = 0, segment_h = 0, segment_w = 0;
  std::int64_t lanes = 0;  // floats of one vector alignment: sizes of areas and of transposes are multiples
  // Byte offsets: the narrow tensor (x, dx), the wide one (y, dy), and its image before the transpose (distribute).
  std::int64_t narrow_offset = 0, wide_offset = 0, wide_temp_offset = 0;
};

/// Images and rows of one core.
struct PsamaskShare {
  Share n, h;
};

PsamaskPlan plan_psamask(const mluopsPsamaskShape& shape, Direction direction, const Machine& machine);

/// What task (x: core in the cluster, y: cluster) works on; empty for surplus tasks.
PsamaskShare psamask_share(const PsamaskPlan& plan, const mluopsPsamaskShape& shape, std::int64_t x, std::int64_t y);

}  // namespace mluops::emu::plan
