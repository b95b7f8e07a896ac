// DiffIouRotatedSortVertices: the corners of intersections of rectangles, in order round them.
//
// vertices [N,24,2], mask [N,24], idx [N,9]. An item is a pair of rectangles and owns its row of idx. At most 8
// searches for the next of 24 vertices: bound by branches.
#include <algorithm>
#include <cmath>

#include "backends/cpu/dispatch.h"
#include "mluops/problem/diff_iou_rotated.h"

namespace mluops::cpu::diff_iou_rotated {
namespace {

using Problem = mluopsDiffIouRotatedSortVerticesProblem;

constexpr int kVertices = 24, kCorners = 8, kPlaces = 9;
constexpr double kTiny = 1e-8;

template <class T>
struct Vertex {
  T x, y;
};

/// What grows as a vertex goes round half the origin, of one sign of y.
template <class T>
T key(Vertex<T> v) {
  const auto length = static_cast<T>(static_cast<double>(v.x * v.x + v.y * v.y) + kTiny);
  return std::abs(v.x) * v.x / length;
}

template <class T>
bool less(Vertex<T> a, Vertex<T> b) {
  if (std::abs(a.x - b.x) < kTiny && std::abs(b.y - a.y) < kTiny) return false;
  if (a.y > 0 && b.y < 0) return true;
  if (a.y > 0 && b.y > 0) return key(a) - key(b) > kTiny;
  if (a.y < 0 && b.y < 0) return key(a) - key(b) < kTiny;
  return false;
}

/// The least valid vertex, greater than `after` if that is given; 0 if there is none.
template <class T>
std::int32_t next(const Vertex<T>* vertices, const std::uint8_t* mask, const Vertex<T>* after) {
  Vertex<T> least = {T{1}, static_cast<T>(-kTiny)};
  std::int32_t found = 0;
  for (std::int32_t k = 0; k < kVertices; ++k) {
    if (mask[k] == 0 || !less(vertices[k], least)) continue;
    if (after != nullptr && !less(*after, vertices[k])) continue;
    least = vertices[k];
    found = k;
  }
  return found;
}

/// Two rectangles that are the same have each corner twice.
bool twice(const std::int32_t* idx) {
  int again = 0;
  for (int j = 0; j < 4; ++j) again += static_cast<int>(std::count(idx + 4, idx + kCorners, idx[j]));
  return again == 4;
}

template <class T>
void sort(const Vertex<T>* vertices, const std::uint8_t* mask, std::int32_t valid, std::int32_t* idx) {
  const std::uint8_t* const unused = std::find(mask + kCorners, mask + kVertices - 1, 0);
  std::fill_n(idx, kPlaces, static_cast<std::int32_t>(unused - mask));
  if (valid < 3) return;
  const std::int32_t count = std::min(valid, kCorners);
  for (std::int32_t j = 0; j < count; ++j) idx[j] = next(vertices, mask, j == 0 ? nullptr : vertices + idx[j - 1]);
  idx[count] = idx[0];
  if (valid != kCorners || !twice(idx)) return;
  idx[4] = idx[0];
  std::fill_n(idx + 5, 4, static_cast<std::int32_t>(unused - mask));
}

template <class T>
mluOpStatus_t sort_all(Context& context, const mluopsCall& call, const Problem& p) {
  const auto* const vertices = static_cast<const T*>(p.vertices);
  Loop(context, call, p.shape.n, 300 * cost::kStep).run([&](std::int64_t begin, std::int64_t end, int) {
    Vertex<Acc<T>> own[kVertices];
    for (std::int64_t n = begin; n < end; ++n) {
      const T* const from = vertices + 2 * n * kVertices;
      for (int i = 0; i < kVertices; ++i) own[i] = {to_acc(from[2 * i]), to_acc(from[2 * i + 1])};
      sort(own, p.mask + n * kVertices, p.num_valid[n], p.idx + n * kPlaces);
    }
  });
  return MLUOP_STATUS_SUCCESS;
}

}  // namespace
}  // namespace mluops::cpu::diff_iou_rotated

MLUOPS_CPU_ENTRY_OF_ONE_LEVEL(diff_iou_rotated_sort_vertices_forward, diff_iou_rotated, sort_all,
                              mluopsDiffIouRotatedSortVerticesProblem, with_element)
