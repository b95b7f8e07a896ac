// The place of each point in a grid: its distance from the grid's lower end, divided by the size of a voxel, three
// times. The coordinates of some points are moved together and divided in vectors: bound by memory.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/kernels/voxelization/places.cpp"
#include <hwy/foreach_target.h>

#include "backends/cpu/dispatch.h"
#include "backends/cpu/kernels/voxelization/places.h"
#include "backends/cpu/simd/simd-inl.h"
#include "common/round.h"

HWY_BEFORE_NAMESPACE();
namespace mluops::cpu::voxelization::HWY_NAMESPACE {
using namespace cpu::HWY_NAMESPACE;
namespace {

/// Along an axis. Each operation is rounded to A, none fused.
template <class A>
struct Axis {
  A size, low, end;

  template <class T>
  Axis(const T* voxel_size, const T* range, int axis) : size(to_acc(voxel_size[axis])), low(to_acc(range[axis])) {
    constexpr A kMostPlaces = static_cast<A>(std::int64_t{1} << 31);
    end = round_half_away((to_acc(range[3 + axis]) - low) / size);
    if (end > kMostPlaces) end = kMostPlaces;
  }
};

template <class A>
struct Grid {
  Axis<A> axis[3];

  template <class T>
  Grid(const T* voxel_size, const T* range)
      : axis{{voxel_size, range, 0}, {voxel_size, range, 1}, {voxel_size, range, 2}} {}
};

constexpr std::int64_t kTogether = 64;

/// Coordinates along each axis become whole numbers, -1 for points outside. The ends of the grid are whole, so a
/// quotient is inside just where its floor is.
template <class T, class A = Acc<T>>
HWY_INLINE void divide(const Grid<A>& grid, const T (*coordinates)[kTogether], std::int32_t (*whole)[kTogether]) {
  const hn::ScalableTag<A> d;
  const hn::Rebind<std::int32_t, decltype(d)> di;
  for (std::int64_t i = 0; i < kTogether; i += kLanes<A>) {
    hn::Vec<decltype(d)> at[3];
    auto inside = hn::Eq(hn::Zero(d), hn::Zero(d));
    MLUOPS_UNROLL
    for (int k = 0; k < 3; ++k) {
      const Axis<A>& axis = grid.axis[k];
      at[k] = hn::Div(hn::Sub(load(d, coordinates[k] + i), hn::Set(d, axis.low)), hn::Set(d, axis.size));
      inside = hn::And(inside, hn::And(hn::Ge(at[k], hn::Zero(d)), hn::Lt(at[k], hn::Set(d, axis.end))));
    }
    MLUOPS_UNROLL
    for (int k = 0; k < 3; ++k) {
      const auto place = hn::IfThenElse(inside, at[k], hn::Set(d, A{-1}));
      if constexpr (sizeof(A) == 8) {
        hn::StoreU(hn::DemoteTo(di, place), di, whole[k] + i);
      } else {
        hn::StoreU(hn::ConvertTo(di, place), di, whole[k] + i);
      }
    }
  }
}

template <class T>
mluOpStatus_t place_all(Context& context, const mluopsCall& call, const Places& p) {
  const Shape& s = p.shape;
  const Grid<Acc<T>> grid(static_cast<const T*>(p.voxel_size), static_cast<const T*>(p.range));
  Loop(context, call, s.n, 4 * cost::kStep).run([&](std::int64_t begin, std::int64_t end, int) HWY_ATTR {
    HWY_ALIGN T coordinates[3][kTogether] = {};
    HWY_ALIGN std::int32_t whole[3][kTogether];
    for (std::int64_t first = begin; first < end; first += kTogether) {
      const std::int64_t count = std::min(kTogether, end - first);
      const T* const points = static_cast<const T*>(p.points) + first * s.features;
      for (std::int64_t i = 0; i < count; ++i) {
        for (int k = 0; k < 3; ++k) coordinates[k][i] = points[i * s.features + k];
      }
      divide(grid, coordinates, whole);
      std::int32_t* const places = p.places + 3 * first;
      for (std::int64_t i = 0; i < count; ++i) {
        for (int k = 0; k < 3; ++k) places[3 * i + k] = whole[2 - k][i];
      }
    }
  });
  return MLUOP_STATUS_SUCCESS;
}

}  // namespace
}  // namespace mluops::cpu::voxelization::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

MLUOPS_CPU_FUNCTION(voxelization::find_places, voxelization, place_all, voxelization::Places, with_element)
