// BoxIouQuadri and ConvexIou: IoU of quadrilaterals with quadrilaterals, or with the convex hulls of point sets.
//
// bbox1 [N,8], bbox2 [M,8], ious [N,M] or [N]; pointsets [N,18], polygons [K,8], ious [N,K]. What a pair needs of the
// second list is made once. An item is a polygon of the first list and owns its row. Two polygons far apart cost four
// comparisons, others some 300 flops that branch, in double.
#include "backends/cpu/dispatch.h"
#include "backends/cpu/kernels/polygons/hull.h"
#include "mluops/problem/polygons.h"

namespace mluops::cpu::polygons {
namespace {

/// rows(begin, end, quads) for chunks of n items, each against all m quadrilaterals.
template <class T, class Rows>
mluOpStatus_t against_all(Context& context, const mluopsCall& call, std::int64_t n, const void* list, std::int64_t m,
                          const Rows& rows) {
  Quadrilateral* const quads = context.arena.reserve_array<Quadrilateral>(m);
  if (quads == nullptr) return no_memory(call);
  Loop(context, call, m, 30 * cost::kStep).run([&](std::int64_t begin, std::int64_t end, int) {
    for (std::int64_t j = begin; j < end; ++j) quads[j] = Quadrilateral::of(static_cast<const T*>(list) + 8 * j);
  });
  Loop(context, call, n, 10 * cost::kStep * static_cast<double>(m)).run([&](std::int64_t begin, std::int64_t end, int) {
    rows(begin, end, quads);
  });
  return MLUOP_STATUS_SUCCESS;
}

template <class T>
T ratio(const Quadrilateral& a, const Quadrilateral& b, bool of_first) {
  const polygon::Shares both = shares(a, b);
  return as_element<T>(!of_first ? both.iou() : both.area > 0 ? both.area / a.area() : 0);
}

template <class T>
mluOpStatus_t quadri(Context& context, const mluopsCall& call, const mluopsBoxIouProblem& p) {
  const auto& s = p.shape;
  const auto quad = [](const void* list, std::int64_t i) {
    return Quadrilateral::of(static_cast<const T*>(list) + 8 * i);
  };
  if (s.aligned != 0) {
    Loop(context, call, s.n, 100 * cost::kStep).run([&](std::int64_t begin, std::int64_t end, int) {
      for (std::int64_t i = begin; i < end; ++i) {
        static_cast<T*>(p.ious)[i] = ratio<T>(quad(p.bbox1, i), quad(p.bbox2, i), s.mode != 0);
      }
    });
    return MLUOP_STATUS_SUCCESS;
  }
  return against_all<T>(context, call, s.n, p.bbox2, s.m,
                        [&](std::int64_t begin, std::int64_t end, const Quadrilateral* quads) {
                          for (std::int64_t i = begin; i < end; ++i) {
                            const Quadrilateral own = quad(p.bbox1, i);
                            T* const row = static_cast<T*>(p.ious) + i * s.m;
                            for (std::int64_t j = 0; j < s.m; ++j) row[j] = ratio<T>(own, quads[j], s.mode != 0);
                          }
                        });
}

template <class T>
mluOpStatus_t sets(Context& context, const mluopsCall& call, const mluopsConvexIouProblem& p) {
  const auto& s = p.shape;
  return against_all<T>(
      context, call, s.n, p.polygons, s.k, [&](std::int64_t begin, std::int64_t end, const Quadrilateral* quads) {
        for (std::int64_t i = begin; i < end; ++i) {
          const SetHull own(read_set(static_cast<const T*>(p.pointsets) + 2 * std::int64_t{kPoints} * i));
          T* const row = static_cast<T*>(p.ious) + i * s.k;
          for (std::int64_t j = 0; j < s.k; ++j) {
            row[j] = as_element<T>(shares(quads[j], own.convex, own.area, own.bounds).iou());
          }
        }
      });
}

}  // namespace
}  // namespace mluops::cpu::polygons

MLUOPS_CPU_ENTRY_OF_ONE_LEVEL(box_iou_quadri, polygons, quadri, mluopsBoxIouProblem, with_element)
MLUOPS_CPU_ENTRY_OF_ONE_LEVEL(convex_iou, polygons, sets, mluopsConvexIouProblem, with_element)
