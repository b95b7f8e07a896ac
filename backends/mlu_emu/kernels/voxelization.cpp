// Voxelization as device code. points [n,features], voxels [max_voxels,max_points,features]; coordinates in the order
// z, y, x.
//
// Places of the points in the grid, n in parallel: bound by memory. Hard voxelization then finds the points in the
// same place (voxels.h), numbers the places on one core, and copies each point that has a row. Tasks own points.
#include <algorithm>
#include <cmath>

#include "backends/mlu_emu/kernels/points.h"
#include "backends/mlu_emu/kernels/voxels.h"
#include "backends/mlu_emu/operators.h"
#include "backends/mlu_emu/plan/voxelization.h"
#include "common/round.h"
#include "mluops/problem/voxelization.h"

namespace mluops::emu {
namespace {

using Shape = mluopsVoxelizationShape;

struct GridTensors {
  const void *points, *voxel_size, *coors_range;
};

/// The places of tiles of points: rows x, y, z of 32-bit numbers, all -1 outside of the grid.
class Places {
 public:
  Places(const Shape& shape, const GridTensors& tensors, const plan::PlacesPlan& plan, char* nram)
      : features_(shape.features),
        points_(static_cast<const float*>(tensors.points)),
        grid_(reinterpret_cast<float*>(nram + plan.grid_offset)),
        loaded_(reinterpret_cast<float*>(nram + plan.loaded_offset)),
        rows_(reinterpret_cast<float*>(nram + plan.rows_offset)),
        masks_(reinterpret_cast<float*>(nram + plan.masks_offset)) {
    __memcpy(grid_, tensors.voxel_size, bytes_of<float>(3), GDRAM2NRAM);
    __memcpy(grid_ + 3, tensors.coors_range, bytes_of<float>(6), GDRAM2NRAM);
  }

  void find(plan::Share points);

  const std::int32_t* row(std::int64_t axis) const {
    return reinterpret_cast<const std::int32_t*>(rows_) + axis * lanes_;
  }
  /// [points,3] z, y, x, one behind the other.
  const std::int32_t* interleaved(std::int64_t size);

 private:
  void divide(std::int64_t axis);
  void keep_inside();

  std::int64_t features_;
  const float* points_;
  float *grid_, *loaded_, *rows_, *masks_;
  std::int64_t lanes_ = 0;
};

void Places::find(plan::Share points) {
  lanes_ = round_up(points.size(), plan::kNfuAlign / 4);
  copy_rows(loaded_, points_ + points.begin * features_, bytes_of<float>(3), points.size(),
            {bytes_of<float>(3), bytes_of<float>(features_)}, GDRAM2NRAM);
  split_points(rows_, loaded_, points.size(), lanes_);
  __bang_write_value(masks_, lanes_, 1.0f);
  for (std::int64_t axis = 0; axis < 3; ++axis) divide(axis);
  keep_inside();
}

/// (p - low) / size, and whether that is in [0, end) on this axis, too.
void Places::divide(std::int64_t axis) {
  constexpr float kMostPlaces = 0x1p31f;
  const float size = grid_[axis], low = grid_[3 + axis];
  float end = round_half_away((grid_[6 + axis] - low) / size);
  if (end > kMostPlaces) end = kMostPlaces;
  float *row = rows_ + axis * lanes_, *inside = masks_, *next = masks_ + lanes_;
  __bang_sub_scalar(row, row, low, lanes_);
  __bang_div_scalar(row, row, size, lanes_);
  __bang_ge_scalar(next, row, 0.0f, lanes_);
  __bang_mul(inside, inside, next, lanes_);
  __bang_lt_scalar(next, row, end, lanes_);
  __bang_mul(inside, inside, next, lanes_);
}

/// Whole numbers, times 1 and plus 0 inside, times 0 and plus -1 outside.
void Places::keep_inside() {
  auto *inside = reinterpret_cast<std::int32_t*>(masks_), *outside = inside + lanes_;
  __bang_float2int32(inside, masks_, lanes_, 0);
  __bang_sub_scalar(outside, inside, std::int32_t{1}, lanes_);
  for (std::int64_t axis = 0; axis < 3; ++axis) {
    auto* place = reinterpret_cast<std::int32_t*>(rows_) + axis * lanes_;
    __bang_float2int32_dn(place, rows_ + axis * lanes_, lanes_, 0);
    __bang_mul(place, place, inside, lanes_);
    __bang_add(place, place, outside, lanes_);
  }
}

const std::int32_t* Places::interleaved(std::int64_t size) {
  constexpr std::int64_t kWord = sizeof(std::int32_t);
  auto* table = reinterpret_cast<std::int32_t*>(loaded_);
  for (std::int64_t axis = 0; axis < 3; ++axis)
    __memcpy(table + 2 - axis, row(axis), kWord, NRAM2NRAM, 3 * kWord, kWord, size - 1);
  return table;
}

void dynamic_kernel(const mluopsDynamicVoxelizeProblem& p, const plan::PlacesPlan& plan, char* nram) {
  Places places(p.shape, {p.points, p.voxel_size, p.coors_range}, plan, nram);
  for_tiles(p.shape.n, plan.tile, [&](plan::Share points) {
    places.find(points);
    __memcpy(p.coors + 3 * points.begin, places.interleaved(points.size()), bytes_of<std::int32_t>(3 * points.size()),
             NRAM2GDRAM);
  });
}

/// Into rows [3,n] in the order z, y, x.
void places_kernel(const mluopsVoxelizationProblem& p, std::int32_t* rows, const plan::PlacesPlan& plan, char* nram) {
  Places places(p.shape, {p.points, p.voxel_size, p.coors_range}, plan, nram);
  for_tiles(p.shape.n, plan.tile, [&](plan::Share points) {
    places.find(points);
    for (std::int64_t axis = 0; axis < 3; ++axis)
      __memcpy(rows + (2 - axis) * p.shape.n + points.begin, places.row(axis), bytes_of<std::int32_t>(points.size()),
               NRAM2GDRAM);
  });
}

/// What the launches leave to each other: places [3,n], and of each point the first one in its place, its position
/// there, its voxel.
struct Workspace {
  std::int32_t *places, *first, *position, *voxel;

