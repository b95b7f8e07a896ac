// Words that combine the values of a window that slides over a map.
#include <algorithm>
#include <functional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "backends/mlu_emu/bang/operands.h"
#include "backends/mlu_emu/bang/words.h"

namespace mluops::emu::bang {
namespace {

/// [height, width, channel] and the window that slides over it.
struct Pooling {
  std::int64_t channel, height, width, kernel_height, kernel_width, stride_x, stride_y;
  std::int64_t dilation_y = 1, dilation_x = 1;

  std::int64_t out_height() const { return (height - reach(kernel_height, dilation_y)) / stride_y + 1; }
  std::int64_t out_width() const { return (width - reach(kernel_width, dilation_x)) / stride_x + 1; }
  std::int64_t window() const { return kernel_height * kernel_width; }
  std::int64_t inputs() const { return height * width * channel; }
  std::int64_t results() const { return out_height() * out_width() * channel; }
  /// Lanes the unit goes over: it takes whole lines of channels.
  std::int64_t steps(std::int64_t lane) const {
    constexpr std::int64_t kLine = 128;
    return out_height() * out_width() * window() * ((channel * lane + kLine - 1) / kLine * kLine / lane);
  }
  bool sensible() const {
    return channel > 0 && kernel_height > 0 && kernel_width > 0 && stride_x > 0 && stride_y > 0 && dilation_y > 0 &&
           dilation_x > 0 && height >= reach(kernel_height, dilation_y) && width >= reach(kernel_width, dilation_x);
  }
  /// Where channel 0 of the k-th place of the window at output (y, x) lies.
  std::int64_t source(std::int64_t y, std::int64_t x, std::int64_t k) const {
    const std::int64_t row = y * stride_y + k / kernel_width * dilation_y;
    return (row * width + x * stride_x + k % kernel_width * dilation_x) * channel;
  }

