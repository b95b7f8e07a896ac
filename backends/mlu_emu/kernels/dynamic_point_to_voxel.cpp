// DynamicPointToVoxel as device code. feats and grad_feats [n,c], coors [n,3], voxel_feats and grad_voxel_feats [m,c].
//
// Forward: places of the points (-1 without a voxel), points in the same place (voxels.h), ranks of the places, on one
// core the number of each point's voxel, then rows of feats added to or compared with the voxels' rows by atomics: the
// order of sums is that of the tasks. Backward: a task owns voxels and finds the first point that each maximum is from;
// the gradients are scattered there. Rows are moved a few times each: bound by memory, but for places and ranks.
#include <algorithm>
#include <limits>

#include "backends/mlu_emu/kernels/voxels.h"
#include "backends/mlu_emu/operators.h"
#include "backends/mlu_emu/plan/dynamic_point_to_voxel.h"
#include "mluops/problem/dynamic_point_to_voxel.h"

namespace mluops::emu {
namespace {

using Shape = mluopsDynamicPointToVoxelShape;
using ForwardProblem = mluopsDynamicPointToVoxelForwardProblem;
using BackwardProblem = mluopsDynamicPointToVoxelBackwardProblem;

constexpr std::int64_t kLine = plan::kNfuAlign / 4;
constexpr std::int64_t kWord = sizeof(std::int32_t);

std::int64_t ints(std::int64_t count) {
  return bytes_of<std::int32_t>(count);
}

/// Rows z, y, x of coors into places [3,n], all three -1 where one is negative.
void mask_kernel(const ForwardProblem& p, std::int32_t* places, const plan::PointTilePlan& plan, char* nram) {
  auto* loaded = reinterpret_cast<std::int32_t*>(nram);
  std::int32_t *rows = loaded + 3 * plan.tile, *valid = rows + 3 * plan.tile, *mask = valid + plan.tile;
  for_tiles(p.shape.n, plan.tile, [&](plan::Share points) {
    const std::int64_t size = points.size(), lanes = round_up(size, kLine);
    __memcpy(loaded, p.coors + 3 * points.begin, ints(3 * size), GDRAM2NRAM);
    __bang_write_value(valid, lanes, std::int32_t{1});
    for (std::int64_t axis = 0; axis < 3; ++axis) {
      std::int32_t* row = rows + axis * plan.tile;
      __memcpy(row, loaded + axis, kWord, NRAM2NRAM, kWord, 3 * kWord, size - 1);
      __bang_ge_scalar(mask, row, std::int32_t{0}, lanes);
      __bang_mul(valid, valid, mask, lanes);
    }
    __bang_sub_scalar(mask, valid, std::int32_t{1}, lanes);
    for (std::int64_t axis = 0; axis < 3; ++axis) {
      std::int32_t* row = rows + axis * plan.tile;
      __bang_mul(row, row, valid, lanes);
      __bang_add(row, row, mask, lanes);
      __memcpy(places + axis * p.shape.n + points.begin, row, ints(size), NRAM2GDRAM);
    }
  });
}

/// How many different places lie before that of each first point of a place, the first coordinate first.
class Rank {
 public:
  Rank(const std::int32_t* places, const std::int32_t* position, std::int64_t n, const plan::RankPlan& plan, char* nram)
      : places_(places),
        position_(position),
        n_(n),
        tile_(plan.tile),
        own_(reinterpret_cast<std::int32_t*>(nram + plan.own_offset)),
        first_(reinterpret_cast<std::int32_t*>(nram + plan.position_offset)),
        rank_(reinterpret_cast<std::int32_t*>(nram + plan.rank_offset)),
        others_(reinterpret_cast<std::int32_t*>(nram + plan.others_offset)),
        work_(reinterpret_cast<std::int32_t*>(nram + plan.work_offset)) {}

  void run(std::int32_t* ranks) {
    for_tiles(n_, tile_, [&](plan::Share own) {
      load(own_, own);
      __memcpy(first_, position_ + own.begin, ints(own.size()), GDRAM2NRAM);
      for (std::int64_t i = 0; i < own.size(); ++i) rank_[i] = first_[i] == 0 ? 0 : -1;
      for (std::int64_t begin = 0; begin < n_; begin += tile_)
        compare_all(own.size(), {begin, std::min(n_, begin + tile_)});
      __memcpy(ranks + own.begin, rank_, ints(own.size()), NRAM2GDRAM);
    });
  }

