#include "backends/mlu_emu/plan/psamask.h"

#include "common/shape.h"

namespace mluops::emu::plan {
namespace {

constexpr std::int64_t kBytes = 4;  // float only

/// Whole lines of 128 B, in floats.
std::int64_t up_line(std::int64_t elements) {
  return round_up(elements, kNfuAlign / kBytes);
}

/// Sizes of a problem in the search's words.
struct Sizes {
  std::int64_t ci, co, w;
  std::int64_t copies_of_wide;  // distribute keeps it before and after the transpose
  std::int64_t nram;            // elements
  std::int64_t lanes;           // of one vector alignment

  std::int64_t up(std::int64_t elements) const { return round_up(elements, lanes); }
};

Sizes sizes_of(const mluopsPsamaskShape& shape, const Machine& machine) {
  return {shape.h_mask * shape.w_mask, shape.h * shape.w,           shape.w,
          shape.psa_type == 0 ? 1 : 2, machine.nram_bytes / kBytes, machine.vector_alignment() / kBytes};
}

void split_clusters(PsamaskPlan& p, const mluopsPsamaskShape& shape, const Machine& machine) {
  p.n_per_cluster = shape.n;
  p.h_per_cluster = shape.h;
  if (shape.n >= machine.clusters || shape.n >= shape.h) {
    p.n_per_cluster = ceil_div(shape.n, machine.clusters);
    p.launch.y = ceil_div(shape.n, p.n_per_cluster);
  } else {
    p.h_per_cluster = ceil_div(shape.h, machine.clusters);
    p.launch.y = ceil_div(shape.h, p.h_per_cluster);
  }
}

void split_cores(PsamaskPlan& p, const Machine& machine) {
  p.n_per_core = p.n_per_cluster;
  p.h_per_core = p.h_per_cluster;
  if (p.n_per_cluster >= machine.cores_per_cluster || p.n_per_cluster >= p.h_per_cluster)
    p.n_per_core = ceil_div(p.n_per_cluster, machine.cores_per_cluster);
  else
    p.h_per_core = ceil_div(p.h_per_cluster, machine.cores_per_cluster);
  p.launch.x = machine.cores_per_cluster;
}

/// Largest segment that fits: whole images, else rows, else a multiple of the lanes in pixels; refuses otherwise.
void find_segment(PsamaskPlan& p, const Sizes& s, const Machine& machine) {
  const std::int64_t wide = s.up(s.co) * s.copies_of_wide;
  const std::int64_t per_image = up_line(p.h_per_core * s.w * s.ci) + s.up(p.h_per_core * s.w) * wide;
  const std::int64_t per_row = up_line(s.w * s.ci) + s.up(s.w) * wide;
  const std::int64_t per_pixel = up_line(s.ci) + up_line(s.up(s.co)) * s.copies_of_wide;
  p.segment_n = 1, p.segment_h = 1, p.segment_w = s.w;
  if (s.nram >= per_image) {
    p.segment_n = std::min(s.nram / per_image, p.n_per_core);
    p.segment_h = p.h_per_core;
  } else if (s.nram >= per_row) {
    p.segment_h = std::min(s.nram / per_row, p.h_per_core);
  } else if (s.nram / per_pixel >= s.lanes) {
    p.segment_w = round_down(std::min(s.nram / per_pixel, s.w), s.lanes);
  } else {
    p.refusal = "size of input channel is too large: " + std::to_string(s.lanes) + " pixels with " +
                std::to_string(s.ci) + " and " + std::to_string(s.co) + " channels " +
                nram_shortage(per_pixel * s.lanes * kBytes, machine);
  }
}

/// Areas of a full segment, in the order the kernels use them.
void lay_out(PsamaskPlan& p, const Sizes& s, Direction direction) {
  const bool forward = direction == Direction::kForward;
  const bool transposes = s.copies_of_wide == 2;
  const std::string wide_name = forward ? "y" : "dy";
  const std::int64_t pixels = p.segment_h * p.segment_w;
  const std::int64_t narrow = p.segment_n * pixels * s.ci, wide = p.segment_n * pixels * s.co;
  // What a kernel zero-fills is rounded up to whole vector lines, what it only loads to the compute granule.
  if (forward) p.narrow_offset = p.nram.add("x", s.up(narrow) * kBytes);
  if (transposes) {
    const std::int64_t padded = p.segment_n * s.up(pixels) * s.up(s.co);
    p.wide_temp_offset = p.nram.add(wide_name + "_temp", padded * kBytes);
    p.wide_offset = p.nram.add(wide_name, padded * kBytes);
  } else {
    p.wide_offset = p.nram.add(wide_name, (forward ? up_line(wide) : s.up(wide)) * kBytes);
  }
  if (!forward) p.narrow_offset = p.nram.add("dx", up_line(narrow) * kBytes);
}

}  // namespace

PsamaskPlan plan_psamask(const mluopsPsamaskShape& shape, Direction direction, const Machine& machine) {
  PsamaskPlan p;
  p.launch.type = TaskType::kUnion1;
  if (shape.dtype != MLUOP_DTYPE_FLOAT) {
    p.refusal = "the device's psamask takes float only";
    return p;
  }
  const Sizes sizes = sizes_of(shape, machine);
  if (refuse_large_tensor(p, "the tensor", {shape.n, shape.h, shape.w, std::max(sizes.ci, sizes.co)})) return p;
  p.lanes = sizes.lanes;
  split_clusters(p, shape, machine);
  split_cores(p, machine);
  find_segment(p, sizes, machine);
  if (p.ok()) lay_out(p, sizes, direction);
  return p;
}

PsamaskShare psamask_share(const PsamaskPlan& plan, const mluopsPsamaskShape& shape, std::int64_t x, std::int64_t y) {
  // Only one of n and h was split at each level, so the cluster's index counts parts of that one.
  const bool clusters_split_n = plan.n_per_cluster < shape.n || plan.h_per_cluster == shape.h;
  const Share n = block_share(shape.n, plan.n_per_cluster, clusters_split_n ? y : 0);
  const Share h = block_share(shape.h, plan.h_per_cluster, clusters_split_n ? 0 : y);
  const bool cores_split_n = plan.h_per_core == plan.h_per_cluster;
  const Share core_n = block_share(n.size(), plan.n_per_core, cores_split_n ? x : 0);
  const Share core_h = block_share(h.size(), plan.h_per_core, cores_split_n ? 0 : x);
  return {{n.begin + core_n.begin, n.begin + core_n.end}, {h.begin + core_h.begin, h.begin + core_h.end}};
}

}  // namespace mluops::emu::plan
