// Hard voxelization: the first max_points points of each of the first max_voxels voxels.
//
// points [N,F], voxels [V,P,F]. Four steps. The places of all points: an item is a point. The voxels: for several
// threads, all places are cut by their hash into parts; an item is a part, which goes through its points in order with
// a hash table of twice as many slots as points: a look-up in the second or third cache a point. The numbers of the
// voxels, in the order of their first points, which one part has found in this order: an item is a run of points. The
// rows (an item is a point that has one, and owns the row it goes to) and the zeros behind them (an item is a voxel).
// Writing the zeros is most of the work where voxels are hardly filled: bound by memory.
#include <algorithm>
#include <array>
#include <bit>
#include <chrono>
#include <random>
#include <utility>

#include "backends/cpu/dispatch.h"
#include "backends/cpu/kernels/voxelization/places.h"
#include "backends/cpu/scatter/buckets.h"
#include "backends/cpu/simd/prefetch.h"
#include "mluops/problem/voxelization.h"

namespace mluops::cpu::voxelization {
namespace {

using Problem = mluopsVoxelizationProblem;

constexpr double kLookUpNs = 5 * cost::kStep;

/// Parts of the places: more than threads, since not all have as many points; one where few threads would gain less
/// than parts cost.
std::int64_t parts_of(const Context& context, const mluopsCall& call, const Shape& s) {
  const int slots = Loop(context, call, s.n, kLookUpNs).slots();
  constexpr int kLeastThreads = 4;
  return slots < kLeastThreads ? 1 : static_cast<std::int64_t>(std::bit_ceil(2 * static_cast<std::uint64_t>(slots)));
}

/// A voxel that is found has a mark: the number of points of the parts before, and of voxels found in its part before.
/// If there is one part, it has all points and the marks are the numbers of the voxels.
struct Arrays {
  static constexpr std::int64_t kRun = 1024;  ///< points
  static constexpr std::int64_t kSlots = 4;   ///< of the table, for each point

  /// The row that a point has, which the first point of a voxel begins with 0.
  struct Row {
    std::int32_t voxel;  ///< its mark, -1 where the point has no row
    std::int32_t number;

    bool begins_voxel() const { return voxel >= 0 && number == 0; }
  };

  std::int64_t parts, runs;
  Buckets points;        ///< of several parts, one part after the other
  std::int32_t* places;  ///< [n,3]
  Row* row;              ///< [n]
  std::int32_t* table;   ///< marks, -1 where there is none
  std::int32_t* place;   ///< [n,3], by mark
  std::int32_t* count;   ///< points that have a row, by mark
  std::int32_t* number;  ///< by mark; -1 behind max_voxels
  std::int64_t* first;   ///< number of the first voxel that begins in each run

  Arrays(Allocator& allocator, const mluopsCall& call, const Problem& p, std::int64_t parts_of_places)
      : Arrays(allocator, call, p, parts_of_places, parts_of_places == 1 ? 0 : p.shape.n) {}

  bool one_part() const { return parts == 1; }
  static std::uint64_t slots(std::int64_t points) { return std::bit_ceil(2 * static_cast<std::uint64_t>(points)); }

 private:
  /// n: of several parts.
  Arrays(Allocator& allocator, const mluopsCall& call, const Problem& p, std::int64_t parts_of_places, std::int64_t n)
      : parts(parts_of_places),
        runs(ceil_div(n, kRun)),
        points(allocator, call, n, parts),
        places(allocator.allocate<std::int32_t>(3, p.shape.n)),
        row(allocator.allocate<Row>(p.shape.n)),
        table(allocator.allocate<std::int32_t>(kSlots, p.shape.n)),
        place(allocator.allocate<std::int32_t>(3, n)),
        count(allocator.allocate<std::int32_t>(n)),
        number(allocator.allocate<std::int32_t>(n)),
        first(allocator.allocate<std::int64_t>(runs)) {
    if (!one_part()) return;
    place = p.coors;
    count = p.num_points_per_voxel;
  }
};

/// Which part a place belongs to, and where in the table of a part the search for it begins. Thorup, "High speed
/// hashing for integers and strings", 2015: two places chosen without knowing the multipliers, which each process
/// draws, share the first `bits` of 32 bits with a chance of 2^-bits.
class PlaceHash {
 public:
  explicit PlaceHash(std::int64_t parts) : parts_(static_cast<std::uint64_t>(parts)) {}

