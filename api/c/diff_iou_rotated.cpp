#include "common/op/diff_iou_rotated.h"

#include "api/c/boundary.h"
#include "common/dispatch.h"
#include "mluops/op/diff_iou_rotated.h"

using namespace mluops;

mluOpStatus_t mluOpDiffIouRotatedSortVerticesForward(mluOpHandle_t handle, const mluOpTensorDescriptor_t vertices_desc,
                                                     const void* vertices, const mluOpTensorDescriptor_t mask_desc,
                                                     const void* mask, const mluOpTensorDescriptor_t num_valid_desc,
                                                     const void* num_valid, const mluOpTensorDescriptor_t idx_desc,
                                                     void* idx) {
  return guard_operator(__func__, handle, [&]() -> Status {
    mluopsDiffIouRotatedSortVerticesProblem problem;
    MLUOPS_RETURN_IF_FINISHED(op::check_diff_iou_rotated_sort_vertices({handle,
                                                                        {"vertices", vertices_desc, vertices},
                                                                        {"mask", mask_desc, mask},
                                                                        {"num_valid", num_valid_desc, num_valid},
                                                                        {"idx", idx_desc, idx}},
                                                                       problem));
    return dispatch(*handle, "diff_iou_rotated_sort_vertices_forward", problem,
                    &mluopsBackend::diff_iou_rotated_sort_vertices_forward);
  });
}