  Workspace(Context& context, std::int64_t n)
      : places(workspace(context, 3 * n)),
        first(workspace(context, n)),
        position(workspace(context, n)),
        voxel(workspace(context, n)) {}
};

/// Points that have a row go there; the first point of a voxel takes its place along.
void assign_kernel(const mluopsVoxelizationProblem& p, const Workspace& w, const plan::PointTilePlan& plan,
                   char* nram) {
  const Shape& s = p.shape;
  auto* position = reinterpret_cast<std::int32_t*>(nram);
  auto* voxel = reinterpret_cast<std::int32_t*>(nram + plan.row_bytes());
  for_tiles(s.n, plan.tile, [&](plan::Share points) {
    __memcpy(position, w.position + points.begin, bytes_of<std::int32_t>(points.size()), GDRAM2NRAM);
    __memcpy(voxel, w.voxel + points.begin, bytes_of<std::int32_t>(points.size()), GDRAM2NRAM);
    for (std::int64_t i = 0; i < points.size(); ++i) {
      if (position[i] < 0 || voxel[i] < 0) continue;
      const std::int64_t point = points.begin + i, to = voxel[i] * s.max_points + position[i];
      __memcpy_async(static_cast<float*>(p.voxels) + to * s.features,
                     static_cast<const float*>(p.points) + point * s.features, bytes_of<float>(s.features),
                     GDRAM2GDRAM);
      if (position[i] == 0)
        copy_rows(p.coors + 3 * std::int64_t{voxel[i]}, w.places + point, bytes_of<std::int32_t>(1), 3,
                  {bytes_of<std::int32_t>(1), bytes_of<std::int32_t>(s.n)}, GDRAM2GDRAM);
    }
    __sync();
  });
}

Tensor points_of(const Shape& s, const void* points) {
  return reads("points", points, bytes_of<float>(s.n * s.features));
}
Tensor size_of(const void* voxel_size) {
  return reads("voxel_size", voxel_size, bytes_of<float>(3));
}
Tensor range_of(const void* coors_range) {
  return reads("coors_range", coors_range, bytes_of<float>(6));
}

/// The launches of hard voxelization, in their order.
class Voxelization {
 public:
  Voxelization(Context& context, const mluopsCall& call, const mluopsVoxelizationProblem& problem,
               const plan::VoxelizationPlan& plan)
      : context_(context), call_(call), p_(problem), s_(problem.shape), plan_(plan), w_(context, problem.shape.n) {}

