// log |gamma(x)| of vectors, within 4 units in the last place.
//
// `lgamma_positive` and `lgamma_negative` tell which lanes they cannot serve: numbers that are not normal, and negative
// ones where terms cancel. `lgamma_block` gives those to `lgamma_rest`, which computes floats in double, and elements
// of double by the C library. Half and bfloat16 have so few numbers that large tensors look their results up.
#include <cmath>
#include <cstdint>
#include <iterator>
#include <limits>

#include "backends/cpu/kernels/elementwise/log-inl.h"
#include "backends/cpu/kernels/elementwise/map-inl.h"
#include "backends/cpu/simd/bits-inl.h"
#include "backends/cpu/simd/simd-inl.h"

#if defined(MLUOPS_CPU_KERNELS_ELEMENTWISE_LGAMMA_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef HWY_TARGET_TOGGLE
#undef MLUOPS_CPU_KERNELS_ELEMENTWISE_LGAMMA_INL_H_
#else
#define MLUOPS_CPU_KERNELS_ELEMENTWISE_LGAMMA_INL_H_
#endif

#include <hwy/contrib/math/math-inl.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace mluops::cpu::elementwise::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;
using namespace cpu::HWY_NAMESPACE;
namespace {

/// sin(pi r) / pi, 0 <= r <= 1/2: r + r^3 P(r^2), P a minimax polynomial.
template <class D>
HWY_INLINE hn::Vec<D> sin_pi_over_pi(D d, hn::Vec<D> r) {
  static constexpr float kFloat[] = {0.02472501819f, -0.1904473752f, 0.8117164075f, -1.644933364f};
  static constexpr double kDouble[] = {2.4499336078236026e-7,   -6.97206758704722094e-6, 0.00014842783053782603,
                                       -0.00234608089378857285, 0.0261478478054616513,   -0.190751824121501262,
                                       0.811742425283340096,    -1.64493406684822633};
  const auto square = hn::Mul(r, r), cube = hn::Mul(r, square);
  if constexpr (sizeof(hn::TFromD<D>) == sizeof(double)) {
    return hn::MulAdd(cube, polynomial(d, square, kDouble), r);
  } else {
    return hn::MulAdd(cube, polynomial(d, square, kFloat), r);
  }
}

/// log gamma(x), x >= 8, by Stirling's series, given log x - 1.
template <class D>
HWY_INLINE hn::Vec<D> lgamma_by_stirling(D d, hn::Vec<D> x, hn::Vec<D> log_less_one) {
  using A = hn::TFromD<D>;
  static constexpr A kShort[] = {A(-1.0 / 360), A(1.0 / 12)};
  static constexpr A kLong[] = {A(1.0 / 156),  A(-691.0 / 360360), A(1.0 / 1188), A(-1.0 / 1680),
                                A(1.0 / 1260), A(-1.0 / 360),      A(1.0 / 12)};
  const auto inverse = hn::Div(hn::Set(d, A{1}), x), square = hn::Mul(inverse, inverse);
  const auto factor = sizeof(A) == sizeof(float) ? polynomial(d, square, kShort) : polynomial(d, square, kLong);
  const auto rest = hn::MulAdd(inverse, factor, hn::Set(d, static_cast<A>(0.41893853320467274178)));
  return hn::MulAdd(hn::Sub(x, hn::Set(d, A{0.5})), log_less_one, rest);
}

/// table[index] of each lane.
template <class D>
HWY_INLINE hn::Vec<D> pick(D d, const float (&table)[16], hn::Vec<hn::RebindToSigned<D>> index) {
  const hn::RebindToSigned<D> di;
  if constexpr (hn::MaxLanes(d) >= 8) {
    return hn::TableLookupLanes(hn::Load(d, table), hn::IndicesFromVec(d, index));
  } else if constexpr (hn::MaxLanes(d) == 4) {
    const auto of_four = hn::IndicesFromVec(d, hn::And(index, hn::Set(di, 3)));
    const auto low = hn::TableLookupLanes(hn::Load(d, table), of_four);
    const auto high = hn::TableLookupLanes(hn::Load(d, table + 4), of_four);
    return hn::IfThenElse(hn::RebindMask(d, hn::Gt(index, hn::Set(di, 3))), high, low);
  } else {
    return hn::GatherIndex(d, table, index);
  }
}
template <class D>
HWY_INLINE hn::Vec<D> pick(D d, const double (&table)[8], hn::Vec<hn::RebindToSigned<D>> index) {
  if constexpr (hn::MaxLanes(d) == 8) {
    return hn::TableLookupLanes(hn::Load(d, table), hn::IndicesFromVec(d, index));
  } else {
    return hn::GatherIndex(d, table, index);
  }
}

/// Coefficients of the polynomials of lgamma_by_tables, highest power first. Each row has one of every interval:
/// [2, 3), [3, 4), [4, 6), [6, 8), [1/2, 3/4), [3/4, 1), [1, 3/2), [3/2, 2); twice in float, for vectors of 16 lanes.
template <class A>
struct Tables;
template <>
struct Tables<float> {
#define MLUOPS_TWICE(...) {__VA_ARGS__, __VA_ARGS__}
  HWY_ALIGN static constexpr float rows[7][16] = {
      MLUOPS_TWICE(0.0002442458715f, 2.922158854e-5f, 3.27359629e-6f, 3.88702861e-7f, 1.278866928f, 0.1569379908f,
                   0.0179481136f, 0.002165007372f),
      MLUOPS_TWICE(-0.0006957722969f, -0.0001168966912f, -1.858204494e-5f, -3.089657855e-6f, -0.9224884834f,
                   -0.1585502014f, -0.02566568675f, -0.004344732998f),
      MLUOPS_TWICE(0.001946684392f, 0.0004694068643f, 0.0001031233248f, 2.453262073e-5f, 0.6560707966f, 0.1612944284f,
                   0.03611418405f, 0.008773651293f),
      MLUOPS_TWICE(-0.006014060608f, -0.002018106336f, -0.0006284182513f, -0.0002072556368f, -0.5160239968f,
                   -0.1765304181f, -0.0562304011f, -0.01905022679f),
      MLUOPS_TWICE(0.01990527101f, 0.009242649661f, 0.004056366189f, 0.001844014688f, 0.4397159956f, 0.2090605198f,
                   0.09456630297f, 0.04452048102f),
      MLUOPS_TWICE(-0.07466372232f, -0.04743517762f, -0.02897898594f, -0.01798693129f, -0.4423286502f, -0.2903365129f,
                   -0.1845587228f, -0.1194816159f),
      MLUOPS_TWICE(0.3795771598f, 0.3202596272f, 0.2648378185f, 0.2193083737f, 0.6997905354f, 0.6105508069f,
                   0.5241164598f, 0.450139312f)};
#undef MLUOPS_TWICE
};
template <>
struct Tables<double> {
  HWY_ALIGN static constexpr double rows[16][8] = {
      {-3.3549802669505061e-8, -1.8894956193478529e-10, -8.9837279233298185e-13, -5.0033321116625549e-15,
       -41.711333864283079, -0.24410744191531318, -0.0012056384431058421, -6.9337287091257567e-6},
      {8.8697666468578553e-8, 6.9851860604530242e-10, 4.7376986392009956e-12, 3.6940841251037116e-14,
       27.778749851772583, 0.22738680721338172, 0.0016005335672170663, 1.2865869208810202e-5},
      {-2.0179796339065143e-7, -2.4030058038263971e-9, -2.1485013661092626e-11, -2.5376818602754229e-13,
       -15.972902939681353, -0.1974416422488902, -0.0018316556902498015, -2.2229978987835282e-5},
      {5.3839521947851586e-7, 8.9610728840898282e-9, 1.1437587222865708e-10, 1.8902232100188532e-12, 10.752490597548938,
       0.18570023343320552, 0.0024553322423744477, 4.1610518582242506e-5},
      {-1.4574458942322837e-6, -3.3667834467459093e-8, -6.17941957943148e-10, -1.4185160073636722e-11,
       -7.347432008502832, -0.17602854870663986, -0.0033395885745154209, -7.8464525273436497e-5},
      {3.9316879985723826e-6, 1.2698596060305238e-7, 3.3271171857340306e-9, 1.0685157260522077e-10, 5.0090559202878769,
       0.16758455720748479, 0.0045280842167266808, 0.00014852189446170692},
      {-1.068227978456627e-5, -4.8255345814501909e-7, -1.8043377845089247e-8, -8.1068745023108243e-10,
       -3.4422337873937466, -0.16079278244254201, -0.0061839416628569397, -0.00028319053796748096},
      {2.9299154108629507e-5, 1.8508571142768906e-6, 9.8776043142576195e-8, 6.2048790130143192e-9, 2.3898321925499089,
       0.15575096561715697, 0.0085250818459694695, 0.00054489683382925161},
      {-8.1302291969481802e-5, -7.1822161140570701e-6, -5.4689888906208691e-7, -4.8003764551348012e-8,
       -1.679791363076648, -0.15265665521171707, -0.011888238533469754, -0.0010605660768123691},
      {0.00022905364567586978, 2.8291668995324659e-5, 3.0719267554772813e-6, 3.7642554026373666e-7, 1.1994435138616419,
       0.15191040127689969, 0.016827679650060659, 0.0020955338826642649},
      {-0.00065863970667568788, -0.00011368537092189961, -1.758282221174228e-5, -3.0037979690790716e-6,
       -0.87458635645333362, -0.15428577086402114, -0.024308805038607828, -0.0042261941259029581},
      {0.0019490574886904051, 0.000469549361977033, 0.00010324651025530674, 2.4539974208463897e-5, 0.65687406848529752,
       0.16134450059687468, 0.036158797970951453, 0.0087763704252316525},
      {-0.006018768527034356, -0.0020185106361768301, -0.00062892496649656698, -0.00020729887379633605,
       -0.51640350116581075, -0.17656397230608759, -0.056273407273796015, -0.019053957830247598},
      {0.019905154304746249, 0.0092426428046751002, 0.0040563428169422482, 0.0018440133256343334, 0.43971339316901057,
       0.2090603598982156, 0.094565738033024199, 0.044520447198509741},
      {-0.074663574154499427, -0.047435164939991818, -0.028978922161486205, -0.017986925865730108, -0.44232790369236489,
       -0.29033644713284943, -0.18455838443681611, -0.11948158662524274},
      {0.37957716063055887, 0.32025962729255313, 0.26483781919566213, 0.21930837373367003, 0.69979053670582337,
       0.61055080693571074, 0.52411646091633685, 0.4501393121092563}};
};

/// log gamma(y), 1/2 <= y < 8: (y - 1) (y - 2) G(y). G has no zero. Each half of an octave has a polynomial of the
/// distance to its middle.
template <class D>
HWY_INLINE hn::Vec<D> lgamma_by_tables(D d, hn::Vec<D> y) {
  using A = hn::TFromD<D>;
  const hn::RebindToSigned<D> di;
  using I = hn::TFromD<decltype(di)>;
  constexpr int kHalfOctave = std::numeric_limits<A>::digits - 2;  // its bit of the fraction
  const auto& rows = Tables<A>::rows;
  const auto bits = hn::BitCast(di, y);
  const auto index = hn::And(hn::ShiftRight<kHalfOctave>(bits), hn::Set(di, 7));
  const auto first = hn::And(bits, hn::Set(di, -(I{1} << kHalfOctave)));
  const auto middle = hn::BitCast(d, hn::Or(first, hn::Set(di, I{1} << (kHalfOctave - 1))));
  const auto past = hn::Sub(y, middle);
  auto g = pick(d, rows[0], index);
  for (std::size_t i = 1; i < std::size(rows); ++i) g = hn::MulAdd(g, past, pick(d, rows[i], index));
  return hn::Mul(hn::Mul(hn::Sub(y, hn::Set(d, A{1})), hn::Sub(y, hn::Set(d, A{2}))), g);
}

template <class V, class M>
struct Fast {
  V value;
  M good;  ///< lanes whose value is within 4 units
};

/// log gamma(size) of normal numbers. Below 1/2 it is log gamma(size + 1) less `log`, else `log` is 0.
template <class D>
HWY_INLINE hn::Vec<D> lgamma_terms(D d, hn::Vec<D> size, hn::Vec<D>& log) {
  using A = hn::TFromD<D>;
  const auto one = hn::Set(d, A{1}), zero = hn::Zero(d);
  const auto large = hn::Ge(size, hn::Set(d, A{8})), small = hn::Lt(size, hn::Set(d, A{0.5}));
  log = log_of_parts(d, split(d, size), BaseE::value, hn::IfThenElse(large, hn::Neg(one), zero));
  auto sum = zero;
  if (!hn::AllFalse(d, large)) sum = lgamma_by_stirling(d, size, log);
  log = hn::IfThenElseZero(small, log);
  if (hn::AllTrue(d, large)) return sum;
  return hn::IfThenElse(large, sum, lgamma_by_tables(d, hn::Add(size, hn::IfThenElseZero(small, one))));
}

template <class D>
HWY_INLINE Fast<hn::Vec<D>, hn::Mask<D>> lgamma_positive(D d, hn::Vec<D> x) {
  auto log = hn::Zero(d);
  const auto sum = lgamma_terms(d, x, log);
  const auto least = hn::Set(d, std::numeric_limits<hn::TFromD<D>>::min());
  return {hn::Sub(sum, log), hn::And(hn::Ge(x, least), hn::Lt(x, hn::Inf(d)))};
}

/// rest: the distance of `size` to the nearest integer.
template <class V>
struct Reflection {
  V value, log, rest;
};

/// log |gamma(-size)| = -(log + sum), given `sum`, what lgamma_terms says of `size`; below 1/2, gamma(x) gamma(1 - x) =
/// pi / sin(pi x).
template <class D>
HWY_INLINE Reflection<hn::Vec<D>> reflect(D d, hn::Vec<D> size, hn::Vec<D> sum) {
  const auto rest = hn::Abs(hn::Sub(size, hn::Round(size))), sine = sin_pi_over_pi(d, rest);
  const auto is_small = hn::Lt(size, hn::Set(d, hn::TFromD<D>(0.5)));
  const auto product = hn::IfThenElse(is_small, sine, hn::Mul(size, sine));
  const auto log = log_of_parts(d, split(d, product), BaseE::value, hn::Zero(d));
  return {hn::Neg(hn::Add(log, sum)), log, rest};
}

/// By the reflection formula.
template <class D>
HWY_INLINE Fast<hn::Vec<D>, hn::Mask<D>> lgamma_reflected(D d, hn::Vec<D> x) {
  using A = hn::TFromD<D>;
  const auto size = hn::Abs(x), least = hn::Set(d, std::numeric_limits<A>::min());
  auto unused = hn::Zero(d);
  const auto sum = lgamma_terms(d, size, unused);
  const auto by = reflect(d, size, sum);
  // Errors of the product, of its logarithm and of `sum`, together below 4 units of a value above this.
  const auto least_good = hn::MulAdd(hn::Abs(sum), hn::Set(d, A{0.75}),
                                     hn::MulAdd(hn::Abs(by.log), hn::Set(d, static_cast<A>(0.2)), hn::Set(d, A{0.5})));
  const auto kept = hn::Gt(hn::Abs(by.value), least_good);
  // Larger numbers have no bit below a half.
  const auto with_fraction = hn::Lt(size, hn::Set(d, static_cast<A>(0.25 / std::numeric_limits<A>::epsilon())));
  const auto ordinary = hn::And(hn::Lt(x, hn::Zero(d)), hn::And(hn::Ge(by.rest, least), with_fraction));
  return {by.value, hn::And(kept, ordinary)};
}

/// high + low, where low is a few units of high's last place.
template <class V>
struct Pair {
  V high, low;
};

/// a * b; exact while a.low is 0.
template <class D>
HWY_INLINE Pair<hn::Vec<D>> product([[maybe_unused]] D d, const Pair<hn::Vec<D>>& a, hn::Vec<D> b) {
  const auto high = hn::Mul(a.high, b);
#if HWY_NATIVE_FMA
  return {high, hn::MulAdd(a.low, b, hn::MulSub(a.high, b, high))};
#else
  // Dekker's product of numbers in two halves.
  const auto upper = [d](hn::Vec<D> v) HWY_ATTR {
    constexpr int kLower = (std::numeric_limits<hn::TFromD<D>>::digits + 1) / 2;
    const auto much = hn::Mul(v, hn::Set(d, static_cast<hn::TFromD<D>>((1 << kLower) + 1)));
    return hn::Sub(much, hn::Sub(much, v));
  };
  const auto a1 = upper(a.high), b1 = upper(b), a2 = hn::Sub(a.high, a1), b2 = hn::Sub(b, b1);
  const auto most = hn::Add(hn::Sub(hn::Mul(a1, b1), high), hn::Add(hn::Mul(a1, b2), hn::Mul(a2, b1)));
  return {high, hn::MulAdd(a.low, b, hn::Add(most, hn::Mul(a2, b2)))};
#endif
}

/// a + b, by Knuth's exact sum.
template <class D>
HWY_INLINE Pair<hn::Vec<D>> sum(D d, const Pair<hn::Vec<D>>& a, const Pair<hn::TFromD<D>>& b) {
  const auto more = hn::Set(d, b.high), high = hn::Add(a.high, more), part = hn::Sub(high, more);
  const auto error = hn::Add(hn::Sub(more, hn::Sub(high, part)), hn::Sub(a.high, part));
  return {high, hn::Add(hn::Add(a.low, hn::Set(d, b.low)), error)};
}

/// lgamma_by_product serves negative numbers from this one on.
inline constexpr int kLeastByProduct = -12;

/// 1 / gamma(1 + y), |y| <= 1/2, by a minimax polynomial, highest power first.
template <class D>
HWY_INLINE Pair<hn::Vec<D>> reciprocal_gamma(D d, hn::Vec<D> y) {
  static constexpr double kHighPowers[] = {-1.17266894370713904e-9, 5.11041040568115592e-9,  6.11228182534046968e-9,
                                           -2.05680913644095264e-7, 1.13302812265737607e-6,  -1.25048259477501598e-6,
                                           -2.01348548989579881e-5, 0.000128050280951713305, -0.000215241674106069218,
                                           -0.00116516759175147502, 0.00721894324666274602,  -0.00962197152788124913};
  static constexpr Pair<double> kLowPowers[] = {
      {-0.0421977345555443334, 2.96331287295106277e-18}, {0.166538611382291563, 3.23820866312479442e-18},
      {-0.042002635034095237, 1.45909673205877798e-18},  {-0.655878071520253902, 2.09744505372356082e-17},
      {0.577215664901532866, -4.94291515243064487e-18},  {1, 0}};
  auto value = Pair<hn::Vec<D>>{polynomial(d, y, kHighPowers), hn::Zero(d)};
  for (const Pair<double>& coefficient : kLowPowers) value = sum(d, product(d, value, y), coefficient);
  return value;
}

/// log |gamma(x)| of doubles from -12 on and below 0, as -log |1 / gamma(x)|. With the whole number n for which
/// y = x + n lies between -1/2 and 1/2, 1 / gamma(x) is the product x (x + 1) ... (x + n - 1) y / gamma(1 + y). No
/// factor is rounded, and the product has 64 bits: next to a zero of log |gamma(x)|, where the product is about 1 or
/// -1, its distance to that has digits enough for results down to 1/1024.
template <class D>
HWY_INLINE Fast<hn::Vec<D>, hn::Mask<D>> lgamma_by_product(D d, hn::Vec<D> x) {
  const auto nearest = hn::Round(x), y = hn::Sub(x, nearest);
  auto value = product(d, reciprocal_gamma(d, y), y);
  for (int i = 1; i <= -kLeastByProduct; ++i) {
    const auto more = hn::Le(nearest, hn::Set(d, -i));
    if (hn::AllFalse(d, more)) break;
    value = product(d, value, hn::IfThenElse(more, hn::Sub(y, hn::Set(d, i)), hn::Set(d, 1)));
  }
  const auto size = hn::Abs(value.high), log = log_of_parts(d, split(d, size), BaseE::value, hn::Zero(d));
  const auto result = hn::Neg(hn::Add(log, hn::Div(value.low, value.high)));
  const auto normal = hn::Ge(size, hn::Set(d, std::numeric_limits<double>::min()));
  return {result, hn::And(normal, hn::Ge(hn::Abs(result), hn::Set(d, 1.0 / 1024)))};
}

template <class D>
HWY_INLINE Fast<hn::Vec<D>, hn::Mask<D>> lgamma_negative(D d, hn::Vec<D> x) {
  if constexpr (sizeof(hn::TFromD<D>) == sizeof(double)) {
    const auto near = hn::And(hn::Lt(x, hn::Zero(d)), hn::Ge(x, hn::Set(d, kLeastByProduct)));
    if (hn::AllFalse(d, near)) return lgamma_reflected(d, x);
    const auto by_product = lgamma_by_product(d, hn::IfThenElse(near, x, hn::Set(d, -0.25)));
    if (hn::AllTrue(d, near)) return by_product;
    const auto reflected = lgamma_reflected(d, x);
    return {hn::IfThenElse(near, by_product.value, reflected.value),
            hn::Or(hn::And(near, by_product.good), hn::AndNot(near, reflected.good))};
  } else {
    return lgamma_reflected(d, x);
  }
}

/// log |gamma(x)| of any float x, computed in double: where terms cancel, next to the zeros of the function too, the
/// digits of a float are left.
template <class D>
HWY_INLINE hn::Vec<D> lgamma_of(D d, hn::Vec<D> x) {
  const auto size = hn::Abs(x), infinity = hn::Inf(d), zero = hn::Zero(d);
  auto log = zero;
  const auto sum = lgamma_terms(d, size, log);
  const auto by = reflect(d, size, sum);
  auto result = hn::IfThenElse(hn::Lt(x, zero), by.value, hn::Sub(sum, log));
  const auto pole = hn::And(hn::Eq(by.rest, zero), hn::Le(x, zero));
  result = hn::IfThenElse(hn::Or(pole, hn::Eq(size, infinity)), infinity, result);
  return hn::IfThenElse(hn::IsNaN(x), x, result);
}

/// For elements of double: the C library's function, without the sign it keeps in a global variable where it has one.
/// glibc's function of double has errors of 6 units.
inline double lgamma_of(double x) {
#if defined(_WIN32)
  return static_cast<double>(std::lgamma(static_cast<long double>(x)));
#elif defined(__linux__)
  int sign = 0;
  return static_cast<double>(lgammal_r(x, &sign));
#else
  int sign = 0;
  return lgamma_r(x, &sign);
#endif
}

/// Some elements next to each other, their places in a row, and results for them.
template <class A>
struct Gathered {
  static constexpr std::int64_t kMost = kBlock * sizeof(float) / sizeof(A);  // both lie on the stack of any thread
  static constexpr std::int64_t kSize = kMost + kLanes<A>;
  HWY_ALIGN std::int32_t places[kSize];
  HWY_ALIGN A x[kSize], values[kSize];
  std::int64_t n = 0;

