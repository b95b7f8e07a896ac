// The neighbours of points, range-checked and promoted. Include after foreach_target.h, like simd-inl.h.
#include "backends/cpu/kernels/three_interpolate/geometry.h"
#include "backends/cpu/simd/simd-inl.h"

#if defined(MLUOPS_CPU_THREE_INTERPOLATE_NEIGHBOURS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef HWY_TARGET_TOGGLE
#undef MLUOPS_CPU_THREE_INTERPOLATE_NEIGHBOURS_INL_H_
#else
#define MLUOPS_CPU_THREE_INTERPOLATE_NEIGHBOURS_INL_H_
#endif

HWY_BEFORE_NAMESPACE();
namespace mluops::cpu::three_interpolate::HWY_NAMESPACE {
using namespace cpu::HWY_NAMESPACE;

/// One element.
template <class T>
HWY_INLINE Acc<T> promote(const T* p) {
  return hn::GetLane(load(hn::CappedTag<Acc<T>, 1>(), p));
}

/// Promotes `count` weights and checks their indices; a row is kSize elements.
template <std::int64_t kSize, class T>
void check_neighbours(std::int64_t m, const std::int32_t* indices, const T* raw, std::int64_t count,
                      std::uint32_t* HWY_RESTRICT rows, Acc<T>* HWY_RESTRICT weights) {
  load_row(raw, weights, count);
  const auto outside = static_cast<std::uint32_t>(m);
  for (std::int64_t i = 0; i < count; ++i) {
    const auto index = static_cast<std::uint32_t>(indices[i]);
    const bool inside = index < outside;
    rows[i] = (inside ? index : outside) * static_cast<std::uint32_t>(kSize);
    weights[i] = inside ? weights[i] : 0;
  }
}

/// Whether whole cache lines of every one of `rows` output rows may be stored non-temporally.
template <class T>
bool may_store_non_temporal(std::int64_t rows, std::int64_t length, const void* out) {
  const auto row_bytes = length * static_cast<std::int64_t>(sizeof(T));
  return whole_lines(out, row_bytes) && rows * row_bytes >= second_cache(16);
}

/// The neighbours of the run of points a task works on, checked when it comes to another run.
template <class T>
class NeighboursOfRun {
 public:
  NeighboursOfRun(const Shape& s, const std::int32_t* indices, const void* weights, const Neighbours<Acc<T>>& to)
      : s_(s), indices_(indices), raw_(static_cast<const T*>(weights)), to_(to) {}

  const Neighbours<Acc<T>>& move_to(std::int64_t b, std::int64_t first, std::int64_t last) {
    const std::int64_t point = b * s_.n + first;
    if (point != point_) {
      check_neighbours<kBlock<Acc<T>>>(s_.m, indices_ + 3 * point, raw_ + 3 * point, 3 * (last - first), to_.rows,
                                       to_.weights);
    }
    point_ = point;
    return to_;
  }

 private:
  const Shape& s_;
  const std::int32_t* indices_;
  const T* raw_;
  Neighbours<Acc<T>> to_;
  std::int64_t point_ = -1;
};

}  // namespace mluops::cpu::three_interpolate::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
