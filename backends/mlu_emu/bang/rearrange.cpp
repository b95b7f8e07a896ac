// Words that fill, move, transpose, pool, sum and look up.
#include <cstring>
#include <vector>

#include "backends/mlu_emu/bang/bang.h"
#include "backends/mlu_emu/bang/operands.h"

namespace mluops::emu::bang {
namespace {

constexpr std::int64_t kLine = 64;  // bytes a transpose moves at least

template <class V>
void fill(const char* name, V* dst, std::int64_t n, V value) {
  const Word word(name);
  word.count(n);
  word.destination(dst, n);
  std::fill_n(dst, n, value);
}

template <class T>
void transpose_tile(T* dst, const T* src, std::int64_t h, std::int64_t w, std::int64_t row, std::int64_t column) {
  constexpr std::int64_t kTile = 16;
  const std::int64_t row_end = std::min(h, row + kTile), column_end = std::min(w, column + kTile);
  for (std::int64_t j = column; j < column_end; ++j) {
    for (std::int64_t i = row; i < row_end; ++i) dst[j * h + i] = src[i * w + j];
  }
}

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

/// Sum of the window at (y, x), kept aside because dst may be src.
template <class T>
void pool_window(const Pooling& p, const T* src, std::int64_t y, std::int64_t x, T* sum) {
  bool first = true;
  for (std::int64_t i = y; i < y + p.kernel_height; ++i) {
    for (std::int64_t j = x; j < x + p.kernel_width; ++j) {
      const T* lane = src + (i * p.width + j) * p.channel;
      if (first) {
        std::copy_n(lane, p.channel, sum);
      } else {
        map(sum, sum, lane, p.channel, [](auto a, auto b) { return a + b; });
      }
      first = false;
    }
  }
}

}  // namespace

template <class V>
void __bang_write_value(void* dst, std::int64_t n, V value) {
  fill(__func__, static_cast<V*>(dst), n, value);
}
template <class T>
void __memset_nram(T* dst, std::int64_t n, ValueOf<T> value) {
  fill(__func__, dst, n, value);
}
#define FILL(T)                                             \
  template void __bang_write_value(void*, std::int64_t, T); \
  template void __memset_nram(T*, std::int64_t, ValueOf<T>)
FILL(half);
FILL(float);
FILL(std::int8_t);
FILL(std::uint8_t);
FILL(std::int16_t);
FILL(std::uint16_t);
FILL(std::int32_t);
FILL(std::uint32_t);

void __bang_move(void* dst, const void* src, std::int64_t bytes) {
  Word(__func__).lanes(static_cast<char*>(dst), static_cast<const char*>(src), bytes);
  std::memmove(dst, src, static_cast<std::size_t>(std::max<std::int64_t>(0, bytes)));
}

template <class T>
void __bang_transpose(T* dst, const T* src, std::int64_t h, std::int64_t w) {
  const Word word(__func__);
  word.require(h >= 0 && w >= 0, "height and width must not be negative");
  word.require(bytes_of_lanes<T>(h) % kLine == 0 && bytes_of_lanes<T>(w) % kLine == 0,
               "height and width must each span a multiple of 64 bytes");
  word.require(dst + h * w <= src || src + h * w <= dst, "it cannot work in place");
  word.source(src, h * w);
  word.destination(dst, h * w);
  constexpr std::int64_t kTile = 16;
  for (std::int64_t row = 0; row < h; row += kTile) {
    for (std::int64_t column = 0; column < w; column += kTile) transpose_tile(dst, src, h, w, row, column);
  }
}
template void __bang_transpose(half*, const half*, std::int64_t, std::int64_t);
template void __bang_transpose(float*, const float*, std::int64_t, std::int64_t);
template void __bang_transpose(std::int16_t*, const std::int16_t*, std::int64_t, std::int64_t);
template void __bang_transpose(std::int32_t*, const std::int32_t*, std::int64_t, std::int64_t);

template <class T>
void __bang_sumpool(T* dst, const T* src, std::int64_t channel, std::int64_t height, std::int64_t width,
                    std::int64_t kernel_height, std::int64_t kernel_width, std::int64_t stride_x,
                    std::int64_t stride_y) {
  constexpr std::int64_t kChannelBytes = 128;
  const Word word(__func__);
  const Pooling p{channel, height, width, kernel_height, kernel_width, stride_x, stride_y};
  if (!p.sensible()) word.fault("the window must fit the map, sizes and strides be positive");
  word.require(bytes_of_lanes<T>(channel) % kChannelBytes == 0, "the channels must span a multiple of 128 bytes");
  word.source(src, height * width * channel);
  word.destination(dst, p.out_height() * p.out_width() * channel);
  thread_local std::vector<T> sum;
  sum.resize(static_cast<std::size_t>(channel));
  for (std::int64_t y = 0; y < p.out_height(); ++y) {
    for (std::int64_t x = 0; x < p.out_width(); ++x) {
      pool_window(p, src, y * stride_y, x * stride_x, sum.data());
      std::copy(sum.begin(), sum.end(), dst + (y * p.out_width() + x) * channel);
    }
  }
}
template void __bang_sumpool(half*, const half*, std::int64_t, std::int64_t, std::int64_t, std::int64_t, std::int64_t,
                             std::int64_t, std::int64_t);
template void __bang_sumpool(float*, const float*, std::int64_t, std::int64_t, std::int64_t, std::int64_t, std::int64_t,
                             std::int64_t, std::int64_t);

template <class T>
T __bang_sum(const T* src, std::int64_t n) {
  Core& core = Core::current();
  const Word word(__func__);
  word.count(n);
  word.source(src, n);
  core.computed(__func__, bytes_of_lanes<T>(n), n);
  T sum = 0;
  for (std::int64_t i = 0; i < n; ++i) sum = sum + src[i];
  return sum;
}
template half __bang_sum(const half*, std::int64_t);
template float __bang_sum(const float*, std::int64_t);

template <class T, class I>
void __bang_lut(T* dst, const I* index, const T* table, std::int64_t n, std::int64_t table_n) {
  constexpr std::int64_t kTableUnit = 64;
  const Word word(__func__);
  word.count(n);
  word.require(table_n > 0 && table_n % kTableUnit == 0, "the table must have a multiple of 64 elements");
  word.source(index, n, "index");
  word.source(table, table_n, "table");
  word.destination(dst, n);
  for (std::int64_t i = 0; i < n; ++i) {
    const auto at = static_cast<std::int64_t>(index[i]);
    if (at < 0 || at >= table_n) {
      word.fault("index " + std::to_string(at) + " of lane " + std::to_string(i) + " is outside of the table's " +
                 std::to_string(table_n) + " elements");
    }
    dst[i] = table[at];
  }
}
#define LUT(T, I) template void __bang_lut(T*, const I*, const T*, std::int64_t, std::int64_t)
#define LUTS(I)          \
  LUT(half, I);          \
  LUT(float, I);         \
  LUT(std::int16_t, I);  \
  LUT(std::int32_t, I);  \
  LUT(std::uint16_t, I); \
  LUT(std::uint32_t, I)
LUTS(std::int16_t);
LUTS(std::uint16_t);
LUTS(std::int32_t);
LUTS(std::uint32_t);

}  // namespace mluops::emu::bang
