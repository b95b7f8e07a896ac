#include "common/op/rotated_feature_align.h"

#include "common/case_text.h"

namespace mluops::op {
namespace {

/// Both directions: `from` has the sizes of `to`, an image tensor is read and one written.
template <class Problem>
Status check_feature_align(mluOpHandle_t handle, const TensorArg& from, const TensorArg& bboxes,
                           const Scalar& spatial_scale, int points, const TensorArg& to, Problem& problem) {
  MLUOPS_RETURN_IF_FINISHED(not_null("handle", handle));
  const mluOpExtContract_t contract = handle->contract;
  MLUOPS_RETURN_IF_FINISHED(have_descs({from, bboxes, to}));
  if (points != 1 && points != 5) {
    return Status::bad_param("points: wanted 1 or 5, got " + std::to_string(points));
  }
  for (const TensorArg* t : {&from, &to}) {
    MLUOPS_RETURN_IF_FINISHED(has_image_layout(*t, from, contract));
    MLUOPS_RETURN_IF_FINISHED(has_rank(*t, 4));
  }
  MLUOPS_RETURN_IF_FINISHED(are_arrays({bboxes}));
  MLUOPS_RETURN_IF_FINISHED(has_rank(bboxes, 4));
  MLUOPS_RETURN_IF_FINISHED(has_float_dtype(from, contract));
  for (const TensorArg* t : {&bboxes, &to}) MLUOPS_RETURN_IF_FINISHED(same_dtype(*t, from));
  const std::int64_t n = size_of(from, Axis::kN), h = size_of(from, Axis::kH), w = size_of(from, Axis::kW);
  MLUOPS_RETURN_IF_FINISHED(has_dim(bboxes, 0, n, "the number of images"));
  MLUOPS_RETURN_IF_FINISHED(has_dim(bboxes, 1, h, "the height of the images"));
  MLUOPS_RETURN_IF_FINISHED(has_dim(bboxes, 2, w, "the width of the images"));
  MLUOPS_RETURN_IF_FINISHED(has_dim(bboxes, 3, 5, "y, x, width, height, angle"));
  MLUOPS_RETURN_IF_FINISHED(same_dims(to, from));
  MLUOPS_RETURN_IF_FINISHED(are_dense_and_countable({from, bboxes, to}, contract));
  if (is_empty(from)) return Status::nothing_to_do();
  MLUOPS_RETURN_IF_FINISHED(have_data({from, bboxes, to}));
  MLUOPS_RETURN_IF_FINISHED(no_overlap({from, bboxes}, {to}));
  const mluOpDataType_t dtype = from.desc->dtype;
  problem = {{dtype, n, h, w, size_of(from, Axis::kC), spatial_scale.value, points},
             from.data,
             bboxes.data,
             const_cast<void*>(to.data),
             from.desc->layout,
             spatial_scale.of(dtype)};
  return Status::go_on();
}

template <class Problem>
std::string feature_align_keys(const Problem& p) {
  const mluopsRotatedFeatureAlignShape& s = p.shape;
  CaseKeys keys = CaseKeys()("b", s.batch)("h", s.h)("w", s.w)("c", s.c);
  return keys.scalar("scale", p.exact_spatial_scale, s.dtype)("points", s.points).text();
}

}  // namespace

Status check_rotated_feature_align_forward(const RotatedFeatureAlignForwardArgs& a,
                                           mluopsRotatedFeatureAlignForwardProblem& problem) {
  return check_feature_align(a.handle, a.input, a.bboxes, a.spatial_scale, a.points, a.output, problem);
}
Status check_rotated_feature_align_backward(const RotatedFeatureAlignBackwardArgs& a,
                                            mluopsRotatedFeatureAlignBackwardProblem& problem) {
  return check_feature_align(a.handle, a.grads, a.bboxes, a.spatial_scale, a.points, a.grads_image, problem);
}

std::string case_keys(const mluopsRotatedFeatureAlignForwardProblem& p) {
  return feature_align_keys(p);
}
std::string case_keys(const mluopsRotatedFeatureAlignBackwardProblem& p) {
  return feature_align_keys(p);
}

}  // namespace mluops::op
