// What two boxes share, one box of a pair in each lane: upright and rotated ones.
//
// Rotated: the second rectangle in the frame of the first, where that is |x| <= w, |y| <= h. For every x what they
// share is clamp(upper side) - clamp(lower side) high, clamped to [-h, h]; so their area is the sum over the sides of
// the second, run through counterclockwise, of the integrals of -clamp(y) dx between clamped ends: a closed form
// without cases, which roundings change by roundings, sides that lie on each other included.
#if defined(MLUOPS_CPU_SPATIAL_BOX_PAIRS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef HWY_TARGET_TOGGLE
#undef MLUOPS_CPU_SPATIAL_BOX_PAIRS_INL_H_
#else
#define MLUOPS_CPU_SPATIAL_BOX_PAIRS_INL_H_
#endif

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>

#include "backends/cpu/runtime/arena.h"
#include "backends/cpu/runtime/machine.h"
#include "backends/cpu/simd/simd-inl.h"

HWY_BEFORE_NAMESPACE();
namespace mluops::cpu::box_pairs::HWY_NAMESPACE {
using namespace cpu::HWY_NAMESPACE;

/// Boxes as one list for each of the fields that Kind makes of their numbers.
template <class Kind>
struct Lists {
  using A = typename Kind::A;
  std::array<A*, Kind::kFields> field;

  Lists(Allocator& allocator, std::int64_t boxes) {
    for (A*& list : field) list = allocator.allocate<A>(boxes);
  }
  /// In a block of kFields times `boxes` numbers.
  Lists(A* block, std::int64_t boxes) {
    for (A*& list : field) list = std::exchange(block, block + boxes);
  }
  template <class T>
  void read(std::int64_t i, const T* box, A offset) const {
    std::array<A, Kind::kNumbers> numbers;
    for (std::size_t k = 0; k < numbers.size(); ++k) numbers[k] = static_cast<A>(to_acc(box[k]));
    const std::array<A, Kind::kFields> fields = Kind::fields(numbers, offset);
    for (std::size_t k = 0; k < fields.size(); ++k) field[k][i] = fields[k];
  }
  /// Box `to` becomes box i of other lists.
  void copy(std::int64_t to, const Lists& from, std::int64_t i) const {
    for (std::size_t k = 0; k < field.size(); ++k) field[k][to] = from.field[k][i];
  }
  /// Boxes [first, last) become such whose IoU with any other is NaN.
  void clear(std::int64_t first, std::int64_t last) const {
    for (A* const list : field) std::fill(list + first, list + last, std::numeric_limits<A>::quiet_NaN());
  }
};

/// Boxes of a vector, or one box in all lanes.
template <class Kind, class D>
struct Boxes {
  hn::Vec<D> field[Kind::kFields];

  static HWY_INLINE Boxes of(D d, const Lists<Kind>& lists, std::int64_t first) {
    Boxes b;
    MLUOPS_UNROLL
    for (int k = 0; k < Kind::kFields; ++k) b.field[k] = hn::LoadU(d, lists.field[static_cast<std::size_t>(k)] + first);
    return b;
  }
  static HWY_INLINE Boxes all(D d, const Lists<Kind>& lists, std::int64_t i) {
    Boxes b;
    MLUOPS_UNROLL
    for (int k = 0; k < Kind::kFields; ++k) b.field[k] = hn::Set(d, lists.field[static_cast<std::size_t>(k)][i]);
    return b;
  }
  HWY_INLINE hn::Vec<D> operator[](int k) const { return field[k]; }
};

template <class Number>
struct Upright {
  using A = Number;
  enum { kArea, kX1, kY1, kX2, kY2, kFields };
  static constexpr int kNumbers = 4;
  static constexpr double kPairCost = 3 * cost::kElement;

  /// A box with NaN becomes one that shares nothing, of area NaN.
  static std::array<A, kFields> fields(const std::array<A, 4>& n, A offset) {
    const A area = (n[2] - n[0] + offset) * (n[3] - n[1] + offset);
    constexpr A infinity = std::numeric_limits<A>::infinity();
    for (const A number : n) {
      if (number != number) return {number, infinity, infinity, -infinity, -infinity};
    }
    return {area, n[0], n[1], n[2], n[3]};
  }

  template <class D, class B>
  static HWY_INLINE hn::Vec<D> shared(D d, const B& a, const B& b, hn::Vec<D> offset) {
    const auto side = [&](int low, int high) HWY_ATTR {
      const auto length = hn::Sub(hn::Min(a[high], b[high]), hn::Max(a[low], b[low]));
      return hn::Max(hn::Add(length, offset), hn::Zero(d));
    };
    return hn::Mul(side(kX1, kX2), side(kY1, kY2));
  }
};

/// In double whatever the tensors are: what boxes that only touch share is then nothing, exactly.
struct Rotated {
  using A = double;
  enum { kArea, kX, kY, kHalfW, kHalfH, kCos, kSin, kReach, kFields };
  static constexpr int kNumbers = 5;
  static constexpr double kPairCost = 40 * cost::kElement;
  static constexpr double kLeastArea = 1e-14;

