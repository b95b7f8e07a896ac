// The custom operators that suppress boxes.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "api/onnxruntime/kernel.h"
#include "common/half.h"

namespace mluops::ort {

inline std::size_t bytes_of(mluOpDataType_t dtype) {
  return dtype == MLUOP_DTYPE_HALF ? 2 : dtype == MLUOP_DTYPE_FLOAT ? 4 : 8;
}

inline std::size_t bytes(const Tensor& tensor) {
  return static_cast<std::size_t>(tensor.count()) * bytes_of(tensor.dtype);
}

constexpr std::int64_t kDet = 5;  // a box and its score

using NmsDescriptor = Owned<mluOpNmsStruct, mluOpCreateNmsDescriptor, mluOpDestroyNmsDescriptor>;

/// boxes [N, 4], scores [N]; indices INT64 [N], of which the first count INT32 [1] are boxes that were kept.
struct Nms : OneType {
  static constexpr const char* kName = "nms";
  static constexpr std::size_t kInputs = 2, kOutputs = 2;
  static ElementType output_type(std::size_t i, ElementType) { return i == 0 ? kInt64 : kInt32; }

  explicit Nms(const Attributes& of)
      : threshold(of.real("iou_threshold", 0.5F)),
        lowest(of.real("score_threshold", 0)),
        offset(of.integer("offset", 0)),
        most(of.integer("max_num", -1)) {}

  void compute(const Call& call) const {
    const Tensor boxes = call.input(0, "boxes", 2), scores = call.input(1, "scores", 1);
    const Tensor indices = call.output(0, {boxes.sizes[0]}, MLUOP_DTYPE_INT64);
    const Tensor count = call.output(1, {1}, MLUOP_DTYPE_INT32);
    const NmsDescriptor descriptor(call.api());
    const auto limit = static_cast<int>(std::min<std::int64_t>(boxes.sizes[0], INT32_MAX));
    call.check(mluOpExtSetNmsDescriptor(descriptor.get(), MLUOP_NMS_BOX_DIAGONAL, MLUOP_NMS_OUTPUT_TARGET_INDICES,
                                        threshold, most > 0 && most < limit ? most : limit,
                                        lowest > 0 ? lowest : -INFINITY, offset, 0, false));
    std::fill_n(static_cast<std::int64_t*>(indices.data), indices.count(), 0);
    const Descriptor boxes_desc(call, &boxes, MLUOP_LAYOUT_ARRAY), scores_desc(call, &scores, MLUOP_LAYOUT_ARRAY),
        indices_desc(call, &indices, MLUOP_LAYOUT_ARRAY);
    call.check(mluOpNms(call.handle(), descriptor.get(), boxes_desc, boxes.data, scores_desc, scores.data, nullptr, 0,
                        indices_desc, indices.data, count.data));
  }

  float threshold, lowest;
  int offset, most;
};

/// dets [N, 5], scores [N]; indices [N], of which the first count [1] are boxes that were kept: both INT32.
struct NmsRotated : OneType {
  static constexpr const char* kName = "nms_rotated";
  static constexpr std::size_t kInputs = 2, kOutputs = 2;
  static ElementType output_type(std::size_t, ElementType) { return kInt32; }

  explicit NmsRotated(const Attributes& of) : threshold(of.real("iou_threshold", 0.5F)) {}

  void compute(const Call& call) const {
    const Tensor boxes = call.input(0, "dets", 2), scores = call.input(1, "scores", 1);
    keep(call, boxes, scores, call.output(0, {boxes.sizes[0]}, MLUOP_DTYPE_INT32),
         static_cast<std::int32_t*>(call.output(1, {1}, MLUOP_DTYPE_INT32).data));
  }

  void keep(const Call& call, const Tensor& boxes, const Tensor& scores, const Tensor& kept,
            std::int32_t* count) const {
    const Descriptor boxes_desc(call, &boxes, MLUOP_LAYOUT_ARRAY), scores_desc(call, &scores, MLUOP_LAYOUT_ARRAY),
        kept_desc(call, &kept, MLUOP_LAYOUT_ARRAY);
    call.check(mluOpNmsRotated(call.handle(), threshold, boxes_desc, boxes.data, scores_desc, scores.data, nullptr, 0,
                               kept_desc, kept.data, count));
  }

  float threshold;
};

/// The tensor [...] at one of its first numbers; what follows those stays.
inline Tensor part(const Tensor& whole, std::int64_t number, std::size_t axes) {
  Tensor one{whole.dtype, {whole.sizes.begin() + static_cast<std::ptrdiff_t>(axes), whole.sizes.end()}, nullptr};
  one.data = static_cast<char*>(whole.data) + static_cast<std::size_t>(number * one.count()) * bytes_of(whole.dtype);
  return one;
}

inline double real_at(const Tensor& tensor, std::int64_t i) {
  if (tensor.dtype == MLUOP_DTYPE_HALF) return half_to_float(static_cast<const std::uint16_t*>(tensor.data)[i]);
  if (tensor.dtype == MLUOP_DTYPE_FLOAT) return static_cast<const float*>(tensor.data)[i];
  return static_cast<const double*>(tensor.data)[i];
}

/// boxes [B, N, 5], scores [B, C, N]; INT64 [K, 3]: image, class and box of each that was kept in its class with a
/// score above the threshold, best first.
struct NmsRotatedOfClasses : OneType {
  static constexpr const char* kName = "NMSRotated";
  static constexpr std::size_t kInputs = 2;
  static ElementType output_type(std::size_t, ElementType) { return kInt64; }