 private:
  void load(std::int32_t* rows, plan::Share points) const {
    copy_rows(rows, places_ + points.begin, ints(points.size()), 3, {ints(tile_), ints(n_)}, GDRAM2NRAM);
  }

  void compare_all(std::int64_t own, plan::Share others) {
    const std::int64_t lanes = round_up(others.size(), kLine);
    std::int32_t* counts = work_ + 2 * tile_;  // 1 for the first point of a place; 0 behind the last point
    __bang_write_value(others_, 3 * tile_, std::int32_t{0});
    load(others_, others);
    __bang_write_value(counts, lanes, std::int32_t{-1});
    __memcpy(counts, position_ + others.begin, ints(others.size()), GDRAM2NRAM);
    __bang_eq_scalar(counts, counts, std::int32_t{0}, lanes);
    for (std::int64_t i = 0; i < own; ++i)
      if (rank_[i] >= 0) rank_[i] += static_cast<std::int32_t>(__bang_count(before(i, counts, lanes), lanes));
  }

  /// before = less on an axis, or equal there and before on the axes behind.
  const std::int32_t* before(std::int64_t i, const std::int32_t* counts, std::int64_t lanes) {
    std::int32_t *before = work_, *next = work_ + tile_;
    __bang_lt_scalar(before, others_ + 2 * tile_, own_[2 * tile_ + i], lanes);
    for (std::int64_t axis = 1; axis >= 0; --axis) {
      const std::int32_t *row = others_ + axis * tile_, at = own_[axis * tile_ + i];
      __bang_eq_scalar(next, row, at, lanes);
      __bang_mul(before, before, next, lanes);
      __bang_lt_scalar(next, row, at, lanes);
      __bang_add(before, before, next, lanes);
    }
    __bang_mul(before, before, counts, lanes);
    return before;
  }

  const std::int32_t *places_, *position_;
  std::int64_t n_, tile_;
  std::int32_t *own_, *first_, *rank_, *others_, *work_;
};

/// Calls visit(first channel, channels) for the pieces of a row.
template <class Visit>
void for_channels(std::int64_t c, std::int64_t most, const Visit& visit) {
  for (std::int64_t begin = 0; begin < c; begin += most) visit(begin, std::min(most, c - begin));
}

/// -Inf in the rows of the voxels.
void fill_kernel(const ForwardProblem& p, std::int64_t voxels, const plan::ChannelRowsPlan& plan, char* nram) {
  auto* row = reinterpret_cast<float*>(nram + plan.kMapTile * kWord);
  __bang_write_value(row, plan.lanes, -std::numeric_limits<float>::infinity());
  for_tiles(voxels, 1, [&](plan::Share voxel) {
    for_channels(p.shape.c, plan.lanes, [&](std::int64_t begin, std::int64_t size) {
      __memcpy(static_cast<float*>(p.voxel_feats) + voxel.begin * p.shape.c + begin, row, bytes_of<float>(size),
               NRAM2GDRAM);
    });
  });
}

/// The features of points into the rows of their voxels; the first point of a voxel takes its coordinates along.
void reduce_kernel(const ForwardProblem& p, const std::int32_t* position, const plan::ReducePlan& plan, char* nram) {
  const Shape& s = p.shape;
  auto* map = reinterpret_cast<std::int32_t*>(nram + plan.map_offset);
  auto* place = reinterpret_cast<std::int32_t*>(nram + plan.position_offset);
  auto* feats = reinterpret_cast<float*>(nram + plan.feats_offset);
  for_tiles(s.n, plan.points, [&](plan::Share points) {
    __memcpy(map, p.point2voxel_map + points.begin, ints(points.size()), GDRAM2NRAM);
    __memcpy(place, position + points.begin, ints(points.size()), GDRAM2NRAM);
    for_channels(s.c, plan.features, [&](std::int64_t begin, std::int64_t size) {
      copy_rows(feats, static_cast<const float*>(p.feats) + points.begin * s.c + begin, bytes_of<float>(size),
                points.size(), {bytes_of<float>(size), bytes_of<float>(s.c)}, GDRAM2NRAM);
      for (std::int64_t i = 0; i < points.size(); ++i) {
        if (map[i] < 0) continue;
        float* to = static_cast<float*>(p.voxel_feats) + map[i] * s.c + begin;
        if (s.reduce == MLUOP_REDUCE_DMAX)
          __bang_atomic_number_reduce_max(to, feats + i * size, size);  // a NaN is no maximum
        else
          __bang_atomic_reduce_add(to, feats + i * size, size);
      }
    });
    for (std::int64_t i = 0; i < points.size(); ++i)
      if (place[i] == 0)
        __memcpy(p.voxel_coors + 3 * std::int64_t{map[i]}, p.coors + 3 * (points.begin + i), ints(3), GDRAM2GDRAM);
  });
}

/// Rows of the voxels by their numbers of points.
void mean_kernel(const ForwardProblem& p, std::int64_t voxels, const plan::ChannelRowsPlan& plan, char* nram) {
  auto* row = reinterpret_cast<float*>(nram + plan.kMapTile * kWord);
  for_tiles(voxels, 1, [&](plan::Share voxel) {
    const auto points = static_cast<float>(__load_gdram(p.voxel_points_count + voxel.begin));
    for_channels(p.shape.c, plan.lanes, [&](std::int64_t begin, std::int64_t size) {
      float* feats = static_cast<float*>(p.voxel_feats) + voxel.begin * p.shape.c + begin;
      __memcpy(row, feats, bytes_of<float>(size), GDRAM2NRAM);
      __bang_div_scalar(row, row, points, round_up(size, kLine));
      __memcpy(feats, row, bytes_of<float>(size), NRAM2GDRAM);
    });
  });
}

/// The launches of forward, in their order.
class Forward {
 public:
  Forward(Context& context, const mluopsCall& call, const ForwardProblem& problem,
          const plan::DynamicPointToVoxelForwardPlan& plan)
      : context_(context),
        call_(call),
        p_(problem),
        s_(problem.shape),
        plan_(plan),
        places_(workspace(context, 3 * s_.n)),
        first_(workspace(context, s_.n)),
        position_(workspace(context, s_.n)) {}