  static std::array<A, kFields> fields(const std::array<A, 5>& n, A) {
    const double area = n[2] * n[3], half_w = std::abs(n[2]) / 2, half_h = std::abs(n[3]) / 2;
    bool there = area >= kLeastArea && std::isfinite(area);
    for (const double number : n) there = there && std::isfinite(number);
    if (!there) return {0, 0, 0, 0, 0, 1, 0, 0};
    return {area,   n[0],           n[1],           half_w,
            half_h, std::cos(n[4]), std::sin(n[4]), std::sqrt(half_w * half_w + half_h * half_h)};
  }

  template <class D, class B>
  static HWY_INLINE hn::Vec<D> shared(D d, const B& a, const B& b, hn::Vec<D>) {
    const auto dx = hn::Sub(b[kX], a[kX]), dy = hn::Sub(b[kY], a[kY]), reach = hn::Add(a[kReach], b[kReach]);
    const auto apart = hn::Ge(hn::MulAdd(dx, dx, hn::Mul(dy, dy)), hn::Mul(reach, reach));
    if (hn::AllTrue(d, apart)) return hn::Zero(d);
    const Clip<D> clip{a[kHalfW], a[kHalfH]};
    const auto x = hn::MulAdd(dx, a[kCos], hn::Mul(dy, a[kSin])), y = hn::MulSub(dy, a[kCos], hn::Mul(dx, a[kSin]));
    const auto cos = hn::MulAdd(a[kCos], b[kCos], hn::Mul(a[kSin], b[kSin]));
    const auto sin = hn::MulSub(a[kCos], b[kSin], hn::Mul(a[kSin], b[kCos]));
    const auto ux = hn::Mul(b[kHalfW], cos), uy = hn::Mul(b[kHalfW], sin);
    const auto vx = hn::Neg(hn::Mul(b[kHalfH], sin)), vy = hn::Mul(b[kHalfH], cos);
    const auto px = hn::Add(ux, vx), py = hn::Add(uy, vy), qx = hn::Sub(ux, vx), qy = hn::Sub(uy, vy);
    const auto along = clip.sides(d, hn::Add(x, px), hn::Add(y, py), hn::Sub(x, px), hn::Sub(y, py), ux, uy);
    const auto across = clip.sides(d, hn::Sub(x, qx), hn::Sub(y, qy), hn::Add(x, qx), hn::Add(y, qy), vx, vy);
    const auto area = hn::Min(hn::Add(along, across), hn::Min(a[kArea], b[kArea]));
    const auto rounding = hn::Mul(a[kArea], hn::Set(d, 64 * std::numeric_limits<double>::epsilon()));
    return hn::IfThenElseZero(hn::AndNot(apart, hn::Gt(area, rounding)), area);
  }

 private:
  template <class D>
  struct Clip {
    using V = hn::Vec<D>;
    V w, h;

    /// The sides from (x0, y0) and from (x2, y2), which lies opposite, of -2u and 2u.
    HWY_INLINE V sides(D d, V x0, V y0, V x2, V y2, V ux, V uy) const {
      const auto there = hn::Gt(hn::Abs(ux), hn::Set(d, kTiny));
      const auto dx = hn::Add(ux, ux), dy = hn::Add(uy, uy);
      const auto slope = hn::IfThenElseZero(there, hn::Div(hn::Set(d, 1.0), dx));
      return hn::Add(integral(d, x0, y0, hn::Sub(x0, dx), slope, dy), integral(d, x2, y2, hn::Add(x2, dx), slope, dy));
    }

   private:
    static constexpr double kTiny = 1e-300;

    static HWY_INLINE V clamp(V v, V most) { return hn::Min(hn::Max(v, hn::Neg(most)), most); }

    /// The integral of -clamp(y) dx over the side from (x0, y0) to x1, where y grows by dy in 1 / inverse.
    HWY_INLINE V integral(D d, V x0, V y0, V x1, V inverse, V dy) const {
      const auto from = clamp(x0, w), to = clamp(x1, w);
      const auto y_from = hn::MulAdd(hn::Mul(hn::Sub(from, x0), inverse), dy, y0);
      const auto y_to = hn::MulAdd(hn::Mul(hn::Sub(to, x0), inverse), dy, y0);
      const auto low = clamp(y_from, h), high = clamp(y_to, h);
      const auto rise = hn::Sub(y_to, y_from), outside = hn::Add(hn::Sub(y_from, low), hn::Sub(y_to, high));
      const auto rises = hn::Gt(hn::Abs(rise), hn::Set(d, kTiny));
      const auto share = hn::IfThenElseZero(rises, hn::Div(hn::Sub(high, low), rise));
      const auto mean = hn::MulAdd(share, outside, hn::Add(low, high));  // twice
      const auto width = hn::Sub(from, to);
      return hn::Mul(hn::Mul(width, mean), hn::Set(d, 0.5));
    }
  };
};

/// IoU, or shared area over that of the first; 0 where that is not greater than 0.
template <class Kind, class D, class B>
HWY_INLINE hn::Vec<D> iou(D d, const B& a, const B& b, hn::Vec<D> offset, bool of_first) {
  const auto shared = Kind::shared(d, a, b, offset);
  const auto whole = of_first ? a[Kind::kArea] : hn::Sub(hn::Add(a[Kind::kArea], b[Kind::kArea]), shared);
  const auto ratio = hn::Div(shared, whole);
  return hn::IfThenElseZero(hn::Gt(ratio, hn::Zero(d)), ratio);
}

}  // namespace mluops::cpu::box_pairs::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
