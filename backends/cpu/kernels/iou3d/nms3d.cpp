// Nms3d: keeps each box whose IoU with every box kept before, seen from above, is not greater than a threshold.
//
// boxes [N,7], keep [N]. How it runs: spatial/flat_suppression.h.
#include <algorithm>

#include "backends/cpu/dispatch.h"
#include "backends/cpu/spatial/flat_suppression.h"
#include "mluops/problem/iou3d.h"

namespace mluops::cpu::iou3d {
namespace {

template <class T>
mluOpStatus_t suppress(Context& context, const mluopsCall& call, const mluopsNms3dProblem& p) {
  const mluopsNms3dShape& s = p.shape;
  const flat_box::Source<T> boxes{static_cast<const T*>(p.boxes), s.n, 7, 1};
  std::int64_t count = 0;
  const mluOpStatus_t status =
      flat_box::suppress(context, call, boxes, static_cast<Acc<T>>(p.exact_iou_threshold), s.rotated != 0,
                         [&](std::int64_t i) { p.keep[count++] = static_cast<std::int32_t>(i); });
  if (status != MLUOP_STATUS_SUCCESS) return status;
  std::fill(p.keep + count, p.keep + s.n, 0);
  *p.num_out = static_cast<std::int32_t>(count);
  return MLUOP_STATUS_SUCCESS;
}

}  // namespace
}  // namespace mluops::cpu::iou3d

MLUOPS_CPU_ENTRY_OF_ONE_LEVEL(nms3d, iou3d, suppress, mluopsNms3dProblem, with_element)