  mluOpStatus_t run();

 private:
  using Step = mluOpStatus_t (Forward::*)();

  mluOpStatus_t run_steps(std::initializer_list<Step> steps) {
    mluOpStatus_t status = MLUOP_STATUS_SUCCESS;
    for (const Step step : steps)
      if (status == MLUOP_STATUS_SUCCESS) status = (this->*step)();
    return status;
  }
  mluOpStatus_t mask();
  mluOpStatus_t same_place();
  mluOpStatus_t rank();
  mluOpStatus_t number();
  mluOpStatus_t fill();
  mluOpStatus_t reduce();
  mluOpStatus_t mean();

  Tensor places() const { return reads("places", places_, ints(3 * s_.n)); }
  Tensor position() const { return reads("position", position_, ints(s_.n)); }
  std::int64_t rows_bytes() const { return bytes_of<float>(s_.m * s_.c); }

  Context& context_;
  const mluopsCall& call_;
  const ForwardProblem& p_;
  const Shape& s_;
  const plan::DynamicPointToVoxelForwardPlan& plan_;
  std::int32_t *places_, *first_, *position_;
  std::int64_t voxels_ = 0;
};

/// Runs the launches. The host reads the number of voxels between two of them, as on the device.
mluOpStatus_t Forward::run() {
  const mluOpStatus_t status = run_steps({&Forward::mask, &Forward::same_place});
  if (status != MLUOP_STATUS_SUCCESS) return status;
  voxels_ = std::count(position_, position_ + s_.n, 0);
  if (voxels_ > s_.m) return not_supported(call_, "voxel_feats: has fewer rows than there are voxels");
  fill_zero(context_, "voxel_feats", p_.voxel_feats, rows_bytes());
  fill_zero(context_, "voxel_coors", p_.voxel_coors, ints(3 * s_.m));
  fill_zero(context_, "voxel_points_count", p_.voxel_points_count, ints(s_.m));
  if (s_.reduce == MLUOP_REDUCE_DMAX)
    return run_steps({&Forward::rank, &Forward::number, &Forward::fill, &Forward::reduce});
  if (s_.reduce == MLUOP_REDUCE_DMEAN)
    return run_steps({&Forward::rank, &Forward::number, &Forward::reduce, &Forward::mean});
  return run_steps({&Forward::rank, &Forward::number, &Forward::reduce});
}

mluOpStatus_t Forward::mask() {
  return launch(context_, call_, "dynamic_point_to_voxel_mask", plan_.mask,
                {reads("coors", p_.coors, ints(3 * s_.n)), writes("places", places_, ints(3 * s_.n))},
                [&](char* nram) { mask_kernel(p_, places_, plan_.mask, nram); });
}

mluOpStatus_t Forward::same_place() {
  constexpr std::int64_t kNoLimit = std::numeric_limits<std::int32_t>::max();
  return launch(context_, call_, "dynamic_point_to_voxel_same_place", plan_.same_place,
                {places(), writes("first", first_, ints(s_.n)), writes("position", position_, ints(s_.n))},
                [&](char* nram) {
                  SamePlace({places_, first_, position_}, s_.n, kNoLimit, plan_.same_place, nram).run();
                });
}

mluOpStatus_t Forward::rank() {
  return launch(context_, call_, "dynamic_point_to_voxel_rank", plan_.rank,
                {places(), position(), writes("point2voxel_map", p_.point2voxel_map, ints(s_.n))},
                [&](char* nram) { Rank(places_, position_, s_.n, plan_.rank, nram).run(p_.point2voxel_map); });
}

mluOpStatus_t Forward::number() {
  return launch(
      context_, call_, "dynamic_point_to_voxel_number", plan_.numbering,
      {reads("first", first_, ints(s_.n)), position(), updates("point2voxel_map", p_.point2voxel_map, ints(s_.n)),
       writes("voxel_points_count", p_.voxel_points_count, ints(s_.m)), writes("voxel_num", p_.voxel_num, ints(1))},
      [&](char* nram) {
        Numbering({first_, position_, p_.point2voxel_map, p_.voxel_points_count, p_.voxel_num}, s_.n, s_.m, true,
                  plan_.numbering, nram)
            .run();
      });
}

mluOpStatus_t Forward::fill() {
  return launch(context_, call_, "dynamic_point_to_voxel_fill", plan_.fill,
                {writes("voxel_feats", p_.voxel_feats, rows_bytes())},
                [&](char* nram) { fill_kernel(p_, voxels_, plan_.fill, nram); });
}

mluOpStatus_t Forward::reduce() {
  return launch(
      context_, call_, "dynamic_point_to_voxel_reduce", plan_.reduce,
      {reads("feats", p_.feats, bytes_of<float>(s_.n * s_.c)), reads("coors", p_.coors, ints(3 * s_.n)),
       reads("point2voxel_map", p_.point2voxel_map, ints(s_.n)), position(),
       updates("voxel_feats", p_.voxel_feats, rows_bytes()), writes("voxel_coors", p_.voxel_coors, ints(3 * s_.m))},
      [&](char* nram) { reduce_kernel(p_, position_, plan_.reduce, nram); });
}

mluOpStatus_t Forward::mean() {
  return launch(context_, call_, "dynamic_point_to_voxel_mean", plan_.mean,
                {reads("voxel_points_count", p_.voxel_points_count, ints(s_.m)),
                 updates("voxel_feats", p_.voxel_feats, rows_bytes())},
                [&](char* nram) { mean_kernel(p_, voxels_, plan_.mean, nram); });
}

/// The map of backward, tile by tile; its numbers are arbitrary.
class Map {
 public:
  Map(const BackwardProblem& problem, char* nram)
      : p_(problem),
        tile_(reinterpret_cast<std::int32_t*>(nram)),
        voxels_(std::clamp<std::int64_t>(__load_gdram(problem.voxel_num), 0, problem.shape.m)) {}