  explicit NmsRotatedOfClasses(const Attributes& of) : suppress(of), lowest(of.real("score_threshold", 0)) {}

  void compute(const Call& call) const {
    const Tensor boxes = call.input(0, "boxes", 3), scores = call.input(1, "scores", 3);
    const std::int64_t classes = scores.sizes[1], n = boxes.sizes[1];
    if (scores.sizes[0] != boxes.sizes[0] || scores.sizes[2] != n) {
      call.refuse("scores: wanted [" + std::to_string(boxes.sizes[0]) + ", classes, " + std::to_string(n) +
                  "], images and boxes of boxes, got [" + std::to_string(scores.sizes[0]) + ", " +
                  std::to_string(classes) + ", " + std::to_string(scores.sizes[2]) + "]");
    }
    std::vector<std::int64_t> found;
    std::vector<std::int32_t> numbers(static_cast<std::size_t>(n));
    for (std::int64_t each = 0; n > 0 && each < scores.sizes[0] * classes; ++each) {  // else there may be any number
      const Tensor own = part(scores, each, 2);
      std::int32_t count = 0;
      suppress.keep(call, part(boxes, each / classes, 1), own, {MLUOP_DTYPE_INT32, {n}, numbers.data()}, &count);
      for (std::int32_t i = 0; i < count; ++i) {
        const std::int32_t box = numbers[static_cast<std::size_t>(i)];
        if (real_at(own, box) > static_cast<double>(lowest)) {
          found.insert(found.end(), {each / classes, each % classes, box});
        }
      }
    }
    const Tensor output = call.output(0, {static_cast<std::int64_t>(found.size() / 3), 3}, MLUOP_DTYPE_INT64);
    std::copy(found.begin(), found.end(), static_cast<std::int64_t*>(output.data));
  }

  NmsRotated suppress;
  float lowest;
};

/// What is the same of soft_nms' two nodes.
struct SoftSuppression : OneType {
  static constexpr std::size_t kInputs = 2;

  explicit SoftSuppression(const Attributes& of)
      : threshold(of.real("iou_threshold", 0.3F)),
        sigma(of.real("sigma", 0.5F)),
        lowest(of.real("min_score", 1e-3F)),
        method(static_cast<mluOpExtSoftNmsMethod_t>(of.integer("method", 1))),
        offset(of.integer("offset", 0)) {}

  void take(const Call& call, const Tensor& dets, const Tensor& indices, std::int32_t* count) const {
    const Tensor boxes = call.input(0, "boxes", 2), scores = call.input(1, "scores", 1);
    const Descriptor boxes_desc(call, &boxes, MLUOP_LAYOUT_ARRAY), scores_desc(call, &scores, MLUOP_LAYOUT_ARRAY),
        dets_desc(call, &dets, MLUOP_LAYOUT_ARRAY), indices_desc(call, &indices, MLUOP_LAYOUT_ARRAY);
    call.check(mluOpExtSoftNms(call.handle(), boxes_desc, boxes.data, scores_desc, scores.data, threshold, sigma,
                               lowest, method, offset, dets_desc, dets.data, indices_desc, indices.data, count));
  }

  float threshold, sigma, lowest;
  mluOpExtSoftNmsMethod_t method;
  int offset;
};

/// boxes [N, 4], scores [N]; dets [N, 5], indices INT64 [N], of which the first count INT32 [1] are boxes that were
/// taken; the rest is 0.
struct SoftNms : SoftSuppression {
  static constexpr const char* kName = "soft_nms";
  static constexpr std::size_t kOutputs = 3;
  static ElementType output_type(std::size_t i, ElementType own) { return i == 0 ? own : i == 1 ? kInt64 : kInt32; }

  using SoftSuppression::SoftSuppression;
  void compute(const Call& call) const {
    const Tensor boxes = call.input(0, "boxes", 2);
    const std::int64_t n = boxes.sizes[0];
    const Tensor dets = call.output(0, {n, kDet}, boxes.dtype), indices = call.output(1, {n}, MLUOP_DTYPE_INT64);
    take(call, dets, indices, static_cast<std::int32_t*>(call.output(2, {1}, MLUOP_DTYPE_INT32).data));
  }
};

/// mmcv's node: boxes [N, 4], scores [N]; dets [K, 5] and indices INT64 [K] of the boxes that were taken.
struct SoftNonMaxSuppression : SoftSuppression {
  static constexpr const char* kName = "SoftNonMaxSuppression";
  static constexpr std::size_t kOutputs = 2;
  static ElementType output_type(std::size_t i, ElementType own) { return i == 0 ? own : kInt64; }

  using SoftSuppression::SoftSuppression;
  void compute(const Call& call) const {
    const Tensor boxes = call.input(0, "boxes", 2);
    const std::int64_t n = boxes.sizes[0];
    Tensor dets{boxes.dtype, {n, kDet}, nullptr}, indices{MLUOP_DTYPE_INT64, {n}, nullptr};
    std::vector<char> room(bytes(dets));
    std::vector<std::int64_t> numbers(static_cast<std::size_t>(n));
    dets.data = room.data();
    indices.data = numbers.data();
    std::int32_t count = 0;
    take(call, dets, indices, &count);
    const Tensor taken = call.output(0, {count, kDet}, boxes.dtype),
                 places = call.output(1, {count}, MLUOP_DTYPE_INT64);
    std::copy_n(room.data(), bytes(taken), static_cast<char*>(taken.data));
    std::copy_n(numbers.data(), count, static_cast<std::int64_t*>(places.data));
  }
};

}  // namespace mluops::ort
