#include "common/op/assign_score_withk.h"

#include "api/c/boundary.h"
#include "common/dispatch.h"
#include "mluops/op/assign_score_withk.h"

using namespace mluops;

mluOpStatus_t mluOpExtAssignScoreWithkForward(mluOpHandle_t handle, const mluOpTensorDescriptor_t points_desc,
                                              const void* points, const mluOpTensorDescriptor_t centers_desc,
                                              const void* centers, const mluOpTensorDescriptor_t scores_desc,
                                              const void* scores, const mluOpTensorDescriptor_t knn_idx_desc,
                                              const void* knn_idx, const mluOpTensorDescriptor_t output_desc,
                                              void* output) {
  return guard_operator(__func__, handle, [&]() -> Status {
    mluopsAssignScoreWithkForwardProblem problem;
    MLUOPS_RETURN_IF_FINISHED(op::check_assign_score_withk_forward({handle,
                                                                    {"points", points_desc, points},
                                                                    {"centers", centers_desc, centers},
                                                                    {"scores", scores_desc, scores},
                                                                    {"knn_idx", knn_idx_desc, knn_idx},
                                                                    {"output", output_desc, output}},
                                                                   problem));
    return dispatch(*handle, "assign_score_withk_forward", problem, &mluopsBackend::assign_score_withk_forward);
  });
}

mluOpStatus_t mluOpExtAssignScoreWithkBackward(mluOpHandle_t handle, const mluOpTensorDescriptor_t grad_output_desc,
                                               const void* grad_output, const mluOpTensorDescriptor_t points_desc,
                                               const void* points, const mluOpTensorDescriptor_t centers_desc,
                                               const void* centers, const mluOpTensorDescriptor_t scores_desc,
                                               const void* scores, const mluOpTensorDescriptor_t knn_idx_desc,
                                               const void* knn_idx, const mluOpTensorDescriptor_t grad_points_desc,
                                               void* grad_points, const mluOpTensorDescriptor_t grad_centers_desc,
                                               void* grad_centers, const mluOpTensorDescriptor_t grad_scores_desc,
                                               void* grad_scores) {
  return guard_operator(__func__, handle, [&]() -> Status {
    mluopsAssignScoreWithkBackwardProblem problem;
    MLUOPS_RETURN_IF_FINISHED(op::check_assign_score_withk_backward({handle,
                                                                     {"grad_output", grad_output_desc, grad_output},
                                                                     {"points", points_desc, points},
                                                                     {"centers", centers_desc, centers},
                                                                     {"scores", scores_desc, scores},
                                                                     {"knn_idx", knn_idx_desc, knn_idx},
                                                                     {"grad_points", grad_points_desc, grad_points},
                                                                     {"grad_centers", grad_centers_desc, grad_centers},
                                                                     {"grad_scores", grad_scores_desc, grad_scores}},
                                                                    problem));
    return dispatch(*handle, "assign_score_withk_backward", problem, &mluopsBackend::assign_score_withk_backward);
  });
}