  std::int64_t voxels() const { return voxels_; }
  /// Calls visit(point, voxel) for the points of the share that have a voxel, in order.
  template <class Visit>
  void for_points(plan::Share share, const Visit& visit) {
    constexpr std::int64_t kTile = plan::ChannelRowsPlan::kMapTile;
    for (std::int64_t begin = share.begin; begin < share.end; begin += kTile) {
      const std::int64_t size = std::min(kTile, share.end - begin);
      __memcpy(tile_, p_.point2voxel_map + begin, ints(size), GDRAM2NRAM);
      for (std::int64_t i = 0; i < size; ++i)
        if (tile_[i] >= 0 && tile_[i] < voxels_) visit(begin + i, std::int64_t{tile_[i]});
    }
  }

 private:
  const BackwardProblem& p_;
  std::int32_t* tile_;
  std::int64_t voxels_;
};

/// voxel_from [m,c]: where in feats the first element lies that equals the voxel's, or n * c where there is none. A
/// task owns every taskDim-th voxel and sees its points in order.
class Trace {
 public:
  Trace(const BackwardProblem& problem, std::int32_t* voxel_from, const plan::ChannelRowsPlan& plan, char* nram)
      : p_(problem),
        s_(problem.shape),
        from_(voxel_from),
        most_(plan.lanes),
        none_(static_cast<std::int32_t>(s_.n * s_.c)),
        map_(problem, nram),
        feats_(reinterpret_cast<float*>(nram + plan.kMapTile * kWord)),
        voxel_feats_(feats_ + most_),
        row_(reinterpret_cast<std::int32_t*>(voxel_feats_ + most_)),
        channel_(row_ + most_),
        destination_(channel_ + most_) {}

