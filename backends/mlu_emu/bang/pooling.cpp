// Words that combine the values of a window that slides over a map.
#include <functional>
#include <vector>

#include "backends/mlu_emu/bang/operands.h"
#include "backends/mlu_emu/bang/words.h"

namespace mluops::emu::bang {
namespace {

/// [height, width, channel] and the window that slides over it.
struct Pooling {
  std::int64_t channel, height, width, kernel_height, kernel_width, stride_x, stride_y;

  std::int64_t out_height() const { return (height - kernel_height) / stride_y + 1; }
  std::int64_t out_width() const { return (width - kernel_width) / stride_x + 1; }
  bool sensible() const {
    return channel > 0 && kernel_height > 0 && kernel_width > 0 && stride_x > 0 && stride_y > 0 &&
           height >= kernel_height && width >= kernel_width;
  }
};

/// Whether what a window has so far makes way: to what is further out, and a NaN to anything.
template <class T>
bool loses(T so_far, bool other_further) {
  return other_further || so_far != so_far;
}

/// dst [ho,wo,channel] = the values of each window combined in row order. A window is kept aside: dst may be src.
template <class T, class F>
void pool(const Pooling& p, const T* src, T* dst, F combine) {
  thread_local std::vector<T> kept;
  kept.resize(static_cast<std::size_t>(p.channel));
  const auto window = [&](std::int64_t y, std::int64_t x) {
    for (std::int64_t k = 0; k < p.kernel_height * p.kernel_width; ++k) {
      const T* lane = src + ((y + k / p.kernel_width) * p.width + x + k % p.kernel_width) * p.channel;
      if (k == 0) {
        std::copy_n(lane, p.channel, kept.data());
      } else {
        map(kept.data(), kept.data(), lane, p.channel, combine);
      }
    }
  };
  for (std::int64_t y = 0; y < p.out_height(); ++y) {
    for (std::int64_t x = 0; x < p.out_width(); ++x) {
      window(y * p.stride_y, x * p.stride_x);
      std::copy(kept.begin(), kept.end(), dst + (y * p.out_width() + x) * p.channel);
    }
  }
}

/// Checks and marks, then pools.
template <class T, class F>
void pooled(Word& word, const Pooling& p, T* dst, const T* src, F combine) {
  constexpr std::int64_t kChannelBytes = 128;
  constexpr int kFreeFrom = 592;  // the first machine without that rule
  if (!p.sensible()) word.fault("the window must fit the map, sizes and strides be positive");
  word.require(word.arch().number >= kFreeFrom || bytes_of_lanes<T>(p.channel) % kChannelBytes == 0,
               "the channels must span a multiple of 128 bytes");
  const std::int64_t results = p.out_height() * p.out_width() * p.channel;
  LaneFlags undefined = word.lanes_of(src, p.height * p.width * p.channel);
  if (!undefined.empty()) pool(p, undefined.data(), undefined.data(), std::bit_or<std::uint8_t>());
  undefined.resize(undefined.empty() ? 0 : static_cast<std::size_t>(results));
  word.undefined(std::move(undefined));
  word.destination(dst, results);
  pool(p, src, dst, combine);
}

}  // namespace

#define POOL(name, combine)                                                                               \
  template <class T>                                                                                      \
  void __bang_##name(T* dst, const T* src, std::int64_t channel, std::int64_t height, std::int64_t width, \
                     std::int64_t kernel_height, std::int64_t kernel_width, std::int64_t stride_x,        \
                     std::int64_t stride_y) {                                                             \
    Word word(__func__);                                                                                  \
    pooled(word, {channel, height, width, kernel_height, kernel_width, stride_x, stride_y}, dst, src,     \
           [](auto a, auto b) { return combine; });                                                       \
  }
POOL(sumpool, a + b)
POOL(maxpool, loses(a, a < b) ? b : a)
POOL(minpool, loses(a, b < a) ? b : a)
#undef POOL

template <class T>
void __bang_maxpool_value_index(T* dst, const T* src, std::int64_t channel, std::int64_t height, std::int64_t width,
                                std::int64_t kernel_height, std::int64_t kernel_width, std::int64_t stride_x,
                                std::int64_t stride_y, std::int64_t index_offset) {
  const Pooling p{channel, height, width, kernel_height, kernel_width, stride_x, stride_y};
  Word word(__func__);
  if (!p.sensible()) word.fault("the window must fit the map, sizes and strides be positive");
  const std::int64_t results = p.out_height() * p.out_width() * channel;
  auto* index = reinterpret_cast<std::uint32_t*>(reinterpret_cast<char*>(dst) + index_offset);
  word.decider(src, height * width * channel);
  word.destination(dst, results);
  Core::current().destination(__func__, "index", index, bytes_of_lanes<std::uint32_t>(results));
  std::vector<T> largest(static_cast<std::size_t>(results));
  std::vector<std::uint32_t> where(static_cast<std::size_t>(results));
  for (std::int64_t i = 0; i < results; ++i) {
    const std::int64_t window = i / channel, y = window / p.out_width() * stride_y,
                       x = window % p.out_width() * stride_x;
    const auto value = [&](std::int64_t k) {
      return src[((y + k / kernel_width) * width + x + k % kernel_width) * channel + i % channel];
    };
    std::int64_t best = 0;
    for (std::int64_t k = 1; k < kernel_height * kernel_width; ++k) {
      if (loses(value(best), value(best) < value(k))) best = k;
    }
    largest[static_cast<std::size_t>(i)] = value(best);
    where[static_cast<std::size_t>(i)] = static_cast<std::uint32_t>(best);
  }
  std::copy(largest.begin(), largest.end(), dst);
  std::copy(where.begin(), where.end(), index);
}

#define POOLS(name, T)                                                                                            \
  template void __bang_##name(T*, const T*, std::int64_t, std::int64_t, std::int64_t, std::int64_t, std::int64_t, \
                              std::int64_t, std::int64_t)
#define REAL(T)                                                                                                  \
  POOLS(sumpool, T);                                                                                             \
  POOLS(maxpool, T);                                                                                             \
  POOLS(minpool, T);                                                                                             \
  template void __bang_maxpool_value_index(T*, const T*, std::int64_t, std::int64_t, std::int64_t, std::int64_t, \
                                           std::int64_t, std::int64_t, std::int64_t, std::int64_t)
REAL(half);
REAL(bfloat16_t);
REAL(float);

}  // namespace mluops::emu::bang
