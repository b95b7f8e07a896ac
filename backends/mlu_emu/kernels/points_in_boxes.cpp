// PointsInBoxes as device code. points [b,m,3], boxes [b,n,7], idx [b,m], inside [b,m,n].
//
// A task owns points and their rows of the output. It compares one box at a time with a tile of points: some 16
// operations for each pair, bound by arithmetic. Part adds a box's number where no box was before; all collects a
// table of the tile's points and some boxes.
#include <algorithm>
#include <cmath>

#include "backends/mlu_emu/kernels/points.h"
#include "backends/mlu_emu/operators.h"
#include "backends/mlu_emu/plan/points_in_boxes.h"
#include "common/shape.h"
#include "mluops/problem/points_in_boxes.h"

namespace mluops::emu {
namespace {

constexpr std::int64_t kBox = 7;
constexpr std::int64_t kLine = plan::kNfuAlign / 4;
constexpr double kMargin = 1e-5;  // what the device adds to half the sides of boxes given by their centres

/// A box as the scalar core prepares it: x, y, z, dx, dy, dz, rotation; z is the centre or the bottom.
struct Box {
  float x, y, z, half_x, half_y, half_z, cosine, sine;

  Box(const float* box, bool centred)
      : x(box[0]),
        y(box[1]),
        z(box[2]),
        half_x(half_side(box[3], centred)),
        half_y(half_side(box[4], centred)),
        half_z(box[5] / 2),
        cosine(static_cast<float>(std::cos(-static_cast<double>(box[6])))),
        sine(static_cast<float>(std::sin(-static_cast<double>(box[6])))) {
    if (!centred) z = z + half_z;
  }

 private:
  static float half_side(float side, bool centred) {
    return static_cast<float>(static_cast<double>(side) / 2 + (centred ? kMargin : 0));
  }
};

/// A tile of points, and the boxes of their cloud.
class Tile {
 public:
  Tile(const mluopsPointsInBoxesShape& shape, const plan::PointsInBoxesPlan& plan, char* nram)
      : s_(shape),
        work_(reinterpret_cast<float*>(nram + plan.work_offset)),
        rows_(reinterpret_cast<float*>(nram + plan.rows_offset)),
        boxes_(reinterpret_cast<float*>(nram + plan.boxes_offset)) {}

  void load(const void* points, const void* boxes, std::int64_t cloud, plan::Share share) {
    lanes_ = round_up(share.size(), kLine);
    load_point_rows(rows_, work_, static_cast<const float*>(points) + 3 * share.begin, share.size(), lanes_);
    if (cloud == cloud_) return;
    cloud_ = cloud;
    __memcpy(boxes_, static_cast<const float*>(boxes) + cloud * s_.n * kBox, bytes_of<float>(s_.n * kBox), GDRAM2NRAM);
  }

  std::int64_t lanes() const { return lanes_; }
  float* spare() { return work_ + lanes_; }
  /// A row with 1 for each point in box n, else 0. The next row may be used until the next call.
  float* inside(std::int64_t n);

 private:
  void and_less(float* row, float limit);

