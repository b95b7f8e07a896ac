// Hard voxelization: the first max_points points of each of the first max_voxels voxels.
//
// points [N,F], voxels [V,P,F]. Three steps: the places of all points (an item is a point); their voxels, in order and
// on one thread, through a hash table of twice as many slots as points, each the number of a voxel whose place stands
// in coors: a look-up in the second or third cache a point; the rows (an item is a point that has one, and owns the row
// it goes to) and the zeros behind them (an item is a voxel). Writing the zeros is most of the work where voxels are
// hardly filled: bound by memory.
#include <algorithm>
#include <bit>

#include "backends/cpu/dispatch.h"
#include "backends/cpu/kernels/voxelization/grid.h"

namespace mluops::cpu::voxelization {
namespace {

using Problem = mluopsVoxelizationProblem;

/// Costs in nanoseconds: of a row copied, of a byte of zeros.
constexpr double kRowNs = 10, kByteNs = 0.1;

struct Arrays {
  std::int64_t slots;
  std::int32_t* places;  ///< [n,3]
  std::int32_t* voxel;   ///< of each point, -1 for none
  std::int32_t* row;     ///< of each point in its voxel
  std::int32_t* table;   ///< [slots]: numbers of voxels, -1 where there is none

  Arrays(Allocator& allocator, const Shape& s)
      : slots(static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(2 * s.n)))),
        places(allocator.allocate<std::int32_t>(3 * s.n)),
        voxel(allocator.allocate<std::int32_t>(s.n)),
        row(allocator.allocate<std::int32_t>(s.n)),
        table(allocator.allocate<std::int32_t>(slots)) {}

  std::int64_t first_slot(const std::int32_t* place) const {
    std::uint64_t h = 0;
    for (int axis = 0; axis < 3; ++axis) h = (h ^ static_cast<std::uint32_t>(place[axis])) * 0x9E3779B97F4A7C15u;
    return static_cast<std::int64_t>((h ^ h >> 32) & static_cast<std::uint64_t>(slots - 1));
  }
};

/// Voxels and rows of the points, point by point.
class Numbering {
 public:
  Numbering(const Problem& p, const Arrays& arrays) : p_(p), arrays_(arrays) {
    std::fill_n(arrays.table, arrays.slots, -1);
    std::fill_n(p.num_points_per_voxel, p.shape.max_voxels, 0);
    std::fill_n(p.coors, 3 * p.shape.max_voxels, 0);
    for (std::int64_t n = 0; n < p.shape.n; ++n) add(n);
    *p.voxel_num = voxels_;
  }

 private:
  void add(std::int64_t n) {
    const std::int32_t* const place = arrays_.places + 3 * n;
    const std::int32_t voxel = place[0] < 0 ? -1 : find(place);
    const bool room = voxel >= 0 && p_.num_points_per_voxel[voxel] < p_.shape.max_points;
    arrays_.voxel[n] = room ? voxel : -1;
    if (room) arrays_.row[n] = p_.num_points_per_voxel[voxel]++;
  }

  /// The voxel at a place; -1 where it would be one too many.
  std::int32_t find(const std::int32_t* place) {
    std::int64_t slot = arrays_.first_slot(place);
    for (; arrays_.table[slot] >= 0; slot = (slot + 1) & (arrays_.slots - 1)) {
      if (std::equal(place, place + 3, p_.coors + 3 * std::int64_t{arrays_.table[slot]})) return arrays_.table[slot];
    }
    if (voxels_ == p_.shape.max_voxels) return -1;
    std::copy_n(place, 3, p_.coors + 3 * std::int64_t{voxels_});
    return arrays_.table[slot] = voxels_++;
  }

  const Problem& p_;
  const Arrays& arrays_;
  std::int32_t voxels_ = 0;
};

template <class T>
void copy_rows(const Context& context, const mluopsCall& call, const Problem& p, const Arrays& arrays) {
  const Shape& s = p.shape;
  Loop(context, call, s.n, kRowNs).run([&](std::int64_t begin, std::int64_t end, int) {
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
  const double voxel_ns = kByteNs * static_cast<double>(size * static_cast<std::int64_t>(sizeof(T)));
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

namespace mluops::cpu {

mluOpStatus_t operators::voxelization(Context& context, const mluopsCall& call,
                                      const mluopsVoxelizationProblem& problem) {
  return with_element(call, problem.shape.dtype, [&](auto tag) {
    return voxelization::hard<typename decltype(tag)::type>(context, call, problem);
  });
}

}  // namespace mluops::cpu