  void run() {
    for_channels(s_.c, most_, [&](std::int64_t begin, std::int64_t size) {
      for (std::int64_t i = 0; i < size; ++i) channel_[i] = static_cast<std::int32_t>(begin + i);
      __bang_write_value(row_, most_, none_);
      for (std::int64_t v = taskId; v < map_.voxels(); v += taskDim)
        __memcpy(from_ + v * s_.c + begin, row_, ints(size), NRAM2GDRAM);
      map_.for_points({0, s_.n}, [&](std::int64_t point, std::int64_t voxel) {
        if (voxel % taskDim == taskId) compare(point, voxel, begin, size);
      });
    });
  }

 private:
  void compare(std::int64_t point, std::int64_t voxel, std::int64_t begin, std::int64_t size) {
    const std::int64_t lanes = round_up(size, kLine), at = voxel * s_.c + begin;
    __memcpy(feats_, static_cast<const float*>(p_.feats) + point * s_.c + begin, bytes_of<float>(size), GDRAM2NRAM);
    __memcpy(voxel_feats_, static_cast<const float*>(p_.voxel_feats) + at, bytes_of<float>(size), GDRAM2NRAM);
    __memcpy(row_, from_ + at, ints(size), GDRAM2NRAM);
    __bang_eq(feats_, feats_, voxel_feats_, lanes);
    auto* equal = reinterpret_cast<std::int32_t*>(voxel_feats_);
    __bang_float2int32(equal, feats_, lanes, 0);
    // point * c + channel where they are equal, else none.
    __bang_add_scalar(destination_, channel_, static_cast<std::int32_t>(point * s_.c - none_), lanes);
    __bang_mul(destination_, destination_, equal, lanes);
    __bang_add_scalar(destination_, destination_, none_, lanes);
    __bang_minequal(row_, row_, destination_, lanes);
    __memcpy(from_ + at, row_, ints(size), NRAM2GDRAM);
  }

  const BackwardProblem& p_;
  const Shape& s_;
  std::int32_t* from_;
  std::int64_t most_;
  std::int32_t none_;
  Map map_;
  float *feats_, *voxel_feats_;
  std::int32_t *row_, *channel_, *destination_;
};

/// grad_feats[voxel_from] = grad_voxel_feats where there is such an element.
void scatter_kernel(const BackwardProblem& p, const std::int32_t* voxel_from, const plan::PointTilePlan& plan,
                    char* nram) {
  constexpr std::int64_t kMaskLanes = 1024;
  const Shape& s = p.shape;
  const std::int64_t voxels = std::clamp<std::int64_t>(__load_gdram(p.voxel_num), 0, s.m);
  const auto none = static_cast<std::int32_t>(s.n * s.c);
  auto *gradient = reinterpret_cast<float*>(nram), *mask = gradient + 2 * plan.tile, *zeros = mask + plan.tile,
       *bits = zeros + plan.tile;
  auto* from = reinterpret_cast<std::int32_t*>(gradient + plan.tile);
  __bang_write_value(zeros, plan.tile, 0.0f);
  for_tiles(voxels * s.c, plan.tile, [&](plan::Share elements) {
    const std::int64_t size = elements.size(), lanes = round_up(size, kMaskLanes);
    __memcpy(gradient, static_cast<const float*>(p.grad_voxel_feats) + elements.begin, bytes_of<float>(size),
             GDRAM2NRAM);
    __bang_write_value(from, lanes, none);
    __memcpy(from, voxel_from + elements.begin, ints(size), GDRAM2NRAM);
    auto* there = reinterpret_cast<std::int32_t*>(mask);
    __bang_lt_scalar(there, from, none, lanes);
    __bang_int322float(mask, there, lanes, 0);
    __bang_gt_bitindex(bits, mask, zeros, lanes);
    __bang_mul_scalar(from, from, static_cast<std::int32_t>(kWord), lanes);
    __scatter(p.grad_feats, gradient, reinterpret_cast<const std::uint32_t*>(from), bits, sizeof(float), NRAM2GDRAM,
              sizeof(float), size);
  });
}

/// Sums and means: each point takes the row of its voxel, or that divided.
void spread_kernel(const BackwardProblem& p, const plan::ChannelRowsPlan& plan, char* nram) {
  const Shape& s = p.shape;
  Map map(p, nram);
  auto* row = reinterpret_cast<float*>(nram + plan.kMapTile * kWord);
  map.for_points(plan::contiguous_share(s.n, taskDim, taskId), [&](std::int64_t point, std::int64_t voxel) {
    const auto points = static_cast<float>(__load_gdram(p.voxel_points_count + voxel));
    for_channels(s.c, plan.lanes, [&](std::int64_t begin, std::int64_t size) {
      __memcpy(row, static_cast<const float*>(p.grad_voxel_feats) + voxel * s.c + begin, bytes_of<float>(size),
               GDRAM2NRAM);
      if (s.reduce == MLUOP_REDUCE_DMEAN) __bang_div_scalar(row, row, points, round_up(size, kLine));
      __memcpy(static_cast<float*>(p.grad_feats) + point * s.c + begin, row, bytes_of<float>(size), NRAM2GDRAM);
    });
  });
}

/// What the launches of backward read, and gradients they write.
struct BackwardTensors {
  Tensor grad_voxel_feats, feats, voxel_feats, map, counts, num, grad_feats;