 private:
  static std::int64_t reach(std::int64_t kernel, std::int64_t dilation) { return (kernel - 1) * dilation + 1; }
};

/// Whether what a window has so far makes way: to what is further out, and a NaN to anything.
template <class T>
bool loses(T so_far, bool other_further) {
  return other_further || so_far != so_far;
}

/// With nan_ a NaN stays, and nothing else does beside one.
template <class T>
bool loses_to_nan(T so_far, T other, bool other_further) {
  return so_far == so_far && (other_further || other != other);
}

/// The k-th lanes of the windows of an output row, next to each other.
template <class T>
void gather(const Pooling& p, const T* src, std::int64_t y, std::int64_t k, T* row) {
  const T* first = src + p.source(y, 0, k);
  if (p.stride_x == 1) {
    std::copy_n(first, p.out_width() * p.channel, row);
    return;
  }
  for (std::int64_t x = 0; x < p.out_width(); ++x) {
    std::copy_n(first + x * p.stride_x * p.channel, p.channel, row + x * p.channel);
  }
}

/// dst [ho,wo,channel] = finish(the values of each window combined in row order). An output row is kept aside: dst may
/// be src.
template <class T, class F, class G>
void pool(const Pooling& p, const T* src, T* dst, F combine, G finish) {
  const std::int64_t lanes = p.out_width() * p.channel;
  std::vector<T> kept(static_cast<std::size_t>(lanes)), row(static_cast<std::size_t>(lanes));
  for (std::int64_t y = 0; y < p.out_height(); ++y) {
    gather(p, src, y, 0, kept.data());
    for (std::int64_t k = 1; k < p.window(); ++k) {
      gather(p, src, y, k, row.data());
      map(kept.data(), kept.data(), row.data(), lanes, combine);
    }
    map(dst + y * lanes, kept.data(), lanes, finish);
  }
}

constexpr auto kAsItIs = [](auto x) { return x; };

void check_window(const Word& word, const Pooling& p) {
  if (!p.sensible()) word.fault("the window must fit the map, sizes, strides and dilations be positive");
  word.count(p.inputs());
}

/// Checks and marks, then pools.
template <class T, class F, class G>
void pooled(const char* name, const Pooling& p, T* dst, const T* src, F combine, G finish) {
  Word word(name);
  check_window(word, p);
  LaneFlags undefined = word.lanes_of(src, p.inputs());
  if (!undefined.empty()) pool(p, undefined.data(), undefined.data(), std::bit_or<std::uint8_t>(), kAsItIs);
  undefined.resize(undefined.empty() ? 0 : static_cast<std::size_t>(p.results()));
  word.undefined(std::move(undefined));
  word.steps(p.steps(sizeof(T)));
  word.destination(dst, p.results());
  pool(p, src, dst, combine, finish);
}

void need_ones(const char* name, std::int64_t a, std::int64_t b) {
  Word(name).require(a == 1 && b == 1, "the last two numbers are modelled as 1 only");
}

}  // namespace

#define POOL(name, combine, finish)                                                                                   \
  template <class T>                                                                                                  \
  void __bang_##name(T* dst, const T* src, std::int64_t channel, std::int64_t height, std::int64_t width,             \
                     std::int64_t kernel_height, std::int64_t kernel_width, std::int64_t stride_x,                    \
                     std::int64_t stride_y, std::int64_t dilation_y, std::int64_t dilation_x, std::int64_t a,         \
                     std::int64_t b) {                                                                                \
    need_ones(__func__, a, b);                                                                                        \
    const Pooling p{channel, height, width, kernel_height, kernel_width, stride_x, stride_y, dilation_y, dilation_x}; \
    pooled(                                                                                                           \
        __func__, p, dst, src, [](auto x, auto y) { return combine; },                                                \
        [=](auto x) { return static_cast<decltype(x)>(finish); });                                                    \
  }                                                                                                                   \
  template <class T>                                                                                                  \
  void __bang_##name(T* dst, const T* src, std::int64_t channel, std::int64_t height, std::int64_t width,             \
                     std::int64_t kernel_height, std::int64_t kernel_width, std::int64_t stride_x,                    \
                     std::int64_t stride_y) {                                                                         \
    __bang_##name(dst, src, channel, height, width, kernel_height, kernel_width, stride_x, stride_y, 1, 1, 1, 1);     \
  }                                                                                                                   \
  template <class T>                                                                                                  \
  void __bang_##name(T* dst, const T* src, std::int64_t channel, std::int64_t height, std::int64_t width,             \
                     std::int64_t kernel_height, std::int64_t kernel_width) {                                         \
    __bang_##name(dst, src, channel, height, width, kernel_height, kernel_width, kernel_width, kernel_height);        \
  }                                                                                                                   \
  POOLS(name, half);                                                                                                  \
  POOLS(name, bfloat16_t);                                                                                            \
  POOLS(name, float);
#define INSTANCE(name, T, ...) \
  template void __bang_##name(T*, const T*, std::int64_t, std::int64_t, std::int64_t, std::int64_t, __VA_ARGS__)
#define POOLS(name, T)                                         \
  INSTANCE(name, T, std::int64_t);                             \
  INSTANCE(name, T, std::int64_t, std::int64_t, std::int64_t); \
  INSTANCE(name, T, std::int64_t, std::int64_t, std::int64_t, std::int64_t, std::int64_t, std::int64_t, std::int64_t)
POOL(sumpool, x + y, x)
POOL(avgpool, x + y, x*(1.0f / static_cast<float>(p.window())))
POOL(maxpool, loses(x, x < y) ? y : x, x)
POOL(minpool, loses(x, y < x) ? y : x, x)
POOL(nan_maxpool, loses_to_nan(x, y, x < y) ? y : x, x)
POOL(nan_minpool, loses_to_nan(x, y, y < x) ? y : x, x)
#undef POOL

// ---- the place of the largest or smallest lane ---------------------------------------------------------------------

