// Copies of rows, as device code.
#pragma once

#include <cstdint>
#include <limits>

#include "backends/mlu_emu/bang/bang.h"

namespace mluops::emu {

/// Distances in bytes from one row to the next.
struct RowStrides {
  std::int64_t to, from;
};

/// Has `copy` (a __memcpy) do `rows` rows of `bytes` each: in one piece when they lie end to end on both sides, row by
/// row when a stride leaves the 32 bits the device has for it.
template <class Copy>
void copy_rows_by(const Copy& copy, void* to, const void* from, std::int64_t bytes, std::int64_t rows,
                  RowStrides stride, mluMemcpyDirection_t direction) {
  constexpr std::int64_t kLargestStride = std::numeric_limits<std::int32_t>::max();
  if (rows == 1 || (stride.to == bytes && stride.from == bytes)) {
    copy(to, from, bytes * rows, direction);
  } else if (stride.to <= kLargestStride && stride.from <= kLargestStride) {
    copy(to, from, bytes, direction, stride.to, stride.from, rows - 1);
  } else {
    for (std::int64_t row = 0; row < rows; ++row)
      copy(static_cast<char*>(to) + row * stride.to, static_cast<const char*>(from) + row * stride.from, bytes,
           direction);
  }
}

/// At once.
inline void copy_rows(void* to, const void* from, std::int64_t bytes, std::int64_t rows, RowStrides stride,
                      mluMemcpyDirection_t direction) {
  copy_rows_by([](auto... arguments) { __memcpy(arguments...); }, to, from, bytes, rows, stride, direction);
}

/// Queued: done at the next barrier.
inline void queue_rows(void* to, const void* from, std::int64_t bytes, std::int64_t rows, RowStrides stride,
                       mluMemcpyDirection_t direction) {
  copy_rows_by([](auto... arguments) { __memcpy_async(arguments...); }, to, from, bytes, rows, stride, direction);
}

/// Bytes of `count` elements of T.
template <class T>
constexpr std::int64_t bytes_of(std::int64_t count) {
  return count * static_cast<std::int64_t>(sizeof(T));
}

}  // namespace mluops::emu