  explicit BackwardTensors(const BackwardProblem& p)
      : grad_voxel_feats(reads("grad_voxel_feats", p.grad_voxel_feats, bytes_of<float>(p.shape.m * p.shape.c))),
        feats(reads("feats", p.feats, bytes_of<float>(p.shape.n * p.shape.c))),
        voxel_feats(reads("voxel_feats", p.voxel_feats, bytes_of<float>(p.shape.m * p.shape.c))),
        map(reads("point2voxel_map", p.point2voxel_map, ints(p.shape.n))),
        counts(reads("voxel_points_count", p.voxel_points_count, ints(p.shape.m))),
        num(reads("voxel_num", p.voxel_num, ints(1))),
        grad_feats(writes("grad_feats", p.grad_feats, bytes_of<float>(p.shape.n * p.shape.c))) {}
};

}  // namespace

mluOpStatus_t dynamic_point_to_voxel_forward(Context& context, const mluopsCall& call, const ForwardProblem& p) {
  const auto plan = plan::plan_dynamic_point_to_voxel_forward(p.shape, machine_of(context));
  if (!plan.ok()) return not_supported(call, plan.refusal);
  return Forward(context, call, p, plan).run();
}

mluOpStatus_t dynamic_point_to_voxel_backward(Context& context, const mluopsCall& call, const BackwardProblem& p) {
  const auto plan = plan::plan_dynamic_point_to_voxel_backward(p.shape, machine_of(context));
  if (!plan.ok()) return not_supported(call, plan.refusal);
  const BackwardTensors t(p);
  fill_zero(context, "grad_feats", p.grad_feats, t.grad_feats.bytes);
  if (p.shape.reduce != MLUOP_REDUCE_DMAX)
    return launch(context, call, "dynamic_point_to_voxel_spread", plan.spread,
                  {t.grad_voxel_feats, t.map, t.counts, t.num, t.grad_feats},
                  [&](char* nram) { spread_kernel(p, plan.spread, nram); });
  const std::int64_t elements = p.shape.m * p.shape.c;
  std::int32_t* voxel_from = workspace(context, elements);
  const mluOpStatus_t status =
      launch(context, call, "dynamic_point_to_voxel_trace", plan.trace,
             {t.feats, t.voxel_feats, t.map, t.num, updates("voxel_from", voxel_from, ints(elements))},
             [&](char* nram) { Trace(p, voxel_from, plan.trace, nram).run(); });
  if (status != MLUOP_STATUS_SUCCESS) return status;
  return launch(context, call, "dynamic_point_to_voxel_scatter", plan.scatter,
                {t.grad_voxel_feats, t.num, reads("voxel_from", voxel_from, ints(elements)), t.grad_feats},
                [&](char* nram) { scatter_kernel(p, voxel_from, plan.scatter, nram); });
}

}  // namespace mluops::emu