namespace {

/// The lane of a window that is selected.
template <bool kLargest, bool kNanWins>
struct Extreme {
  template <class T>
  static bool loses_to(T so_far, T other) {
    const bool further = kLargest ? so_far < other : other < so_far;
    return kNanWins ? loses_to_nan(so_far, other, further) : loses(so_far, further);
  }
};
using Of_maxpool = Extreme<true, false>;
using Of_minpool = Extreme<false, false>;
using Of_nan_maxpool = Extreme<true, true>;
using Of_nan_minpool = Extreme<false, true>;

template <class Wanted, class T, class Take>
void extremes(const Pooling& p, const T* src, Take take) {
  for (std::int64_t i = 0; i < p.results(); ++i) {
    const std::int64_t window = i / p.channel, y = window / p.out_width(), x = window % p.out_width();
    const auto value = [&](std::int64_t k) { return src[p.source(y, x, k) + i % p.channel]; };
    std::int64_t best = 0;
    for (std::int64_t k = 1; k < p.window(); ++k) {
      if (Wanted::loses_to(value(best), value(k))) best = k;
    }
    take(static_cast<std::size_t>(i), value(best), best);
  }
}

/// A result is undefined where a lane of its window is: channels that pad a row spoil their own results alone.
LaneFlags of_windows(const Pooling& p, LaneFlags flags) {
  if (flags.empty()) return flags;
  pool(p, flags.data(), flags.data(), std::bit_or<std::uint8_t>(), kAsItIs);
  flags.resize(static_cast<std::size_t>(p.results()));
  return flags;
}

template <class Wanted, class I, class T>
void indices(const char* name, const Pooling& p, I* dst, const T* src) {
  Word word(name);
  check_window(word, p);
  word.undefined(of_windows(p, word.lanes_of(src, p.inputs())));
  word.steps(p.steps(sizeof(T)));
  word.destination(dst, p.results());
  std::vector<I> where(static_cast<std::size_t>(p.results()));
  extremes<Wanted>(p, src, [&](std::size_t i, T, std::int64_t k) { where[i] = static_cast<I>(k); });
  std::copy(where.begin(), where.end(), dst);
}

template <class T>
using IndexOf = std::conditional_t<sizeof(T) == 2, std::uint16_t, std::uint32_t>;

template <class Wanted, class T>
void values_and_indices(const char* name, const Pooling& p, T* dst, const T* src, std::int64_t index_offset) {
  using I = IndexOf<T>;
  Word word(name);
  check_window(word, p);
  auto* index = reinterpret_cast<I*>(reinterpret_cast<char*>(dst) + index_offset);
  const LaneFlags flags = of_windows(p, word.lanes_of(src, p.inputs()));
  std::vector<T> best(static_cast<std::size_t>(p.results()));
  std::vector<I> where(best.size());
  extremes<Wanted>(p, src, [&](std::size_t i, T value, std::int64_t k) {
    best[i] = value;
    where[i] = static_cast<I>(k);
  });
  word.steps(p.steps(sizeof(T)));
  word.destination(dst, p.results());
  word.undefined(flags);
  Core& core = Core::current();
  core.destination(name, "index", index, bytes_of_lanes<I>(p.results()));
  std::copy(best.begin(), best.end(), dst);
  std::copy(where.begin(), where.end(), index);
  core.forget(index, sizeof(I), flags);
}

}  // namespace

#define PLACES(name)                                                                                                   \
  template <class I, class T>                                                                                          \
  void __bang_##name##_index(I* dst, const T* src, std::int64_t channel, std::int64_t height, std::int64_t width,      \
                             std::int64_t kernel_height, std::int64_t kernel_width, std::int64_t stride_x,             \
                             std::int64_t stride_y, std::int64_t dilation_y, std::int64_t dilation_x, std::int64_t a,  \
                             std::int64_t b) {                                                                         \
    need_ones(__func__, a, b);                                                                                         \
    indices<Of_##name>(                                                                                                \
        __func__, {channel, height, width, kernel_height, kernel_width, stride_x, stride_y, dilation_y, dilation_x},   \
        dst, src);                                                                                                     \
  }                                                                                                                    \
  template <class I, class T>                                                                                          \
  void __bang_##name##_index(I* dst, const T* src, std::int64_t channel, std::int64_t height, std::int64_t width,      \
                             std::int64_t kernel_height, std::int64_t kernel_width) {                                  \
    __bang_##name##_index(dst, src, channel, height, width, kernel_height, kernel_width, kernel_width, kernel_height); \
  }                                                                                                                    \
  template <class T>                                                                                                   \
  void __bang_##name##_value_index(T* dst, const T* src, std::int64_t channel, std::int64_t height,                    \
                                   std::int64_t width, std::int64_t kernel_height, std::int64_t kernel_width,          \
                                   std::int64_t stride_x, std::int64_t stride_y, std::int64_t index_offset,            \
                                   std::int64_t dilation_y, std::int64_t dilation_x, std::int64_t a, std::int64_t b) { \
    need_ones(__func__, a, b);                                                                                         \
    values_and_indices<Of_##name>(                                                                                     \
        __func__, {channel, height, width, kernel_height, kernel_width, stride_x, stride_y, dilation_y, dilation_x},   \
        dst, src, index_offset);                                                                                       \
  }                                                                                                                    \
  PLACES_OF(name, half)                                                                                                \
  PLACES_OF(name, bfloat16_t)                                                                                          \
  PLACES_OF(name, float)