  std::int64_t parts() const { return static_cast<std::int64_t>(parts_); }
  std::int64_t part(const std::int32_t* place) const { return static_cast<std::int64_t>(of_all(place) >> 32); }
  std::uint64_t slot(const std::int32_t* place, std::uint64_t slots) const {
    return static_cast<std::uint32_t>(of_all(place)) * slots >> 32;
  }

 private:
  /// The number of the part and a fraction of 32 bits.
  std::uint64_t of_all(const std::int32_t* place) const {
    std::uint64_t sum = multipliers_[3];
    for (std::size_t axis = 0; axis < 3; ++axis) sum += multipliers_[axis] * static_cast<std::uint32_t>(place[axis]);
    return (sum >> 32) * parts_;
  }
  static std::array<std::uint64_t, 4> draw() {
    const auto now = static_cast<std::uint64_t>(std::chrono::steady_clock::now().time_since_epoch().count());
    std::mt19937_64 random(now ^ reinterpret_cast<std::uintptr_t>(&draw));
    return {random(), random(), random(), random()};
  }
  static const std::array<std::uint64_t, 4>& drawn() {
    static const std::array<std::uint64_t, 4> once = draw();
    return once;
  }

  std::uint64_t parts_;
  std::array<std::uint64_t, 4> multipliers_ = drawn();
};

/// Sorts the points by parts, those outside left out; false when there is no memory.
bool cut_into_parts(Context& context, const mluopsCall& call, const PlaceHash& hash, Arrays& arrays) {
  return arrays.points.fill(context, call, 2 * cost::kStep, 0, [&](std::int64_t begin, std::int64_t end, auto put) {
    for (std::int64_t n = begin; n < end; ++n) {
      const std::int32_t* const place = arrays.places + 3 * n;
      if (place[0] >= 0) {
        put(n, hash.part(place), kLookUpNs);
      } else {
        arrays.row[n].voxel = -1;
      }
    }
  });
}

/// Finds the voxels of points [begin, end) of a part, of which point_at(i) is the i-th. Returns how many there are,
/// max_voxels at most.
template <class PointAt>
std::int64_t find_voxels(const Shape& s, const PlaceHash& hash, const Arrays& arrays, std::int64_t begin,
                         std::int64_t end, const PointAt& point_at) {
  const std::uint64_t slots = Arrays::slots(end - begin);
  std::int32_t* const table = arrays.table + Arrays::kSlots * begin;
  if (begin < end) std::fill_n(table, slots, -1);
  std::int64_t next = begin;
  for (std::int64_t i = begin; i < end; ++i) {
    const std::int64_t n = point_at(i);
    const std::int32_t* const place = arrays.places + 3 * n;
    arrays.row[n].voxel = -1;
    if (place[0] < 0) continue;
    std::uint64_t slot = hash.slot(place, slots);
    const auto other = [&](std::int32_t found) {
      return found >= 0 && !std::equal(place, place + 3, arrays.place + 3 * std::int64_t{found});
    };
    while (other(table[slot])) slot = (slot + 1) & (slots - 1);
    std::int32_t& found = table[slot];
    if (found < 0) {
      if (next - begin == s.max_voxels) continue;
      for (int axis = 0; axis < 3; ++axis) arrays.place[3 * next + axis] = place[axis];
      arrays.count[next] = 0;
      found = static_cast<std::int32_t>(next++);
    }
    if (arrays.count[found] == s.max_points) continue;
    arrays.row[n] = {found, arrays.count[found]++};
  }
  return next - begin;
}

void find_parts(const Context& context, const mluopsCall& call, const Shape& s, const PlaceHash& hash,
                const Arrays& arrays) {
  constexpr std::size_t kAhead = 16;
  const auto points = arrays.points.all();
  Loop(context, call, arrays.points.prefix_ns()).run([&](std::int64_t first, std::int64_t last, int) {
    for (std::int64_t part = first; part < last; ++part) {
      find_voxels(s, hash, arrays, arrays.points.begin(part), arrays.points.begin(part + 1), [&](std::int64_t i) {
        const std::int64_t ahead = points[std::min(static_cast<std::size_t>(i) + kAhead, points.size() - 1)];
        prefetch(arrays.places + 3 * ahead, 3);
        __builtin_prefetch(arrays.row + ahead);
        return points[static_cast<std::size_t>(i)];
      });
    }
  });
}

/// Numbers the voxels in the order of their first points, and writes where they are and how many points they have.
void number_voxels(const Context& context, const mluopsCall& call, const Problem& p, const Arrays& arrays) {
  const Shape& s = p.shape;
  const Loop loop(context, call, arrays.runs, cost::kStep * Arrays::kRun);
  const auto each_first = [&](std::int64_t run, auto visit) {
    for (std::int64_t n = run * Arrays::kRun; n < std::min(s.n, (run + 1) * Arrays::kRun); ++n) {
      if (arrays.row[n].begins_voxel()) visit(n);
    }
  };
  loop.run([&](std::int64_t begin, std::int64_t end, int) {
    for (std::int64_t run = begin; run < end; ++run) {
      arrays.first[run] = 0;
      each_first(run, [&](std::int64_t) { ++arrays.first[run]; });
    }
  });
  std::int64_t voxels = 0;
  for (std::int64_t run = 0; run < arrays.runs; ++run) voxels += std::exchange(arrays.first[run], voxels);
  voxels = std::min(voxels, s.max_voxels);
  *p.voxel_num = static_cast<std::int32_t>(voxels);
  loop.run([&](std::int64_t begin, std::int64_t end, int) {
    std::int64_t v = arrays.first[begin];
    for (std::int64_t run = begin; run < end; ++run) {
      each_first(run, [&](std::int64_t n) {
        const std::int32_t found = arrays.row[n].voxel;
        arrays.number[found] = v < s.max_voxels ? static_cast<std::int32_t>(v) : -1;
        if (v < s.max_voxels) {
          std::copy_n(arrays.places + 3 * n, 3, p.coors + 3 * v);
          p.num_points_per_voxel[v] = arrays.count[found];
        }
        ++v;
      });
    }
  });
}

/// Finds all voxels, in parts or not; false when there is no memory.
bool find_all(Context& context, const mluopsCall& call, const Problem& p, const PlaceHash& hash, Arrays& arrays) {
  if (arrays.one_part()) {
    const auto same = [](std::int64_t i) { return i; };
    *p.voxel_num = static_cast<std::int32_t>(find_voxels(p.shape, hash, arrays, 0, p.shape.n, same));
    return true;
  }
  if (!cut_into_parts(context, call, hash, arrays)) return false;
  find_parts(context, call, p.shape, hash, arrays);
  number_voxels(context, call, p, arrays);
  return true;
}

template <class T>
void copy_rows(const Context& context, const mluopsCall& call, const Problem& p, const Arrays& arrays) {
  const Shape& s = p.shape;
  const bool one = arrays.one_part();
  Loop(context, call, s.n, 5 * cost::kStep).run([&](std::int64_t begin, std::int64_t end, int) {
    for (std::int64_t n = begin; n < end; ++n) {
      const Arrays::Row row = arrays.row[n];
      if (row.voxel < 0) continue;
      const std::int64_t v = one ? row.voxel : arrays.number[row.voxel];
      if (v < 0) continue;
      std::copy_n(static_cast<const T*>(p.points) + n * s.features, s.features,
                  static_cast<T*>(p.voxels) + (v * s.max_points + row.number) * s.features);
    }
  });
}

/// Zeros in the rows no point went to, and for the voxels that are missing.
template <class T>
void clear_rest(const Context& context, const mluopsCall& call, const Problem& p) {
  const Shape& s = p.shape;
  const std::int64_t size = s.max_points * s.features;
  const double voxel_ns = cost::kMoveByte * static_cast<double>(size * static_cast<std::int64_t>(sizeof(T)));
  Loop(context, call, s.max_voxels, voxel_ns).run([&](std::int64_t begin, std::int64_t end, int) {
    for (std::int64_t v = begin; v < end; ++v) {
      if (v >= *p.voxel_num) {
        p.num_points_per_voxel[v] = 0;
        std::fill_n(p.coors + 3 * v, 3, 0);
      }
      const std::int64_t used = p.num_points_per_voxel[v] * s.features;
      std::fill_n(static_cast<T*>(p.voxels) + v * size + used, size - used, T{});
    }
  });
}

template <class T>
mluOpStatus_t hard(Context& context, const mluopsCall& call, const Problem& p) {
  const PlaceHash hash(parts_of(context, call, p.shape));
  auto arrays = allocate<Arrays>(context.arena, call, p, hash.parts());
  if (!arrays) return no_memory(call);
  find_places(context, call, {p.shape, p.points, p.voxel_size, p.coors_range, arrays->places});
  if (!find_all(context, call, p, hash, *arrays)) return no_memory(call);
  copy_rows<T>(context, call, p, *arrays);
  clear_rest<T>(context, call, p);
  return MLUOP_STATUS_SUCCESS;
}

}  // namespace
}  // namespace mluops::cpu::voxelization

MLUOPS_CPU_ENTRY_OF_ONE_LEVEL(voxelization, voxelization, hard, mluopsVoxelizationProblem, with_element)
