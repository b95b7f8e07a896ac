// Words that fill, move, transpose, turn, pad, sum and look up.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

#include "backends/mlu_emu/bang/bang.h"
#include "backends/mlu_emu/bang/copies.h"
#include "backends/mlu_emu/bang/nest.h"
#include "backends/mlu_emu/bang/operands.h"

namespace mluops::emu::bang {
namespace {

template <class V>
void fill(const char* name, V* dst, std::int64_t n, V value) {
  Word word(name);
  word.count(n);
  word.destination(dst, n);
  std::fill_n(dst, n, value);
}

constexpr std::int64_t kTile = 16;

template <class T>
void transpose_tile(T* dst, const T* src, std::int64_t h, std::int64_t w, std::int64_t row, std::int64_t column) {
  const std::int64_t row_end = std::min(h, row + kTile), column_end = std::min(w, column + kTile);
  for (std::int64_t j = column; j < column_end; ++j) {
    for (std::int64_t i = row; i < row_end; ++i) dst[j * h + i] = src[i * w + j];
  }
}

template <class T>
void transpose_matrix(T* dst, const T* src, std::int64_t h, std::int64_t w) {
  for (std::int64_t row = 0; row < h; row += kTile) {
    for (std::int64_t column = 0; column < w; column += kTile) transpose_tile(dst, src, h, w, row, column);
  }
}

}  // namespace

template <class V>
void __bang_write_value(void* dst, std::int64_t n, V value) {
  fill(__func__, static_cast<V*>(dst), n, value);
}
template <class V>
void __bang_write_value(void* dst, std::int64_t n, V value, std::int64_t stride1, std::int64_t segments1,
                        std::int64_t stride2, std::int64_t segments2) {
  const Nest rows{stride1, segments1, stride2, segments2};
  if (!rows.sensible()) Word(__func__).fault("the number of pieces must lie in [1, 2^31), strides must fit 32 bits");
  for (std::int64_t i = 0; i < rows.pieces(); ++i) {
    fill(__func__, reinterpret_cast<V*>(static_cast<char*>(dst) + rows.offset(i)), n, value);
  }
}
#define FILL(T)                                             \
  template void __bang_write_value(void*, std::int64_t, T); \
  template void __bang_write_value(void*, std::int64_t, T, std::int64_t, std::int64_t, std::int64_t, std::int64_t)
FILL(char);
FILL(half);
FILL(bfloat16_t);
FILL(float);
FILL(bool);
FILL(std::int8_t);
FILL(std::uint8_t);
FILL(std::int16_t);
FILL(std::uint16_t);
FILL(std::int32_t);
FILL(std::uint32_t);
FILL(std::int64_t);
FILL(std::uint64_t);

void __bang_move(void* dst, const void* src, std::int64_t bytes) {
  Word word(__func__);
  word.lanes(static_cast<char*>(dst), static_cast<const char*>(src), bytes);
  std::memmove(dst, src, static_cast<std::size_t>(std::max<std::int64_t>(0, bytes)));
}

void __bang_move(void* dst, const void* src, std::int64_t bytes, std::int64_t dst_stride, std::int64_t src_stride,
                 std::int64_t segments) {
  Word word(__func__);
  word.count(segments);
  word.require(fits_32_bits(dst_stride) && fits_32_bits(src_stride), "strides must fit 32 bits");
  for (std::int64_t i = 0; i <= segments; ++i) {
    __bang_move(static_cast<char*>(dst) + i * dst_stride, static_cast<const char*>(src) + i * src_stride, bytes);
  }
}

void __bang_move(void* dst, const void* src, std::int64_t bytes, std::int64_t dst_stride1, std::int64_t dst_segments1,
                 std::int64_t dst_stride2, std::int64_t dst_segments2, std::int64_t src_stride1,
                 std::int64_t src_segments1, std::int64_t src_stride2, std::int64_t src_segments2) {
  const Nest to{dst_stride1, dst_segments1, dst_stride2, dst_segments2};
  const Nest from{src_stride1, src_segments1, src_stride2, src_segments2};
  if (!to.sensible() || !from.sensible() || to.pieces() != from.pieces()) {
    Word(__func__).fault("both sides must have as many pieces, fewer than 2^31, and strides of 32 bits");
  }
  for (std::int64_t i = 0; i < to.pieces(); ++i) {
    __bang_move(static_cast<char*>(dst) + to.offset(i), static_cast<const char*>(src) + from.offset(i), bytes);
  }
}

void __bang_tiling_3d_b1024(void* dst, const void* src, std::int64_t n5, std::int64_t s5, std::int64_t n4,
                            std::int64_t s4, std::int64_t n3, std::int64_t s3, std::int64_t n10, std::int64_t s10,
                            std::int64_t n9, std::int64_t s9, std::int64_t n8, std::int64_t s8, std::int64_t op) {
  constexpr std::int64_t kStride = 64, kUnit = 128, kMost = 1 << 16;
  const Word word(__func__);
  for (const std::int64_t count : {n3, n4, n5, n8, n9, n10, op}) {
    word.require(count > 0 && count <= kMost, "counts must lie in [1, 65536]");
  }
  for (const std::int64_t stride : {s3, s4, s5, s8, s9, s10}) {
    word.require(stride >= 0 && stride <= kMost, "strides must lie in [0, 65536]");
  }
  word.require(n3 * n4 * n5 == n8 * n9 * n10, "both sides must have as many pieces");
  for (std::int64_t i = 0; i < n3 * n4 * n5; ++i) {
    const std::int64_t from = i % n3 * s3 + i / n3 % n4 * s4 + i / n3 / n4 * s5;
    const std::int64_t to = i % n8 * s8 + i / n8 % n9 * s9 + i / n8 / n9 * s10;
    __bang_move(static_cast<char*>(dst) + to * kStride, static_cast<const char*>(src) + from * kStride, op * kUnit);
  }
}

template <class T>
void __bang_transpose(T* dst, const T* src, std::int64_t h, std::int64_t w) {
  Word word(__func__);
  word.require(h >= 0 && w >= 0, "height and width must not be negative");
  word.require(dst + h * w <= src || src + h * w <= dst, "it cannot work in place");
  const LaneFlags undefined = word.lanes_of(src, h * w);
  LaneFlags turned(undefined.size());
  if (!undefined.empty()) transpose_matrix(turned.data(), undefined.data(), h, w);
  word.undefined(std::move(turned));
  word.destination(dst, h * w);
  transpose_matrix(dst, src, h, w);
}

/// dst = the lanes of src, of which lane i goes to place(i); places no lane goes to are `filler`. dst is not src.
template <class T, class Place>
void rearrange(const char* name, T* dst, std::int64_t dst_n, const T* src, std::int64_t src_n, Place place,
               T filler = T(0)) {
  Word word(name);
  word.count(src_n);
  word.count(dst_n);
  word.require(dst + dst_n <= src || src + src_n <= dst, "it cannot work in place");
  const LaneFlags undefined = word.lanes_of(src, src_n);
  LaneFlags moved(undefined.empty() ? 0 : static_cast<std::size_t>(dst_n));
  for (std::size_t i = 0; i < undefined.size(); ++i) {
    moved[static_cast<std::size_t>(place(static_cast<std::int64_t>(i)))] = undefined[i];
  }
  word.undefined(std::move(moved));
  word.destination(dst, dst_n);
  if (dst_n > src_n) std::fill_n(dst, dst_n, filler);
  for (std::int64_t i = 0; i < src_n; ++i) dst[place(i)] = src[i];
}

template <class T>
void __bang_rotate90(T* dst, const T* src, std::int64_t h, std::int64_t w) {
  rearrange(__func__, dst, h * w, src, h * w, [=](std::int64_t i) { return i % w * h + (h - 1 - i / w); });
}
template <class T>
void __bang_rotate180(T* dst, const T* src, std::int64_t h, std::int64_t w) {
  rearrange(__func__, dst, h * w, src, h * w, [=](std::int64_t i) { return h * w - 1 - i; });
}
template <class T>
void __bang_rotate270(T* dst, const T* src, std::int64_t h, std::int64_t w) {
  rearrange(__func__, dst, h * w, src, h * w, [=](std::int64_t i) { return (w - 1 - i % w) * h + i / w; });
}
template <class T>
void __bang_mirror(T* dst, const T* src, std::int64_t h, std::int64_t w) {
  rearrange(__func__, dst, h * w, src, h * w, [=](std::int64_t i) { return i / w * w + (w - 1 - i % w); });
}
template <class T>
void __bang_pad(T* dst, const T* src, std::int64_t channel, std::int64_t h, std::int64_t w, std::int64_t top,
                std::int64_t bottom, std::int64_t left, std::int64_t right, ValueOf<T> value) {
  const std::int64_t row = (left + w + right) * channel;
  const auto place = [=](std::int64_t i) {
    return (top + i / (w * channel)) * row + left * channel + i % (w * channel);
  };
  rearrange(__func__, dst, (top + h + bottom) * row, src, h * w * channel, place, value);
}
template <class T>
void __bang_reshape_nhwc2nchw(T* dst, const T* src, std::int64_t n, std::int64_t h, std::int64_t w, std::int64_t c) {
  rearrange(__func__, dst, n * h * w * c, src, n * h * w * c, [=](std::int64_t i) {
    const std::int64_t channel = i % c, pixel = i / c % (h * w), image = i / (h * w * c);
    return (image * c + channel) * h * w + pixel;
  });
}
template <class T>
void __bang_reshape_nchw2nhwc(T* dst, const T* src, std::int64_t n, std::int64_t h, std::int64_t w, std::int64_t c) {
  rearrange(__func__, dst, n * h * w * c, src, n * h * w * c, [=](std::int64_t i) {
    const std::int64_t pixel = i % (h * w), channel = i / (h * w) % c, image = i / (h * w * c);
    return (image * h * w + pixel) * c + channel;
  });
}
#define REARRANGE(T)                                                                                            \
  template void __bang_transpose(T*, const T*, std::int64_t, std::int64_t);                                     \
  template void __bang_rotate90(T*, const T*, std::int64_t, std::int64_t);                                      \
  template void __bang_rotate180(T*, const T*, std::int64_t, std::int64_t);                                     \
  template void __bang_rotate270(T*, const T*, std::int64_t, std::int64_t);                                     \
  template void __bang_mirror(T*, const T*, std::int64_t, std::int64_t);                                        \
  template void __bang_reshape_nhwc2nchw(T*, const T*, std::int64_t, std::int64_t, std::int64_t, std::int64_t); \
  template void __bang_reshape_nchw2nhwc(T*, const T*, std::int64_t, std::int64_t, std::int64_t, std::int64_t); \
  template void __bang_pad(T*, const T*, std::int64_t, std::int64_t, std::int64_t, std::int64_t, std::int64_t,  \
                           std::int64_t, std::int64_t, ValueOf<T>)
REARRANGE(char);
REARRANGE(half);
REARRANGE(bfloat16_t);
REARRANGE(float);
REARRANGE(std::int8_t);
REARRANGE(std::uint8_t);
REARRANGE(std::int16_t);
REARRANGE(std::uint16_t);
REARRANGE(std::int32_t);
REARRANGE(std::uint32_t);

namespace {

/// A sum of halves that is infinite though none of them was.
template <class T>
void look_for_infinite_sum(T sum, const T* of, std::int64_t n) {
  if constexpr (std::is_same_v<T, half>) {
    const auto finite = [](half h) { return std::isfinite(static_cast<float>(h)); };
    if (std::isinf(static_cast<float>(sum)) && std::all_of(of, of + n, finite)) half_overflowed();
  }
}

}  // namespace

template <class T>
T __bang_sum(const T* src, std::int64_t n) {
  Core& core = Core::current();
  Word word(__func__);
  word.count(n);
  word.decider(src, n);
  core.computed(__func__, bytes_of_lanes<T>(n), n, n);
  T sum = 0;
  for (std::int64_t i = 0; i < n; ++i) sum = sum + src[i];
  look_for_infinite_sum(sum, src, n);
  return sum;
}
template half __bang_sum(const half*, std::int64_t);
template bfloat16_t __bang_sum(const bfloat16_t*, std::int64_t);
template float __bang_sum(const float*, std::int64_t);

template <class T>
void __bang_reduce_sum(T* dst, const T* src, std::int64_t n) {
  constexpr std::int64_t kSegment = 128 / static_cast<std::int64_t>(sizeof(T));
  Core& core = Core::current();
  Word word(__func__);
  word.count(n);
  word.require(n % kSegment == 0, "the source must have a multiple of 128 bytes");
  const LaneFlags undefined = word.lanes_of(src, n);
  core.computed(__func__, bytes_of_lanes<T>(n), n, n);
  for (std::int64_t at = 0; at < n; at += kSegment) {
    const std::int64_t end = std::min(n, at + kSegment);
    T sum = src[at];
    for (std::int64_t i = at + 1; i < end; ++i) sum = sum + src[i];
    look_for_infinite_sum(sum, src + at, end - at);
    core.destination(__func__, "destination", dst + at, sizeof(T));
    dst[at] = sum;
    const auto flags = undefined.begin() + static_cast<std::ptrdiff_t>(undefined.empty() ? 0 : at);
    const bool known = undefined.empty() || std::all_of(flags, flags + (end - at), [](auto f) { return f == 0; });
    if (!known) core.forget(dst + at, sizeof(T), {kUndefinedLane});
  }
}
template void __bang_reduce_sum(half*, const half*, std::int64_t);
template void __bang_reduce_sum(bfloat16_t*, const bfloat16_t*, std::int64_t);
template void __bang_reduce_sum(float*, const float*, std::int64_t);

template <class T, class I>
void __bang_lut(T* dst, const I* index, const T* table, std::int64_t n, std::int64_t table_n) {
  constexpr std::int64_t kTableUnit = 64;
  Word word(__func__);
  word.count(n);
  word.require(table_n > 0 && table_n % kTableUnit == 0, "the table must have a multiple of 64 elements");
  const LaneFlags entries = word.lanes_of(table, table_n, "table");
  LaneFlags missing = word.lanes_of(index, n, "index");
  const LaneFlags kept = word.kept_lanes(dst, n);  // an index outside of the table leaves them
  const auto set_undefined = [&](std::int64_t i, std::uint8_t flag) {
    missing.resize(static_cast<std::size_t>(n));
    missing[static_cast<std::size_t>(i)] = flag;
  };
  word.destination(dst, n);
  for (std::int64_t i = 0; i < n; ++i) {
    if (!missing.empty() && missing[static_cast<std::size_t>(i)] != 0) continue;
    const auto at = static_cast<std::int64_t>(index[i]);
    if (at < 0 || at >= table_n) {
      if (!kept.empty()) set_undefined(i, kept[static_cast<std::size_t>(i)]);
      continue;
    }
    dst[i] = table[at];
    if (!entries.empty()) set_undefined(i, entries[static_cast<std::size_t>(at)]);
  }
  word.undefined(std::move(missing));
}
#define LUT(T, I) template void __bang_lut(T*, const I*, const T*, std::int64_t, std::int64_t)
#define LUTS(I)          \
  LUT(half, I);          \
  LUT(float, I);         \
  LUT(std::int16_t, I);  \
  LUT(std::int32_t, I);  \
  LUT(std::uint16_t, I); \
  LUT(std::uint32_t, I)
LUTS(std::uint8_t);
LUTS(std::int16_t);
LUTS(std::uint16_t);
LUTS(std::int32_t);
LUTS(std::uint32_t);

}  // namespace mluops::emu::bang
