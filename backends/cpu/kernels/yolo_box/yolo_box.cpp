// YoloBox: boxes and scores of classes out of the map of a YOLO head.
//
// x [N,C,H,W], boxes [N,S,4,H*W], scores [N,S,classes,H*W]. An item is a run of pixels of one anchor of one image and
// owns their boxes and scores: first the confidence and box of each, then the scores, class by class, in vectors of
// pixels. Logits of pixels below the threshold, which are most of a trained network's, are not read where a whole
// vector is. An exponential and a quotient per score: bound by arithmetic, or by the zeros written.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/kernels/yolo_box/yolo_box.cpp"
#include <hwy/foreach_target.h>

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "backends/cpu/dispatch.h"
#include "backends/cpu/simd/simd-inl.h"
#include "mluops/problem/yolo_box.h"

#include <hwy/contrib/math/math-inl.h>

HWY_BEFORE_NAMESPACE();
namespace mluops::cpu::yolo_box::HWY_NAMESPACE {
using namespace cpu::HWY_NAMESPACE;
namespace {

using Problem = mluopsYoloBoxProblem;
using Shape = mluopsYoloBoxShape;

constexpr std::int64_t kRun = 256;  ///< pixels of an item
constexpr double kMostLogit = 1e4;  ///< exp(-kMostLogit) is 0 in every type
constexpr double kDropped = -1;     ///< the confidence of a pixel below the threshold

template <class A>
A sigmoid(A x) {
  return 1 / (1 + std::exp(-x));
}

/// The logits of an anchor: those of a pixel are `pixels` apart, x and y first.
template <class T>
struct Anchor {
  const Problem& p;
  std::int64_t image, anchor, pixels;
  const T *logits, *iou;  ///< iou: its own plane, read where iou_aware

  Anchor(const Problem& problem, std::int64_t plane)
      : p(problem), image(plane / p.shape.anchors), anchor(plane % p.shape.anchors), pixels(p.shape.h * p.shape.w) {
    const Shape& s = p.shape;
    const std::int64_t planes = s.anchors * (5 + s.classes), ious = p.iou_aware != 0 ? s.anchors : 0;
    iou = static_cast<const T*>(p.x) + (image * (ious + planes) + anchor) * pixels;
    logits = static_cast<const T*>(p.x) + (image * (ious + planes) + ious + anchor * (5 + s.classes)) * pixels;
  }

  Acc<T> logit(std::int64_t number, std::int64_t pixel) const { return to_acc(logits[number * pixels + pixel]); }

  Acc<T> confidence(std::int64_t pixel) const {
    using A = Acc<T>;
    const A object = sigmoid(logit(4, pixel)), share = static_cast<A>(p.iou_aware_factor);
    return p.iou_aware == 0 ? object : std::pow(object, 1 - share) * std::pow(sigmoid(to_acc(iou[pixel])), share);
  }
  /// Where a box begins and ends along an axis, 0 for x; cell: the pixel's place along it.
  void range(int axis, std::int64_t pixel, std::int64_t cell, Acc<T>& low, Acc<T>& high) const {
    using A = Acc<T>;
    const auto cells = static_cast<A>(axis == 0 ? p.shape.w : p.shape.h), scale = static_cast<A>(p.scale);
    const auto size = static_cast<A>(p.img_size[2 * image + 1 - axis]);
    const A place = static_cast<A>(cell) + sigmoid(logit(axis, pixel)) * scale - (scale - 1) / 2;
    const A centre = place * size / cells;
    const A length = std::exp(logit(2 + axis, pixel)) * static_cast<A>(p.anchors[2 * anchor + axis]) * size /
                     (static_cast<A>(p.downsample_ratio) * cells);
    low = centre - length / 2;
    high = centre + length / 2;
    if (p.clip_bbox == 0) return;
    low = low > 0 ? low : 0;
    high = high < size - 1 ? high : size - 1;
  }
};

/// Boxes of the pixels [first, first + count), and their confidences.
template <class T>
void write_boxes(const Anchor<T>& anchor, std::int64_t plane, std::int64_t first, std::int64_t count,
                 Acc<T>* confidences) {
  const Problem& p = anchor.p;
  const auto threshold = static_cast<Acc<T>>(p.conf_thresh);
  for (std::int64_t i = 0; i < count; ++i) {
    const std::int64_t pixel = first + i;
    Acc<T> box[4] = {0, 0, 0, 0}, confidence = anchor.confidence(pixel);
    if (confidence < threshold) {
      confidence = static_cast<Acc<T>>(kDropped);
    } else {
      anchor.range(0, pixel, pixel % p.shape.w, box[0], box[2]);
      anchor.range(1, pixel, pixel / p.shape.w, box[1], box[3]);
    }
    confidences[i] = confidence;
    T* const to = static_cast<T*>(p.boxes) + 4 * plane * anchor.pixels + pixel;
    for (std::int64_t k = 0; k < 4; ++k) to[k * anchor.pixels] = from_acc<T>(box[k]);
  }
}

/// Confidence times the sigmoid of each logit; 0 where the confidence is kDropped.
template <class T>
void write_scores(const T* logits, const Acc<T>* confidences, std::int64_t count, T* scores) {
  using A = Acc<T>;
  for_lanes<A>(count, [&](auto d, std::int64_t i) HWY_ATTR {
    const auto confidence = hn::LoadU(d, confidences + i);
    const auto dropped = hn::Eq(confidence, hn::Set(d, static_cast<A>(kDropped)));
    if (hn::AllTrue(d, dropped)) return store(hn::Zero(d), d, scores + i);
    const auto x = load(d, logits + i), one = hn::Set(d, A{1});
    const auto e = hn::Exp(d, hn::Neg(hn::Min(hn::Abs(x), hn::Set(d, static_cast<A>(kMostLogit)))));
    const auto near = hn::Div(one, hn::Add(one, e)), far = hn::Mul(e, near);
    const auto p = hn::IfThenElse(hn::Ge(x, hn::Zero(d)), near, far);
    const auto score = hn::Mul(confidence, hn::IfThenElse(hn::Eq(x, x), p, x));
    store(hn::IfThenZeroElse(dropped, score), d, scores + i);
  });
}

template <class T>
mluOpStatus_t decode(Context& context, const mluopsCall& call, const Problem& p) {
  const Shape& s = p.shape;
  const std::int64_t pixels = s.h * s.w, runs = ceil_div(pixels, kRun);
  const double run_ns = 2 * cost::kFunction * static_cast<double>((8 + s.classes) * std::min(pixels, kRun));
  Loop(context, call, s.n * s.anchors * runs, run_ns).run([&](std::int64_t begin, std::int64_t end, int) {
    Acc<T> confidences[kRun];
    for (std::int64_t item = begin; item < end; ++item) {
      const std::int64_t plane = item / runs, first = item % runs * kRun, count = std::min(kRun, pixels - first);
      const Anchor<T> anchor(p, plane);
      write_boxes(anchor, plane, first, count, confidences);
      for (std::int64_t c = 0; c < s.classes; ++c) {
        write_scores(anchor.logits + (5 + c) * pixels + first, confidences, count,
                     static_cast<T*>(p.scores) + (plane * s.classes + c) * pixels + first);
      }
    }
  });
  return MLUOP_STATUS_SUCCESS;
}

}  // namespace
}  // namespace mluops::cpu::yolo_box::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

MLUOPS_CPU_ENTRY(yolo_box, yolo_box, decode, mluopsYoloBoxProblem, with_element)
