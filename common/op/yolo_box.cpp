#include "common/op/yolo_box.h"

#include "common/case_text.h"

namespace mluops::op {
namespace {

Status check_numbers(const YoloBoxArgs& a) {
  MLUOPS_RETURN_IF_FINISHED(at_least("class_num", a.class_num, 1));
  MLUOPS_RETURN_IF_FINISHED(at_least("downsample_ratio", a.downsample_ratio, 1));
  if (!a.iou_aware || (a.iou_aware_factor.exact >= 0 && a.iou_aware_factor.exact <= 1)) return Status::go_on();
  return Status::bad_param("iou_aware_factor: wanted >= 0 and <= 1, got " + std::to_string(a.iou_aware_factor.exact));
}

Status check_shapes(const YoloBoxArgs& a) {
  MLUOPS_RETURN_IF_FINISHED(has_rank(a.x, 4));
  MLUOPS_RETURN_IF_FINISHED(has_rank(a.img_size, 2));
  MLUOPS_RETURN_IF_FINISHED(has_rank(a.anchors, 1));
  for (const TensorArg& t : {a.boxes, a.scores}) MLUOPS_RETURN_IF_FINISHED(has_rank(t, 4));
  const std::int64_t anchors = a.anchors.desc->dims[0] / 2,
                     pixels = dim_product({a.x.desc->dims[2], a.x.desc->dims[3]});
  MLUOPS_RETURN_IF_FINISHED(not_empty(a.anchors));
  MLUOPS_RETURN_IF_FINISHED(has_dim(a.anchors, 0, (a.anchors.desc->dims[0] + 1) / 2 * 2, "pairs of width and height"));
  const std::int64_t numbers = std::int64_t{a.class_num} + (a.iou_aware ? 6 : 5);
  MLUOPS_RETURN_IF_FINISHED(has_dim(a.x, 1, dim_product({anchors, numbers}),
                                    a.iou_aware ? "anchors times 6 + class_num" : "anchors times 5 + class_num"));
  MLUOPS_RETURN_IF_FINISHED(has_dim(a.img_size, 0, a.x.desc->dims[0], "the batch of x"));
  MLUOPS_RETURN_IF_FINISHED(has_dim(a.img_size, 1, 2, "height, width"));
  for (const TensorArg& t : {a.boxes, a.scores}) {
    MLUOPS_RETURN_IF_FINISHED(has_dim(t, 0, a.x.desc->dims[0], "the batch of x"));
    MLUOPS_RETURN_IF_FINISHED(has_dim(t, 1, anchors, "anchors"));
    MLUOPS_RETURN_IF_FINISHED(has_dim(t, 3, pixels, "height times width of x"));
  }
  MLUOPS_RETURN_IF_FINISHED(has_dim(a.boxes, 2, 4, "x1, y1, x2, y2"));
  return has_dim(a.scores, 2, a.class_num, "class_num");
}

}  // namespace

Status check_yolo_box(const YoloBoxArgs& a, mluopsYoloBoxProblem& problem) {
  const auto all = {a.x, a.img_size, a.anchors, a.boxes, a.scores};
  MLUOPS_RETURN_IF_FINISHED(not_null("handle", a.handle));
  MLUOPS_RETURN_IF_FINISHED(have_descs(all));
  MLUOPS_RETURN_IF_FINISHED(check_numbers(a));
  MLUOPS_RETURN_IF_FINISHED(check_shapes(a));
  MLUOPS_RETURN_IF_FINISHED(is_float(a.x, a.handle->contract));
  for (const TensorArg& t : {a.img_size, a.anchors}) MLUOPS_RETURN_IF_FINISHED(has_dtype(t, MLUOP_DTYPE_INT32));
  for (const TensorArg& t : {a.boxes, a.scores}) MLUOPS_RETURN_IF_FINISHED(same_dtype(t, a.x));
  MLUOPS_RETURN_IF_FINISHED(are_arrays(all));
  MLUOPS_RETURN_IF_FINISHED(are_dense_and_countable(all, a.handle->contract));
  if (is_empty(a.x)) return Status::nothing_to_do();
  MLUOPS_RETURN_IF_FINISHED(have_data(all));
  MLUOPS_RETURN_IF_FINISHED(no_overlap({a.x, a.img_size, a.anchors}, {a.boxes, a.scores}));
  const std::vector<std::int64_t>& dims = a.x.desc->dims;
  const mluOpDataType_t dtype = a.x.desc->dtype;
  problem = {{dtype, dims[0], a.anchors.desc->dims[0] / 2, a.class_num, dims[2], dims[3]},
             a.x.data,
             static_cast<const std::int32_t*>(a.img_size.data),
             static_cast<const std::int32_t*>(a.anchors.data),
             const_cast<void*>(a.boxes.data),
             const_cast<void*>(a.scores.data),
             a.conf_thresh.of(dtype),
             a.scale.of(dtype),
             a.iou_aware_factor.of(dtype),
             a.downsample_ratio,
             a.clip_bbox ? 1 : 0,
             a.iou_aware ? 1 : 0};
  return Status::go_on();
}

std::string case_keys(const mluopsYoloBoxProblem& p) {
  const mluopsYoloBoxShape& s = p.shape;
  return CaseKeys()("n", s.n)("s", s.anchors)("c", s.classes)("h", s.h)("w", s.w)
      .scalar("conf", p.conf_thresh, s.dtype)
      .scalar("scale", p.scale, s.dtype)
      .scalar("factor", p.iou_aware_factor, s.dtype)("down", p.downsample_ratio)("clip", p.clip_bbox)("iou_aware",
                                                                                                      p.iou_aware)
      .text();
}

}  // namespace mluops::op