#define PLACES_OF(name, T)                                                                                            \
  template void __bang_##name##_index(IndexOf<T>*, const T*, std::int64_t, std::int64_t, std::int64_t, std::int64_t,  \
                                      std::int64_t);                                                                  \
  template void __bang_##name##_index(IndexOf<T>*, const T*, std::int64_t, std::int64_t, std::int64_t, std::int64_t,  \
                                      std::int64_t, std::int64_t, std::int64_t, std::int64_t, std::int64_t,           \
                                      std::int64_t, std::int64_t);                                                    \
  INSTANCE(name##_value_index, T, std::int64_t, std::int64_t, std::int64_t, std::int64_t, std::int64_t, std::int64_t, \
           std::int64_t, std::int64_t);
PLACES(maxpool)
PLACES(minpool)
PLACES(nan_maxpool)
PLACES(nan_minpool)
#undef PLACES

// ---- gradients
// -------------------------------------------------------------------------------------------------------

namespace {

/// visit(where in the map, result, k) for all results and the places k of their windows that `of` a result names.
template <class Places, class Visit>
void each_place(const Pooling& p, Places of, Visit visit) {
  for (std::int64_t result = 0; result < p.results(); ++result) {
    const std::int64_t pixel = result / p.channel, y = pixel / p.out_width(), x = pixel % p.out_width();
    of(result, [&](std::int64_t k) { visit(p.source(y, x, k) + result % p.channel, result); });
  }
}

/// dst [height,width,channel] = factor * src's lanes at the places that `of` names.
template <class T, class Places>
void spread(Word& word, const Pooling& p, T* dst, const T* src, mluPoolBPOverlap overlap, const LaneFlags& missing,
            Places of) {
  LaneFlags undefined(missing.empty() ? 0 : static_cast<std::size_t>(p.inputs()));
  word.steps(p.steps(sizeof(T)));
  word.destination(dst, p.inputs());
  std::fill_n(dst, p.inputs(), T(0));
  each_place(p, of, [&](std::int64_t at, std::int64_t result) {
    dst[at] = overlap == OVERLAP_ACC ? T(dst[at] + src[result]) : src[result];
    if (missing.empty()) return;
    std::uint8_t& flag = undefined[static_cast<std::size_t>(at)];
    const std::uint8_t added = missing[static_cast<std::size_t>(result)];
    flag = overlap == OVERLAP_ACC ? flag | added : added;
  });
  word.undefined(std::move(undefined));
}

auto all_places(const Pooling& p) {
  return [n = p.window()](std::int64_t, auto visit) {
    for (std::int64_t k = 0; k < n; ++k) visit(k);
  };
}

}  // namespace

template <class T, class I>
void __bang_maxpool_bp(T* dst, const T* src, I* mask, std::int64_t channel, std::int64_t height, std::int64_t width,
                       std::int64_t kernel_height, std::int64_t kernel_width, std::int64_t stride_x,
                       std::int64_t stride_y, mluPoolBPOverlap overlap) {
  const Pooling p{channel, height, width, kernel_height, kernel_width, stride_x, stride_y};
  Word word(__func__);
  check_window(word, p);
  LaneFlags missing = word.lanes_of(src, p.results());
  const LaneFlags unknown = word.lanes_of(mask, p.results(), "mask");
  if (!unknown.empty()) missing.resize(unknown.size());
  for (std::size_t i = 0; i < unknown.size(); ++i) missing[i] |= unknown[i];
  const auto place = [&](std::int64_t result) { return static_cast<std::int64_t>(mask[result]); };
  const auto defined = [&](std::int64_t result) {
    return unknown.empty() || unknown[static_cast<std::size_t>(result)] == kDefinedLane;
  };
  for (std::int64_t i = 0; i < p.results(); ++i) {
    if (!defined(i) || (place(i) >= 0 && place(i) < p.window())) continue;
    word.fault("mask lane " + std::to_string(i) + " is " + std::to_string(place(i)) + ", a window has " +
               std::to_string(p.window()) + " places");
  }
  spread(word, p, dst, src, overlap, missing, [&](std::int64_t result, auto visit) {
    if (defined(result)) return visit(place(result));
    for (std::int64_t k = 0; k < p.window(); ++k) visit(k);  // any of them may be meant
  });
}

