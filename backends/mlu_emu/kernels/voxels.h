// Device code that operators of voxels share. places [3,n] are 32-bit coordinates, negative where a point has no voxel.
#pragma once

#include <algorithm>
#include <cstdint>

#include "backends/mlu_emu/bang/bang.h"
#include "backends/mlu_emu/kernels/copy.h"
#include "backends/mlu_emu/plan/voxels.h"
#include "common/shape.h"

namespace mluops::emu {

/// Calls visit(tile) for the tiles of the task's share of n items.
template <class Visit>
void for_tiles(std::int64_t n, std::int64_t tile, const Visit& visit) {
  const plan::Share share = plan::contiguous_share(n, taskDim, taskId);
  for (std::int64_t begin = share.begin; begin < share.end; begin += tile)
    visit(plan::Share{begin, std::min(share.end, begin + tile)});
}

/// For each point the first one in the same place, itself perhaps, and how many lie before it there; -1 both where a
/// point has no voxel, position -1 where there are `most` before it. A task owns points and compares them with all
/// before: bound by arithmetic, n^2 / 2 pairs of 7 operations.
class SamePlace {
 public:
  struct Tensors {
    const std::int32_t* places;
    std::int32_t *first, *position;
  };

  SamePlace(const Tensors& tensors, std::int64_t n, std::int64_t most, const plan::SamePlacePlan& plan, char* nram)
      : t_(tensors),
        n_(n),
        most_(most),
        plan_(plan),
        own_(reinterpret_cast<std::int32_t*>(nram + plan.own_offset)),
        first_(reinterpret_cast<std::int32_t*>(nram + plan.first_offset)),
        position_(reinterpret_cast<std::int32_t*>(nram + plan.position_offset)),
        earlier_(reinterpret_cast<std::int32_t*>(nram + plan.earlier_offset)),
        work_(reinterpret_cast<std::int32_t*>(nram + plan.work_offset)) {}

  void run() {
    for (const std::int64_t part : {std::int64_t{taskId}, 2 * std::int64_t{taskDim} - 1 - taskId}) {
      const plan::Share share = plan::contiguous_share(n_, 2 * std::int64_t{taskDim}, part);
      for (std::int64_t begin = share.begin; begin < share.end; begin += plan_.tile)
        run_tile({begin, std::min(share.end, begin + plan_.tile)});
    }
  }

 private:
  static constexpr std::int64_t kLine = plan::kNfuAlign / 4;

  void load(std::int32_t* rows, plan::Share points) const {
    copy_rows(rows, t_.places + points.begin, bytes_of<std::int32_t>(points.size()), 3,
              {bytes_of<std::int32_t>(plan_.tile), bytes_of<std::int32_t>(n_)}, GDRAM2NRAM);
  }

  void run_tile(plan::Share own) {
    load(own_, own);
    for (std::int64_t i = 0; i < own.size(); ++i) {
      first_[i] = own_[i] < 0 ? -1 : static_cast<std::int32_t>(own.begin + i);
      position_[i] = own_[i] < 0 ? -1 : 0;
    }
    for (std::int64_t begin = 0; begin < own.end; begin += plan_.tile) {
      const plan::Share earlier{begin, std::min(own.end, begin + plan_.tile)};
      load(earlier_, earlier);
      for (std::int64_t i = 0; i < own.size(); ++i)
        if (position_[i] >= 0 && position_[i] < most_)
          compare(i, earlier, std::min(earlier.size(), own.begin + i - begin));
    }
    for (std::int64_t i = 0; i < own.size(); ++i)
      if (position_[i] >= most_) position_[i] = -1;
    __memcpy(t_.first + own.begin, first_, bytes_of<std::int32_t>(own.size()), NRAM2GDRAM);
    __memcpy(t_.position + own.begin, position_, bytes_of<std::int32_t>(own.size()), NRAM2GDRAM);
  }

  /// With the first `count` points of the tile of earlier ones: whole lines on the vector unit, the rest by the scalar
  /// core, since on the 200 series builtins take whole lines only.
  void compare(std::int64_t i, plan::Share earlier, std::int64_t count) {
    const std::int64_t lanes = round_down(std::max<std::int64_t>(count, 0), kLine);
    if (lanes > 0) {
      const std::int32_t* mask = same(i, lanes);
      const std::uint32_t found = __bang_count(mask, lanes);
      if (found > 0) meet(i, earlier.begin + __bang_findfirst1(mask, lanes), found);
    }
    for (std::int64_t j = lanes; j < count; ++j) {
      bool equal = true;
      for (std::int64_t axis = 0; axis < 3; ++axis)
        equal = equal && own_[axis * plan_.tile + i] == earlier_[axis * plan_.tile + j];
      if (equal) meet(i, earlier.begin + j, 1);
    }
  }