  /// The elements of a vector of `row`, from `first` on, that are not `good`: whole vectors, since compressing into
  /// memory is slow. Where vectors cannot compress such elements, Highway 1.0 copies a table to the stack each time.
  template <class D>
  HWY_INLINE void add(D d, const A* row, hn::Mask<D> good, std::int64_t first) {
    const auto bad = hn::Not(good);
    if constexpr (HWY_TARGET <= HWY_AVX3 && sizeof(A) == sizeof(float)) {
      const hn::RebindToSigned<D> di;
      const auto here = hn::Iota(di, static_cast<std::int32_t>(first));
      hn::StoreU(hn::Compress(hn::LoadU(d, row + first), bad), d, x + n);
      hn::StoreU(hn::Compress(here, hn::RebindMask(di, bad)), di, places + n);
      n += static_cast<std::int64_t>(hn::CountTrue(d, bad));
    } else {
      const std::uint32_t bits = bits_of(d, bad);
      for (int lane = 0; lane < static_cast<int>(hn::MaxLanes(d)); ++lane) {
        x[n] = row[first + lane];
        places[n] = static_cast<std::int32_t>(first) + lane;
        n += bits >> lane & 1;
      }
    }
  }

  /// The number of elements with those that fill the last vector.
  HWY_INLINE std::int64_t whole_vectors() {
    const hn::ScalableTag<A> d;
    hn::StoreU(hn::Set(d, A{-0.25}), d, x + n);
    return (n + kLanes<A> - 1) / kLanes<A> * kLanes<A>;
  }

