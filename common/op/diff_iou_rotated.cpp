#include "common/op/diff_iou_rotated.h"

#include "common/case_text.h"

namespace mluops::op {
namespace {

Status check_types(const DiffIouRotatedSortVerticesArgs& a) {
  MLUOPS_RETURN_IF_FINISHED(is_float(a.vertices, a.handle->contract));
  MLUOPS_RETURN_IF_FINISHED(has_dtype(a.mask, MLUOP_DTYPE_BOOL));
  MLUOPS_RETURN_IF_FINISHED(has_dtype(a.num_valid, MLUOP_DTYPE_INT32));
  return has_dtype(a.idx, MLUOP_DTYPE_INT32);
}

Status check_dims(const DiffIouRotatedSortVerticesArgs& a) {
  const auto& dims = a.vertices.desc->dims;
  for (const TensorArg& t : {a.mask, a.num_valid, a.idx}) {
    MLUOPS_RETURN_IF_FINISHED(has_dim(t, 0, dims[0], "that of vertices"));
    MLUOPS_RETURN_IF_FINISHED(has_dim(t, 1, dims[1], "that of vertices"));
  }
  MLUOPS_RETURN_IF_FINISHED(has_dim(a.vertices, 2, 24, "corners and intersections"));
  MLUOPS_RETURN_IF_FINISHED(has_dim(a.vertices, 3, 2, "x and y"));
  MLUOPS_RETURN_IF_FINISHED(has_dim(a.mask, 2, 24, "corners and intersections"));
  return has_dim(a.idx, 2, 9, "an intersection's corners, the first twice");
}

}  // namespace

Status check_diff_iou_rotated_sort_vertices(const DiffIouRotatedSortVerticesArgs& a,
                                            mluopsDiffIouRotatedSortVerticesProblem& problem) {
  MLUOPS_RETURN_IF_FINISHED(not_null("handle", a.handle));
  const auto all = {a.vertices, a.mask, a.num_valid, a.idx};
  MLUOPS_RETURN_IF_FINISHED(have_descs(all));
  MLUOPS_RETURN_IF_FINISHED(has_rank(a.vertices, 4));
  MLUOPS_RETURN_IF_FINISHED(has_rank(a.mask, 3));
  MLUOPS_RETURN_IF_FINISHED(has_rank(a.num_valid, 2));
  MLUOPS_RETURN_IF_FINISHED(has_rank(a.idx, 3));
  for (const TensorArg& t : all) MLUOPS_RETURN_IF_FINISHED(is_dense(t, MLUOP_STATUS_NOT_SUPPORTED));
  MLUOPS_RETURN_IF_FINISHED(check_types(a));
  MLUOPS_RETURN_IF_FINISHED(check_dims(a));
  MLUOPS_RETURN_IF_FINISHED(all_countable(all, a.handle->contract));
  const auto& dims = a.vertices.desc->dims;
  if (dims[1] == 0) return Status::nothing_to_do();
  MLUOPS_RETURN_IF_FINISHED(not_empty(a.vertices));
  MLUOPS_RETURN_IF_FINISHED(have_data(all));
  MLUOPS_RETURN_IF_FINISHED(no_overlap({a.vertices, a.mask, a.num_valid}, {a.idx}));
  problem = {{a.vertices.desc->dtype, dims[0] * dims[1]},
             a.vertices.data,
             static_cast<const std::uint8_t*>(a.mask.data),
             static_cast<const std::int32_t*>(a.num_valid.data),
             int32_data(a.idx)};
  return Status::go_on();
}

std::string case_keys(const mluopsDiffIouRotatedSortVerticesProblem& p) {
  const mluopsDiffIouRotatedSortVerticesShape& s = p.shape;
  return CaseKeys()("b", 1)("n", s.n).text();
}

}  // namespace mluops::op