  const std::int32_t* same(std::int64_t i, std::int64_t lanes) {
    std::int32_t *mask = work_, *equal = work_ + plan_.tile;
    __bang_eq_scalar(mask, earlier_, own_[i], lanes);
    for (std::int64_t axis = 1; axis < 3; ++axis) {
      __bang_eq_scalar(equal, earlier_ + axis * plan_.tile, own_[axis * plan_.tile + i], lanes);
      __bang_mul(mask, mask, equal, lanes);
    }
    return mask;
  }

  void meet(std::int64_t i, std::int64_t point, std::uint32_t points) {
    if (position_[i] == 0) first_[i] = static_cast<std::int32_t>(point);
    position_[i] += static_cast<std::int32_t>(points);
  }

  Tensors t_;
  std::int64_t n_, most_;
  const plan::SamePlacePlan& plan_;
  std::int32_t *own_, *first_, *position_, *earlier_, *work_;
};

/// voxel[i]: the number of point i's voxel, -1 for none. The first points of places are numbered in their order up to
/// `most`, or have their numbers in `voxel` already (ranked); the others take that of the first one. counts[v] is the
/// number of points with a position, voxel_num[0] that of voxels. One core does it by scalar code.
class Numbering {
 public:
  struct Tensors {
    const std::int32_t *first, *position;
    std::int32_t *voxel, *counts, *voxel_num;
  };

  Numbering(const Tensors& tensors, std::int64_t n, std::int64_t most, bool ranked, const plan::NumberingPlan& plan,
            char* nram)
      : t_(tensors),
        n_(n),
        most_(most),
        ranked_(ranked),
        plan_(plan),
        first_(reinterpret_cast<std::int32_t*>(nram + plan.first_offset)),
        position_(reinterpret_cast<std::int32_t*>(nram + plan.position_offset)),
        voxels_(reinterpret_cast<std::int32_t*>(nram + plan.voxel_offset)) {}

  void run() {
    if (plan_.holds_all && ranked_) __memcpy(voxels_, t_.voxel, bytes_of<std::int32_t>(n_), GDRAM2NRAM);
    for (std::int64_t begin = 0; begin < n_; begin += plan_.tile) {
      const std::int64_t size = std::min(plan_.tile, n_ - begin);
      __memcpy(first_, t_.first + begin, bytes_of<std::int32_t>(size), GDRAM2NRAM);
      __memcpy(position_, t_.position + begin, bytes_of<std::int32_t>(size), GDRAM2NRAM);
      for (std::int64_t i = 0; i < size; ++i) number(begin + i, first_[i], position_[i]);
    }
    if (plan_.holds_all) __memcpy(t_.voxel, voxels_, bytes_of<std::int32_t>(n_), NRAM2GDRAM);
    __store_gdram(t_.voxel_num, next_);
  }

 private:
  void number(std::int64_t point, std::int32_t first, std::int32_t position) {
    std::int32_t voxel = -1;
    if (position > 0)
      voxel = get(first);
    else if (position == 0 && (ranked_ || next_ < most_))
      voxel = ranked_ ? get(point) : next_;
    if (position == 0 && voxel >= 0) ++next_;
    set(point, voxel);
    if (voxel >= 0) __store_gdram(t_.counts + voxel, position + 1);
  }

  std::int32_t get(std::int64_t point) const {
    return plan_.holds_all ? voxels_[point] : __load_gdram(t_.voxel + point);
  }
  void set(std::int64_t point, std::int32_t voxel) {
    if (plan_.holds_all)
      voxels_[point] = voxel;
    else
      __store_gdram(t_.voxel + point, voxel);
  }

  Tensors t_;
  std::int64_t n_, most_;
  bool ranked_;
  const plan::NumberingPlan& plan_;
  std::int32_t *first_, *position_, *voxels_;
  std::int32_t next_ = 0;
};

}  // namespace mluops::emu