  const mluopsPointsInBoxesShape& s_;
  float *work_, *rows_, *boxes_;
  std::int64_t lanes_ = 0, cloud_ = -1;
};

float* Tile::inside(std::int64_t n) {
  const Box box(boxes_ + n * kBox, s_.centred != 0);
  const float *x = rows_, *y = x + lanes_, *z = y + lanes_;
  float *inside = work_, *a = inside + lanes_, *b = a + lanes_;
  __bang_sub_scalar(inside, z, box.z, lanes_);
  __bang_abs(inside, inside, lanes_);
  __bang_gt_scalar(inside, inside, box.half_z, lanes_);
  __bang_not(inside, inside, lanes_);  // a NaN is not higher
  __bang_sub_scalar(a, x, box.x, lanes_);
  __bang_sub_scalar(b, y, box.y, lanes_);
  __bang_mul_scalar(a, a, box.cosine, lanes_);
  __bang_mul_scalar(b, b, box.sine, lanes_);
  __bang_sub(a, a, b, lanes_);
  and_less(a, box.half_x);
  __bang_sub_scalar(a, x, box.x, lanes_);
  __bang_sub_scalar(b, y, box.y, lanes_);
  __bang_mul_scalar(a, a, box.sine, lanes_);
  __bang_mul_scalar(b, b, box.cosine, lanes_);
  __bang_add(a, a, b, lanes_);
  and_less(a, box.half_y);
  return inside;
}

void Tile::and_less(float* row, float limit) {
  __bang_abs(row, row, lanes_);
  __bang_lt_scalar(row, row, limit, lanes_);
  __bang_mul(work_, work_, row, lanes_);
}

void part_kernel(const mluopsPointsInBoxesPartProblem& problem, const plan::PointsInBoxesPlan& plan, char* nram) {
  const mluopsPointsInBoxesShape& s = problem.shape;
  Tile tile(s, plan, nram);
  auto* first = reinterpret_cast<float*>(nram + plan.result_offset);  // number of the first box, from 1; 0 for none
  for_cloud_tiles(plan::contiguous_share(s.b * s.m, taskDim, taskId), s.m, plan.tile,
                  [&](std::int64_t cloud, plan::Share points) {
                    tile.load(problem.points, problem.boxes, cloud, points);
                    const std::int64_t lanes = tile.lanes();
                    __bang_write_value(first, lanes, 0.0f);
                    for (std::int64_t n = 0; n < s.n; ++n) {
                      float *number = tile.inside(n), *free = tile.spare();
                      __bang_le_scalar(free, first, 0.0f, lanes);
                      __bang_mul(number, number, free, lanes);
                      __bang_mul_scalar(number, number, static_cast<float>(n + 1), lanes);
                      __bang_add(first, first, number, lanes);
                    }
                    __bang_sub_scalar(first, first, 1.0f, lanes);
                    auto* index = reinterpret_cast<std::int32_t*>(first);
                    __bang_float2int32(index, first, lanes, 0);
                    __memcpy(problem.idx + points.begin, index, bytes_of<std::int32_t>(points.size()), NRAM2GDRAM);
                  });
}

void all_kernel(const mluopsPointsInBoxesAllProblem& problem, const plan::PointsInBoxesPlan& plan, char* nram) {
  const mluopsPointsInBoxesShape& s = problem.shape;
  constexpr std::int64_t kWord = sizeof(std::int32_t);
  Tile tile(s, plan, nram);
  auto* row = reinterpret_cast<std::int32_t*>(nram + plan.result_offset);
  auto* table = reinterpret_cast<std::int32_t*>(nram + plan.table_offset);
  for_cloud_tiles(plan::contiguous_share(s.b * s.m, taskDim, taskId), s.m, plan.tile,
                  [&](std::int64_t cloud, plan::Share points) {
                    tile.load(problem.points, problem.boxes, cloud, points);
                    for (std::int64_t first = 0; first < s.n; first += plan.columns) {
                      const std::int64_t columns = std::min(plan.columns, s.n - first);
                      for (std::int64_t n = 0; n < columns; ++n) {
                        __bang_float2int32(row, tile.inside(first + n), tile.lanes(), 0);
                        __memcpy(table + n, row, kWord, NRAM2NRAM, columns * kWord, kWord, points.size() - 1);
                      }
                      copy_rows(problem.inside + points.begin * s.n + first, table, columns * kWord, points.size(),
                                {s.n * kWord, columns * kWord}, NRAM2GDRAM);
                    }
                  });
}

}  // namespace

mluOpStatus_t points_in_boxes_part(Context& context, const mluopsCall& call, const mluopsPointsInBoxesPartProblem& p) {
  const mluopsPointsInBoxesShape& s = p.shape;
  const auto plan = plan::plan_points_in_boxes_part(s, machine_of(context));
  if (!plan.ok()) return not_supported(call, plan.refusal);
  return launch(context, call, "points_in_boxes_part", plan,
                {reads("points", p.points, bytes_of<float>(3 * s.b * s.m)),
                 reads("boxes", p.boxes, bytes_of<float>(kBox * s.b * s.n)),
                 writes("points_indices", p.idx, bytes_of<std::int32_t>(s.b * s.m))},
                [&](char* nram) { part_kernel(p, plan, nram); });
}

mluOpStatus_t points_in_boxes_all(Context& context, const mluopsCall& call, const mluopsPointsInBoxesAllProblem& p) {
  const mluopsPointsInBoxesShape& s = p.shape;
  const auto plan = plan::plan_points_in_boxes_all(s, machine_of(context));
  if (!plan.ok()) return not_supported(call, plan.refusal);
  return launch(context, call, "points_in_boxes_all", plan,
                {reads("points", p.points, bytes_of<float>(3 * s.b * s.m)),
                 reads("boxes", p.boxes, bytes_of<float>(kBox * s.b * s.n)),
                 writes("inside", p.inside, bytes_of<std::int32_t>(s.b * s.m * s.n))},
                [&](char* nram) { all_kernel(p, plan, nram); });
}

}  // namespace mluops::emu
