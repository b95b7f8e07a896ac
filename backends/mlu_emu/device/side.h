// The ranges of memory a copy reads and writes.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "backends/mlu_emu/device/core.h"

namespace mluops::emu {

/// One side of a copy: `pieces` ranges of `bytes`, `stride` apart or listed one by one.
struct Side {
  const char* begin;
  std::int64_t bytes, pieces, stride;
  const std::vector<Piece>* list;
  const char* (*address)(const Piece&);

  bool dense() const { return list == nullptr && (pieces <= 1 || stride == bytes); }
  /// Bytes from the first to the last, for strides >= 0.
  std::int64_t extent() const { return (pieces - 1) * stride + bytes; }
};

inline Side to_side(const Copy& c) {
  return {c.dst, c.bytes, c.pieces, c.dst_stride, c.list.get(), [](const Piece& p) -> const char* { return p.dst; }};
}
inline Side from_side(const Copy& c) {
  const std::int64_t pieces = c.fills() ? 0 : c.pieces;
  return {
      c.src, c.bytes, pieces, c.src_stride, c.fills() ? nullptr : c.list.get(), [](const Piece& p) { return p.src; }};
}

/// Calls visit(address, bytes) for each contiguous range of a side.
template <class Visit>
void for_each_range(const Side& s, Visit&& visit) {
  if (s.pieces == 0) return;
  if (s.dense()) return visit(s.begin, s.bytes * s.pieces);
  for (std::int64_t i = 0; i < s.pieces; ++i) {
    visit(s.list == nullptr ? s.begin + i * s.stride : s.address((*s.list)[static_cast<std::size_t>(i)]), s.bytes);
  }
}

inline bool any_overlaps(const std::vector<Piece>& list, const Side& s, const char* begin, std::int64_t bytes) {
  return std::any_of(list.begin(), list.end(), [&](const Piece& p) {
    const char* at = s.address(p);
    return at < begin + bytes && begin < at + s.bytes;
  });
}

inline bool overlaps(const Side& s, const char* begin, std::int64_t bytes) {
  if (s.pieces == 0) return false;
  if (s.list != nullptr) return any_overlaps(*s.list, s, begin, bytes);
  const std::int64_t first = begin - s.begin;  // in bytes from the side's start
  if (first >= s.extent() || first + bytes <= 0) return false;
  if (s.dense() || s.stride < s.bytes) return true;
  const std::int64_t piece = std::max<std::int64_t>(0, (first - s.bytes) / s.stride);
  for (std::int64_t i = piece; i < s.pieces && i * s.stride < first + bytes; ++i) {
    if (i * s.stride + s.bytes > first) return true;
  }
  return false;
}

}  // namespace mluops::emu
