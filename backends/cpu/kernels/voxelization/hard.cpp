// Hard voxelization: the first max_points points of each of the first max_voxels voxels.
//
// points [N,F], voxels [V,P,F]. Three steps: the places of all points (an item is a point); their voxels, in order and
// on one thread, through a hash table of twice as many slots as points, each the number of a voxel whose place stands
// in coors: a look-up in the second or third cache a point, or, where places crowd in the table, by sorting; the rows
// (an item is a point that has one, and owns the row it goes to) and the zeros behind them (an item is a voxel).
// Writing the zeros is most of the work where voxels are hardly filled: bound by memory.
#include <algorithm>
#include <bit>

#include "backends/cpu/dispatch.h"
#include "backends/cpu/kernels/voxelization/grid.h"
#include "backends/cpu/spatial/hash_table.h"

namespace mluops::cpu::voxelization {
namespace {

using Problem = mluopsVoxelizationProblem;

struct Arrays {
  std::int64_t slots;
  std::int32_t* places;  ///< [n,3]
  std::int32_t* voxel;   ///< of each point, -1 for none
  std::int32_t* row;     ///< of each point in its voxel
  std::int32_t* table;   ///< [slots]: numbers of voxels, -1 where there is none; the lists of a call that sorts

  Arrays(Allocator& allocator, const Shape& s)
      : slots(static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(2 * s.n)))),
        places(allocator.allocate<std::int32_t>(3, s.n)),
        voxel(allocator.allocate<std::int32_t>(s.n)),
        row(allocator.allocate<std::int32_t>(s.n)),
        table(allocator.allocate<std::int32_t>(slots)) {}
};

/// Voxels and rows of the points, point by point.
class Numbering {
 public:
  Numbering(const Problem& p, const Arrays& arrays) : p_(p), arrays_(arrays) {
    if (!by_hash()) by_sorting();
    *p.voxel_num = voxels_;
  }

 private:
  static constexpr std::int32_t kNone = -1, kCrowded = -2;

  void start() {
    voxels_ = 0;
    std::fill_n(arrays_.table, arrays_.slots, kNone);
    std::fill_n(p_.num_points_per_voxel, p_.shape.max_voxels, 0);
    std::fill_n(p_.coors, 3 * p_.shape.max_voxels, 0);
  }
  const std::int32_t* place_of(std::int64_t n) const { return arrays_.places + 3 * n; }
  bool has_place(std::int64_t n) const { return place_of(n)[0] >= 0; }

  void add(std::int64_t n, std::int32_t voxel) {
    const bool room = voxel >= 0 && p_.num_points_per_voxel[voxel] < p_.shape.max_points;
    arrays_.voxel[n] = room ? voxel : kNone;
    if (room) arrays_.row[n] = p_.num_points_per_voxel[voxel]++;
  }
  /// The number of the voxel that a point is the first of; kNone where it would be one too many.
  std::int32_t new_voxel(const std::int32_t* place) {
    if (voxels_ == p_.shape.max_voxels) return kNone;
    std::copy_n(place, 3, p_.coors + 3 * std::int64_t{voxels_});
    return voxels_++;
  }

  /// False where the places crowd.
  bool by_hash() {
    start();
    for (std::int64_t n = 0; n < p_.shape.n; ++n) {
      const std::int32_t voxel = has_place(n) ? find(place_of(n)) : kNone;
      if (voxel == kCrowded) return false;
      add(n, voxel);
    }
    return true;
  }
  std::int32_t find(const std::int32_t* place) {
    std::uint64_t hash = 0;
    for (int axis = 0; axis < 3; ++axis) hash = spatial::mix(hash, static_cast<std::uint32_t>(place[axis]));
    const std::int64_t slot = spatial::find_slot(hash, arrays_.slots, [&](std::int64_t i) {
      const std::int32_t voxel = arrays_.table[i];
      return voxel < 0 || std::equal(place, place + 3, p_.coors + 3 * std::int64_t{voxel});
    });
    if (slot < 0) return kCrowded;
    std::int32_t& voxel = arrays_.table[slot];
    if (voxel < 0) voxel = new_voxel(place);
    return voxel;
  }

  /// The points in the order of their places; then those of one place have a number, and its voxel is that of the first
  /// of them.
  void by_sorting() {
    start();
    std::int32_t *const order = arrays_.table, *const voxel_of = order + arrays_.slots / 2,
                        *const group = arrays_.voxel;
    std::int64_t count = 0;
    for (std::int64_t n = 0; n < p_.shape.n; ++n) {
      if (has_place(n)) order[count++] = static_cast<std::int32_t>(n);
    }
    const auto before = [&](std::int32_t a, std::int32_t b) {
      return std::lexicographical_compare(place_of(a), place_of(a) + 3, place_of(b), place_of(b) + 3);
    };
    std::sort(order, order + count, before);
    std::int32_t groups = 0;
    for (std::int64_t i = 0; i < count; ++i) {
      if (i > 0 && before(order[i - 1], order[i])) ++groups;
      group[order[i]] = groups;
    }
    for (std::int64_t n = 0; n < p_.shape.n; ++n) {
      if (!has_place(n)) {
        add(n, kNone);
        continue;
      }
      std::int32_t& voxel = voxel_of[group[n]];
      if (voxel < 0) voxel = new_voxel(place_of(n));
      add(n, voxel);
    }
  }

  const Problem& p_;
  const Arrays& arrays_;
  std::int32_t voxels_ = 0;
};

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
  Numbering(p, *arrays);
  copy_rows<T>(context, call, p, *arrays);
  clear_rest<T>(context, call, p);
  return MLUOP_STATUS_SUCCESS;
}

}  // namespace
}  // namespace mluops::cpu::voxelization

MLUOPS_CPU_ENTRY_OF_ONE_LEVEL(voxelization, voxelization, hard, mluopsVoxelizationProblem, with_element)