  void give(A* HWY_RESTRICT to) const {
    for (std::int64_t i = 0; i < n; ++i) to[places[i]] = values[i];
  }
};

/// values[i] = f(d, x[i]), n <= kMost; gathers what is not good into `left`. kAhead: x is read from end to end.
template <bool kAhead, class A, class F>
HWY_INLINE void try_fast(const A* x, std::int64_t n, A* values, Gathered<A>& left, F f) {
  for_lanes<A>(n, [&](auto d, std::int64_t i) HWY_ATTR {
    if (kAhead) prefetch_ahead(x + i);
    const auto fast = f(d, hn::LoadU(d, x + i));
    hn::StoreU(fast.value, d, values + i);
    if (HWY_UNLIKELY(!hn::AllTrue(d, fast.good))) left.add(d, x, fast.good, i);
  });
}

/// values[i] = log |gamma(x[i])| with the digits of the type for any x.
inline void lgamma_rest(const float* x, std::int64_t n, float* values) {
  for_lanes<double>(n, [&](auto d, std::int64_t i) HWY_ATTR {
    const hn::Rebind<float, decltype(d)> narrow;
    // Highway's DemoteTo may saturate: twice the greatest float is Inf.
    const auto half = hn::Mul(lgamma_of(d, hn::PromoteTo(d, hn::LoadU(narrow, x + i))), hn::Set(d, 0.5));
    hn::StoreU(hn::Mul(hn::DemoteTo(narrow, half), hn::Set(narrow, 2.0f)), narrow, values + i);
  });
}
inline void lgamma_rest(const double* x, std::int64_t n, double* values) {
  for (std::int64_t i = 0; i < n; ++i) values[i] = lgamma_of(x[i]);
}

/// results[i] = log |gamma(x[i])|, n <= kMost: for positive numbers, then for negative ones, then for the rest.
template <class A>
void lgamma_block(const A* x, std::int64_t n, A* results) {
  Gathered<A> negative, rest;
  try_fast<true>(x, n, results, negative, [](auto d, auto v) HWY_ATTR { return lgamma_positive(d, v); });
  if (negative.n == 0) return;
  try_fast<false>(negative.x, negative.whole_vectors(), negative.values, rest,
                  [](auto d, auto v) HWY_ATTR { return lgamma_negative(d, v); });
  lgamma_rest(rest.x, std::is_same_v<A, double> ? rest.n : rest.whole_vectors(), rest.values);
  rest.give(negative.values);
  negative.give(results);
}

/// log |gamma| of n <= kBlock elements of any type.
template <class T>
void lgamma_elements(const T* x, std::int64_t n, Acc<T>* results) {
  if constexpr (std::is_same_v<T, Acc<T>>) {
    constexpr std::int64_t kMost = Gathered<T>::kMost;
    for (std::int64_t first = 0; first < n; first += kMost) {
      lgamma_block(x + first, std::min(kMost, n - first), results + first);
    }
  } else {
    HWY_ALIGN float wide[kBlock];
    load_row(x, wide, n);
    lgamma_block(wide, n, results);
  }
}

// ---- half and bfloat16 ----

/// log |gamma| of each number of a type of 16 bits, by its bits.
template <class T>
struct LgammaOfAll {
  static constexpr std::int64_t kCount = 65536;
  HWY_ALIGN float results[kCount];

  LgammaOfAll() {
    HWY_ALIGN float x[kBlock];
    for (std::int64_t first = 0; first < kCount; first += kBlock) {
      const std::int64_t n = std::min(kBlock, kCount - first);
      for (std::int64_t i = 0; i < n; ++i) x[i] = to_acc(T{static_cast<std::uint16_t>(first + i)});
      lgamma_block(x, n, results + first);
    }
  }

  /// Computed by the first call, and kept.
  static const LgammaOfAll& once() {
    static const LgammaOfAll all;
    return all;
  }

  template <class D>
  HWY_INLINE hn::Vec<D> operator()(D d, const T* x) const {
    const hn::RebindToSigned<D> di;
    const hn::Rebind<std::uint16_t, D> du16;
    return hn::GatherIndex(d, results, hn::PromoteTo(di, hn::LoadU(du16, &x->bits)));
  }
};

}  // namespace
}  // namespace mluops::cpu::elementwise::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