template <class T>
void __bang_sumpool_bp(T* dst, const T* src, std::int64_t channel, std::int64_t height, std::int64_t width,
                       std::int64_t kernel_height, std::int64_t kernel_width, std::int64_t stride_x,
                       std::int64_t stride_y, mluPoolBPOverlap overlap) {
  const Pooling p{channel, height, width, kernel_height, kernel_width, stride_x, stride_y};
  Word word(__func__);
  check_window(word, p);
  spread(word, p, dst, src, overlap, word.lanes_of(src, p.results()), all_places(p));
}

template <class T>
void __bang_avgpool_bp(T* dst, const T* src, std::int64_t channel, std::int64_t height, std::int64_t width,
                       std::int64_t kernel_height, std::int64_t kernel_width, std::int64_t stride_x,
                       std::int64_t stride_y, mluPoolBPOverlap overlap) {
  const Pooling p{channel, height, width, kernel_height, kernel_width, stride_x, stride_y};
  Word word(__func__);
  check_window(word, p);
  spread(word, p, dst, src, overlap, word.lanes_of(src, p.results()), all_places(p));
  const float share = 1.0f / static_cast<float>(p.window());
  map(dst, dst, p.inputs(), [=](Wide<T> x) { return x * share; });
}

template <class T>
void __bang_unpool(T* dst, const T* src, std::int64_t channel, std::int64_t height, std::int64_t width,
                   std::int64_t kernel_height, std::int64_t kernel_width, std::int64_t stride_x, std::int64_t stride_y,
                   std::int64_t index) {
  const Pooling p{channel, height, width, kernel_height, kernel_width, stride_x, stride_y};
  Word word(__func__);
  check_window(word, p);
  word.require(index >= 0 && index < p.window(), "the index must be a place of the window");
  const LaneFlags missing = word.lanes_of(src, p.results());
  LaneFlags undefined = word.kept_lanes(dst, p.inputs());
  undefined.resize(static_cast<std::size_t>(p.inputs()));
  word.steps(p.steps(sizeof(T)));
  word.destination(dst, p.inputs());
  each_place(p, all_places(p), [&](std::int64_t at, std::int64_t) {
    dst[at] = T(0);
    undefined[static_cast<std::size_t>(at)] = kDefinedLane;
  });
  each_place(
      p, [=](std::int64_t, auto visit) { visit(index); },
      [&](std::int64_t at, std::int64_t result) {
        dst[at] = src[result];
        if (!missing.empty()) undefined[static_cast<std::size_t>(at)] = missing[static_cast<std::size_t>(result)];
      });
  word.undefined(std::move(undefined));
}

#define REAL(T, I, Signed)                                                             \
  INSTANCE(sumpool_bp, T, std::int64_t, std::int64_t, std::int64_t, mluPoolBPOverlap); \
  INSTANCE(avgpool_bp, T, std::int64_t, std::int64_t, std::int64_t, mluPoolBPOverlap); \
  INSTANCE(unpool, T, std::int64_t, std::int64_t, std::int64_t, std::int64_t);         \
  MAXPOOL_BP(T, I);                                                                    \
  MAXPOOL_BP(T, Signed)
#define MAXPOOL_BP(T, I)                                                                                    \
  template void __bang_maxpool_bp(T*, const T*, I*, std::int64_t, std::int64_t, std::int64_t, std::int64_t, \
                                  std::int64_t, std::int64_t, std::int64_t, mluPoolBPOverlap)
REAL(half, std::uint16_t, std::int16_t);
REAL(bfloat16_t, std::uint16_t, std::int16_t);
REAL(float, std::uint32_t, std::int32_t);

}  // namespace mluops::emu::bang
