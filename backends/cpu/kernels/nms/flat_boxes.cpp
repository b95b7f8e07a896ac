// Hard non-maximum suppression of boxes of 7 numbers, as seen from above, in the order they have. Without vectors, so
// compiled once. How it runs: spatial/flat_suppression.h.
#include "backends/cpu/dispatch.h"
#include "backends/cpu/kernels/nms/boxes.h"
#include "backends/cpu/spatial/flat_suppression.h"

namespace mluops::cpu::nms {
namespace {

template <class T>
mluOpStatus_t suppress_flat(Context& context, const mluopsCall& call, const mluopsNmsProblem& p) {
  const bool columns = p.transposed != 0;
  const flat_box::Source<T> boxes{static_cast<const T*>(p.boxes), p.shape.boxes, columns ? 1 : 7,
                                  columns ? p.shape.boxes : 1};
  std::int64_t count = 0;
  mluOpStatus_t status = MLUOP_STATUS_SUCCESS;
  with_indices(p.shape, p.output, [&]<class I>(I* out) {
    status = flat_box::suppress(context, call, boxes, static_cast<Acc<T>>(p.shape.iou_threshold), true,
                                [&](std::int64_t i) { out[count++] = static_cast<I>(i); });
  });
  if (status == MLUOP_STATUS_SUCCESS) *p.output_size = static_cast<std::int32_t>(count);
  return status;
}

}  // namespace

mluOpStatus_t flat_boxes(Context& context, const mluopsCall& call, const mluopsNmsProblem& p) {
  return with_element(call, p.shape.dtype,
                      [&](auto tag) { return suppress_flat<typename decltype(tag)::type>(context, call, p); });
}

}  // namespace mluops::cpu::nms
