#include "test/reference/yolo_box.h"

#include <cmath>

namespace mluops::reference {
namespace {

double logistic(double x) {
  return 0.5 * (1 + std::tanh(x / 2));
}

}  // namespace

YoloBoxResult yolo_box(const mluopsYoloBoxProblem& p) {
  const mluopsYoloBoxShape& s = p.shape;
  const std::int64_t pixels = s.h * s.w, numbers = 5 + s.classes, ious = p.iou_aware != 0 ? s.anchors : 0;
  const Values x = decode(s.dtype, p.x, s.n * (ious + s.anchors * numbers) * pixels);
  YoloBoxResult r{Values(static_cast<std::size_t>(s.n * s.anchors * 4 * pixels), 0.0),
                  Values(static_cast<std::size_t>(s.n * s.anchors * s.classes * pixels), 0.0)};
  for (std::int64_t n = 0; n < s.n; ++n) {
    const double size[2] = {static_cast<double>(p.img_size[2 * n + 1]), static_cast<double>(p.img_size[2 * n])};
    for (std::int64_t a = 0; a < s.anchors; ++a) {
      for (std::int64_t i = 0; i < pixels; ++i) {
        const auto channel = [&](std::int64_t c) { return x[(n * (ious + s.anchors * numbers) + c) * pixels + i]; };
        const auto own = [&](std::int64_t c) { return channel(ious + a * numbers + c); };
        double confidence = logistic(own(4));
        if (ious != 0) {
          confidence =
              std::pow(confidence, 1 - p.iou_aware_factor) * std::pow(logistic(channel(a)), p.iou_aware_factor);
        }
        if (confidence < p.conf_thresh) continue;
        const double cells[2] = {static_cast<double>(s.w), static_cast<double>(s.h)};
        const double at[2] = {static_cast<double>(i % s.w), static_cast<double>(i / s.w)};
        for (std::int64_t axis = 0; axis < 2; ++axis) {
          const double middle = (logistic(own(axis)) - 0.5) * p.scale + 0.5 + at[axis];
          const double length = std::exp(own(2 + axis)) * static_cast<double>(p.anchors[2 * a + axis]) * size[axis] /
                                (p.downsample_ratio * cells[axis]);
          double low = middle * size[axis] / cells[axis] - length / 2, high = low + length;
          if (std::isinf(length)) high = middle * size[axis] / cells[axis] + length / 2;
          if (p.clip_bbox != 0) {
            low = std::fmax(low, 0.0);  // NaN becomes the bound
            high = std::fmin(high, size[axis] - 1);
          }
          r.boxes[((n * s.anchors + a) * 4 + axis) * pixels + i] = low;
          r.boxes[((n * s.anchors + a) * 4 + 2 + axis) * pixels + i] = high;
        }
        for (std::int64_t c = 0; c < s.classes; ++c) {
          r.scores[((n * s.anchors + a) * s.classes + c) * pixels + i] = confidence * logistic(own(5 + c));
        }
      }
    }
  }
  return r;
}

}  // namespace mluops::reference
