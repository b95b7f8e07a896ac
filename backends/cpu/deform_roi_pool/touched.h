// DeformRoiPool in NCHW by way of NHWC: which pixels of the map the bins of a call lie on.
#pragma once

#include "backends/cpu/deform_roi_pool/geometry.h"
#include "backends/cpu/deform_roi_pool/order.h"
#include "backends/cpu/layout/nchw.h"
#include "backends/cpu/runtime/path.h"

namespace mluops::cpu::deform_roi_pool {

/// Marks the blocks of pixels that samples of a bin may lie on.
inline void mark_bin(const Shape& s, const layout::PixelBlocks& cut, std::int64_t batch, PixelRange y, PixelRange x,
                     std::uint8_t* marks) {
  if (x.first >= x.last) return;
  std::uint8_t* const image = marks + batch * cut.per_image();
  for (std::int64_t row = y.first; row < y.last; ++row) {
    const std::int64_t first = (row * s.w + x.first) / cut.kPixels, last = (row * s.w + x.last - 1) / cut.kPixels;
    for (std::int64_t i = first; i <= last; ++i) image[i] = 1;
  }
}

/// Marks those of all bins. Without offset the bins of a RoI are next to each other: it is marked as one.
template <class T, class Problem>
void mark_pixels(const Problem& p, const layout::PixelBlocks& cut, std::uint8_t* marks, std::byte* room) {
  const Shape& s = p.shape;
  auto* const rois = reinterpret_cast<Roi<Acc<T>>*>(room);
  read_rois<T>(s, p.rois, rois);
  const Bins<T> bins(s, p.offset, rois);
  if (!bins.aligned()) {
    bins.for_each(0, bins.count(), [&](const BinPlace& at) {
      mark_bin(s, cut, rois[at.roi].batch, bins.y(at).pixels(s.h), bins.x(at).pixels(s.w), marks);
    });
    return;
  }
  for (std::int64_t roi = 0; roi < s.rois; ++roi) {
    const BinPlace first = {roi * bins.plane(), roi, 0, 0};
    const BinPlace last = {(roi + 1) * bins.plane() - 1, roi, s.pooled_h - 1, s.pooled_w - 1};
    mark_bin(s, cut, rois[roi].batch, bins.y(first).pixels_to(bins.y(last), s.h),
             bins.x(first).pixels_to(bins.x(last), s.w), marks);
  }
}

/// Where RoIs cover the map about once, all of it is transposed.
template <class T, class Problem>
Fit touched_applies(const Context&, const mluopsCall&, const Problem& p) {
  return fit(true, !crowded<T>(p.shape, p.rois));
}

template <class T, auto run, class Problem>
mluOpStatus_t run_touched(Context& context, const mluopsCall& call, const Problem& p) {
  const Shape& s = p.shape;
  return layout::run_touched<run, mark_pixels<T, Problem>>(context, call, p, {s.batch, s.h * s.w},
                                                           s.rois * static_cast<std::int64_t>(sizeof(Roi<Acc<T>>)));
}

}  // namespace mluops::cpu::deform_roi_pool