  mluOpStatus_t run() {
    fill_zero(context_, "voxels", p_.voxels, bytes_of<float>(s_.max_voxels * s_.max_points * s_.features));
    fill_zero(context_, "coors", p_.coors, ints(3 * s_.max_voxels));
    fill_zero(context_, "num_points_per_voxel", p_.num_points_per_voxel, ints(s_.max_voxels));
    for (const auto step :
         {&Voxelization::places, &Voxelization::same_place, &Voxelization::number, &Voxelization::assign}) {
      const mluOpStatus_t status = (this->*step)();
      if (status != MLUOP_STATUS_SUCCESS) return status;
    }
    return MLUOP_STATUS_SUCCESS;
  }

 private:
  static std::int64_t ints(std::int64_t count) { return bytes_of<std::int32_t>(count); }

  mluOpStatus_t places() {
    return launch(context_, call_, "voxelization_places", plan_.places,
                  {points_of(s_, p_.points), size_of(p_.voxel_size), range_of(p_.coors_range),
                   writes("places", w_.places, ints(3 * s_.n))},
                  [&](char* nram) { places_kernel(p_, w_.places, plan_.places, nram); });
  }
  mluOpStatus_t same_place() {
    return launch(context_, call_, "voxelization_same_place", plan_.same_place,
                  {reads("places", w_.places, ints(3 * s_.n)), writes("first", w_.first, ints(s_.n)),
                   writes("position", w_.position, ints(s_.n))},
                  [&](char* nram) {
                    SamePlace({w_.places, w_.first, w_.position}, s_.n, s_.max_points, plan_.same_place, nram).run();
                  });
  }
  mluOpStatus_t number() {
    return launch(context_, call_, "voxelization_number", plan_.numbering,
                  {reads("first", w_.first, ints(s_.n)), reads("position", w_.position, ints(s_.n)),
                   updates("voxel", w_.voxel, ints(s_.n)),
                   writes("num_points_per_voxel", p_.num_points_per_voxel, ints(s_.max_voxels)),
                   writes("voxel_num", p_.voxel_num, ints(1))},
                  [&](char* nram) {
                    Numbering({w_.first, w_.position, w_.voxel, p_.num_points_per_voxel, p_.voxel_num}, s_.n,
                              s_.max_voxels, false, plan_.numbering, nram)
                        .run();
                  });
  }
  mluOpStatus_t assign() {
    return launch(context_, call_, "voxelization_assign", plan_.assign,
                  {points_of(s_, p_.points), reads("places", w_.places, ints(3 * s_.n)),
                   reads("position", w_.position, ints(s_.n)), reads("voxel", w_.voxel, ints(s_.n)),
                   writes("voxels", p_.voxels, bytes_of<float>(s_.max_voxels * s_.max_points * s_.features)),
                   writes("coors", p_.coors, ints(3 * s_.max_voxels))},
                  [&](char* nram) { assign_kernel(p_, w_, plan_.assign, nram); });
  }

  Context& context_;
  const mluopsCall& call_;
  const mluopsVoxelizationProblem& p_;
  const Shape& s_;
  const plan::VoxelizationPlan& plan_;
  Workspace w_;
};

}  // namespace

mluOpStatus_t voxelization(Context& context, const mluopsCall& call, const mluopsVoxelizationProblem& p) {
  const auto plan = plan::plan_voxelization(p.shape, machine_of(context));
  if (!plan.ok()) return not_supported(call, plan.refusal);
  return Voxelization(context, call, p, plan).run();
}

mluOpStatus_t dynamic_voxelize(Context& context, const mluopsCall& call, const mluopsDynamicVoxelizeProblem& p) {
  const auto plan = plan::plan_dynamic_voxelize(p.shape, machine_of(context));
  if (!plan.ok()) return not_supported(call, plan.refusal);
  return launch(context, call, "dynamic_voxelize", plan,
                {points_of(p.shape, p.points), size_of(p.voxel_size), range_of(p.coors_range),
                 writes("coors", p.coors, bytes_of<std::int32_t>(3 * p.shape.n))},
                [&](char* nram) { dynamic_kernel(p, plan, nram); });
}

}  // namespace mluops::emu
