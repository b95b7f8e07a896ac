// Boxes that stand upright, turned about the z axis, and which points of a leaf are in them. Include after
// foreach_target.h, like search-inl.h.
#include <cmath>

#include "backends/cpu/spatial/search-inl.h"

#if defined(MLUOPS_CPU_SPATIAL_UPRIGHT_BOX_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef HWY_TARGET_TOGGLE
#undef MLUOPS_CPU_SPATIAL_UPRIGHT_BOX_INL_H_
#else
#define MLUOPS_CPU_SPATIAL_UPRIGHT_BOX_INL_H_
#endif

HWY_BEFORE_NAMESPACE();
namespace mluops::cpu::spatial::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// Every operation is rounded to A, none fused; cosine and sine are those of double, rounded.
template <class A>
struct UprightBox {
  A x, y, z;  ///< the centre
  A half_x, half_y, half_z;
  A cosine, sine;  ///< of the turn back

  /// From x, y, z, the sides and the rotation about z, where z is the bottom.
  template <class T>
  static UprightBox standing_on(const T* box) {
    UprightBox b = centred_at(box);
    b.z = b.z + b.half_z;
    return b;
  }
  /// A box whose z is its centre; half the sides along x and y grow by `margin`.
  template <class T>
  static UprightBox centred_at(const T* box, double margin = 0) {
    const auto half = [&](int side) { return static_cast<A>(static_cast<double>(to_acc(box[side])) / 2 + margin); };
    const double turn = -static_cast<double>(to_acc(box[6]));
    return {to_acc(box[0]),
            to_acc(box[1]),
            to_acc(box[2]),
            half(3),
            half(4),
            static_cast<A>(to_acc(box[5]) / 2),
            static_cast<A>(std::cos(turn)),
            static_cast<A>(std::sin(turn))};
  }
};

/// A bit for each point of the leaf that is inside: |x| and |y| less than half the sides, |z| not greater. A z that is
/// NaN is not greater.
template <class A>
HWY_INLINE std::uint32_t points_inside(const UprightBox<A>& box, const Leaf<A>& leaf) {
  const hn::CappedTag<A, kLeafPoints> d;
  const auto cosine = hn::Set(d, box.cosine), sine = hn::Set(d, box.sine);
  std::uint32_t bits = 0;
  for (std::int64_t i = 0; i < kLeafPoints; i += static_cast<std::int64_t>(hn::Lanes(d))) {
    const auto x = hn::Sub(hn::Load(d, leaf.x + i), hn::Set(d, box.x));
    const auto y = hn::Sub(hn::Load(d, leaf.y + i), hn::Set(d, box.y));
    const auto z = hn::Sub(hn::Load(d, leaf.z + i), hn::Set(d, box.z));
    const auto along_x = hn::Abs(hn::Sub(hn::Mul(x, cosine), hn::Mul(y, sine)));
    const auto along_y = hn::Abs(hn::Add(hn::Mul(x, sine), hn::Mul(y, cosine)));
    const auto flat = hn::And(hn::Lt(along_x, hn::Set(d, box.half_x)), hn::Lt(along_y, hn::Set(d, box.half_y)));
    bits |= bits_of(d, hn::AndNot(hn::Gt(hn::Abs(z), hn::Set(d, box.half_z)), flat)) << i;
  }
  return bits;
}

}  // namespace mluops::cpu::spatial::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
