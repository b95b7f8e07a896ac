// Words that combine the values of a window that slides over a map.
#include <algorithm>
#include <functional>
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
#undef POOL

// ---- the place of the largest or smallest lane ---------------------------------------------------------------------

namespace {

template <bool kLargest, class T, class Take>
void extremes(const Pooling& p, const T* src, Take take) {
  for (std::int64_t i = 0; i < p.results(); ++i) {
    const std::int64_t window = i / p.channel, y = window / p.out_width(), x = window % p.out_width();
    const auto value = [&](std::int64_t k) { return src[p.source(y, x, k) + i % p.channel]; };
    std::int64_t best = 0;
    for (std::int64_t k = 1; k < p.window(); ++k) {
      const bool further = kLargest ? value(best) < value(k) : value(k) < value(best);
      if (loses(value(best), further)) best = k;
    }
    take(static_cast<std::size_t>(i), value(best), best);
  }
}

template <bool kLargest, class I, class T>
void indices(const char* name, const Pooling& p, I* dst, const T* src) {
  Word word(name);
  check_window(word, p);
  word.decider(src, p.inputs());
  word.steps(p.steps(sizeof(T)));
  word.destination(dst, p.results());
  std::vector<I> where(static_cast<std::size_t>(p.results()));
  extremes<kLargest>(p, src, [&](std::size_t i, T, std::int64_t k) { where[i] = static_cast<I>(k); });
  std::copy(where.begin(), where.end(), dst);
}

}  // namespace

template <class T>
void __bang_maxpool_value_index(T* dst, const T* src, std::int64_t channel, std::int64_t height, std::int64_t width,
                                std::int64_t kernel_height, std::int64_t kernel_width, std::int64_t stride_x,
                                std::int64_t stride_y, std::int64_t index_offset) {
  const Pooling p{channel, height, width, kernel_height, kernel_width, stride_x, stride_y};
  Word word(__func__);
  check_window(word, p);
  auto* index = reinterpret_cast<std::uint32_t*>(reinterpret_cast<char*>(dst) + index_offset);
  word.decider(src, p.inputs());
  word.steps(p.steps(sizeof(T)));
  word.destination(dst, p.results());
  Core::current().destination(__func__, "index", index, bytes_of_lanes<std::uint32_t>(p.results()));
  std::vector<T> largest(static_cast<std::size_t>(p.results()));
  std::vector<std::uint32_t> where(largest.size());
  extremes<true>(p, src, [&](std::size_t i, T value, std::int64_t k) {
    largest[i] = value;
    where[i] = static_cast<std::uint32_t>(k);
  });
  std::copy(largest.begin(), largest.end(), dst);
  std::copy(where.begin(), where.end(), index);
}

template <class I, class T>
void __bang_maxpool_index(I* dst, const T* src, std::int64_t channel, std::int64_t height, std::int64_t width,
                          std::int64_t kernel_height, std::int64_t kernel_width, std::int64_t stride_x,
                          std::int64_t stride_y) {
  indices<true>(__func__, {channel, height, width, kernel_height, kernel_width, stride_x, stride_y}, dst, src);
}
template <class I, class T>
void __bang_minpool_index(I* dst, const T* src, std::int64_t channel, std::int64_t height, std::int64_t width,
                          std::int64_t kernel_height, std::int64_t kernel_width, std::int64_t stride_x,
                          std::int64_t stride_y) {
  indices<false>(__func__, {channel, height, width, kernel_height, kernel_width, stride_x, stride_y}, dst, src);
}

template <class T>
void __bang_avgpool_bp(T* dst, const T* src, std::int64_t channel, std::int64_t height, std::int64_t width,
                       std::int64_t kernel_height, std::int64_t kernel_width, std::int64_t stride_x,
                       std::int64_t stride_y) {
  const Pooling p{channel, height, width, kernel_height, kernel_width, stride_x, stride_y};
  Word word(__func__);
  check_window(word, p);
  word.require(dst + p.inputs() <= src || src + p.results() <= dst, "it cannot work in place");
  const LaneFlags missing = word.lanes_of(src, p.results());
  LaneFlags undefined(missing.empty() ? 0 : static_cast<std::size_t>(p.inputs()));
  word.steps(p.steps(sizeof(T)));
  word.destination(dst, p.inputs());
  std::fill_n(dst, p.inputs(), T(0));
  for (std::int64_t i = 0; i < p.results() * p.window(); ++i) {
    const std::int64_t result = i / p.window(), pixel = result / channel;
    const std::int64_t at = p.source(pixel / p.out_width(), pixel % p.out_width(), i % p.window()) + result % channel;
    dst[at] = dst[at] + src[result];
    if (!missing.empty()) undefined[static_cast<std::size_t>(at)] |= missing[static_cast<std::size_t>(result)];
  }
  const float share = 1.0f / static_cast<float>(p.window());
  map(dst, dst, p.inputs(), [=](Wide<T> x) { return x * share; });
  word.undefined(std::move(undefined));
}

#define REAL(T, I)                                                                                         \
  INSTANCE(maxpool_value_index, T, std::int64_t, std::int64_t, std::int64_t, std::int64_t);                \
  INSTANCE(avgpool_bp, T, std::int64_t, std::int64_t, std::int64_t);                                       \
  template void __bang_maxpool_index(I*, const T*, std::int64_t, std::int64_t, std::int64_t, std::int64_t, \
                                     std::int64_t, std::int64_t, std::int64_t);                            \
  template void __bang_minpool_index(I*, const T*, std::int64_t, std::int64_t, std::int64_t, std::int64_t, \
                                     std::int64_t, std::int64_t, std::int64_t)
REAL(half, std::uint16_t);
REAL(bfloat16_t, std::uint16_t);
REAL(float, std::uint32_t);

}  // namespace mluops::emu::bang
