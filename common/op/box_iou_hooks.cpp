#include "common/case_text.h"
#include "common/op/box_iou.h"

namespace mluops::op {

Status check_ious(const TensorArg& ious, std::int64_t n, std::int64_t m, bool aligned) {
  if (!aligned) {
    MLUOPS_RETURN_IF_FINISHED(has_rank(ious, 2));
    return has_sizes(ious, {{0, n, "bbox1"}, {1, m, "bbox2"}});
  }
  const bool column = n == 0 && rank(*ious.desc) == 2 && ious.desc->dims[1] == 1;
  if (!column) MLUOPS_RETURN_IF_FINISHED(has_rank(ious, 1));
  return has_dim(ious, 0, n, "bbox1");
}

std::string case_keys(const mluopsBoxIouProblem& p) {
  CaseKeys keys = CaseKeys()("n", p.shape.n);
  if (p.shape.aligned == 0) keys("m", p.shape.m);
  keys("mode", p.shape.mode)("aligned", p.shape.aligned);
  if (p.shape.offset != 0) keys("offset", p.shape.offset);
  return keys.text();
}

}  // namespace mluops::op
