// Hard voxelization: the first max_points points of each of the first max_voxels voxels.
//
// points [N,F], voxels [V,P,F]. Three steps: the places of all points (an item is a point); their voxels, in order and
// on one thread, through a hash table of twice as many slots as points, each the number of a voxel whose place stands
// in coors: a look-up in the second or third cache a point; the rows (an item is a point that has one, and owns the row
// it goes to) and the zeros behind them (an item is a voxel). Writing the zeros is most of the work where voxels are
// hardly filled: bound by memory.
#include <algorithm>
#include <array>
#include <bit>
#include <chrono>
#include <random>

#include "backends/cpu/dispatch.h"
#include "backends/cpu/kernels/voxelization/grid.h"
#include "mluops/problem/voxelization.h"

namespace mluops::cpu::voxelization {
namespace {

using Problem = mluopsVoxelizationProblem;

struct Arrays {
  std::int64_t slots;
  std::int32_t* places;  ///< [n,3]
  std::int32_t* voxel;   ///< of each point, -1 for none
  std::int32_t* row;     ///< of each point in its voxel
  std::int32_t* table;   ///< [slots]: numbers of voxels, -1 where there is none

  Arrays(Allocator& allocator, const Shape& s)
      : slots(static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(2 * s.n)))),
        places(allocator.allocate<std::int32_t>(3, s.n)),
        voxel(allocator.allocate<std::int32_t>(s.n)),
        row(allocator.allocate<std::int32_t>(s.n)),
        table(allocator.allocate<std::int32_t>(slots)) {}
};

/// Where the search for a place begins. Thorup, "High speed hashing for integers and strings", 2015: two places chosen
/// without knowing the multipliers, which each process draws, share one of 2^bits slots with a chance of 2^-bits.
class PlaceHash {
 public:
  explicit PlaceHash(std::int64_t slots) : shift_(64 - std::countr_zero(static_cast<std::uint64_t>(slots))) {}

  std::int64_t operator()(const std::int32_t* place) const {
    std::uint64_t sum = multipliers_[3];
    for (std::size_t axis = 0; axis < 3; ++axis) sum += multipliers_[axis] * static_cast<std::uint32_t>(place[axis]);
    return static_cast<std::int64_t>(sum >> shift_);
  }

 private:
  static std::array<std::uint64_t, 4> draw() {
    const auto now = static_cast<std::uint64_t>(std::chrono::steady_clock::now().time_since_epoch().count());
    std::mt19937_64 random(now ^ reinterpret_cast<std::uintptr_t>(&draw));
    return {random(), random(), random(), random()};
  }
  static const std::array<std::uint64_t, 4>& drawn() {
    static const std::array<std::uint64_t, 4> once = draw();
    return once;
  }

  int shift_;
  std::array<std::uint64_t, 4> multipliers_ = drawn();
};

/// Voxels in the order of their first points, and the rows of the points in them.
void number_voxels(const Problem& p, const Arrays& arrays) {
  const Shape& s = p.shape;
  const PlaceHash hash(arrays.slots);
  std::fill_n(arrays.table, arrays.slots, -1);
  std::fill_n(p.num_points_per_voxel, s.max_voxels, 0);
  std::fill_n(p.coors, 3 * s.max_voxels, 0);
  std::int32_t voxels = 0;
  for (std::int64_t n = 0; n < s.n; ++n) {
    const std::int32_t* const place = arrays.places + 3 * n;
    arrays.voxel[n] = -1;
    if (place[0] < 0) continue;
    std::int64_t slot = hash(place);
    const auto other = [&](std::int32_t voxel) {
      return voxel >= 0 && !std::equal(place, place + 3, p.coors + 3 * std::int64_t{voxel});
    };
    while (other(arrays.table[slot])) slot = (slot + 1) & (arrays.slots - 1);
    std::int32_t& voxel = arrays.table[slot];
    if (voxel < 0) {
      if (voxels == s.max_voxels) continue;
      std::copy_n(place, 3, p.coors + 3 * std::int64_t{voxels});
      voxel = voxels++;
    }
    if (p.num_points_per_voxel[voxel] == s.max_points) continue;
    arrays.voxel[n] = voxel;
    arrays.row[n] = p.num_points_per_voxel[voxel]++;
  }
  *p.voxel_num = voxels;
}

template <class T>
void copy_rows(const Context& context, const mluopsCall& call, const Problem& p, const Arrays& arrays) {
  const Shape& s = p.shape;
  Loop(context, call, s.n, 5 * cost::kStep).run([&](std::int64_t begin, std::int64_t end, int) {
    for (std::int64_t n = begin; n < end; ++n) {
      if (arrays.voxel[n] < 0) continue;
      const std::int64_t to = arrays.voxel[n] * s.max_points + arrays.row[n];
      std::copy_n(static_cast<const T*>(p.points) + n * s.features, s.features,
                  static_cast<T*>(p.voxels) + to * s.features);
    }
  });
}

/// Zeros in the rows no point went to.
template <class T>
void clear_rest(const Context& context, const mluopsCall& call, const Problem& p) {
  const Shape& s = p.shape;
  const std::int64_t size = s.max_points * s.features;
  const double voxel_ns = cost::kMoveByte * static_cast<double>(size * static_cast<std::int64_t>(sizeof(T)));
  Loop(context, call, s.max_voxels, voxel_ns).run([&](std::int64_t begin, std::int64_t end, int) {
    for (std::int64_t v = begin; v < end; ++v) {
      const std::int64_t used = p.num_points_per_voxel[v] * s.features;
      std::fill_n(static_cast<T*>(p.voxels) + v * size + used, size - used, T{});
    }
  });
}

template <class T>
mluOpStatus_t hard(Context& context, const mluopsCall& call, const Problem& p) {
  const auto arrays = allocate<Arrays>(context.arena, p.shape);
  if (!arrays) return no_memory(call);
  find_places<T>(context, call, p.shape, p.points, p.voxel_size, p.coors_range, arrays->places);
  number_voxels(p, *arrays);
  copy_rows<T>(context, call, p, *arrays);
  clear_rest<T>(context, call, p);
  return MLUOP_STATUS_SUCCESS;
}

}  // namespace
}  // namespace mluops::cpu::voxelization

MLUOPS_CPU_ENTRY_OF_ONE_LEVEL(voxelization, voxelization, hard, mluopsVoxelizationProblem, with_element)
