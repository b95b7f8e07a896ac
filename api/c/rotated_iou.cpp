#include "common/op/rotated_iou.h"

#include "api/c/boundary.h"
#include "common/dispatch.h"
#include "mluops/op/rotated_iou.h"

using namespace mluops;

mluOpStatus_t mluOpExtRotatedIouForward(mluOpHandle_t handle, const mluOpTensorDescriptor_t box1_desc, const void* box1,
                                        const mluOpTensorDescriptor_t box2_desc, const void* box2,
                                        const mluOpTensorDescriptor_t ious_desc, void* ious) {
  return guard_operator(__func__, handle, [&]() -> Status {
    mluopsRotatedIouForwardProblem problem;
    MLUOPS_RETURN_IF_FINISHED(op::check_rotated_iou_forward(
        {handle, {"box1", box1_desc, box1}, {"box2", box2_desc, box2}, {"ious", ious_desc, ious}}, problem));
    return dispatch(*handle, "rotated_iou_forward", problem, &mluopsBackend::rotated_iou_forward);
  });
}

mluOpStatus_t mluOpExtRotatedIouBackward(mluOpHandle_t handle, const mluOpTensorDescriptor_t grads_desc,
                                         const void* grads, const mluOpTensorDescriptor_t box1_desc, const void* box1,
                                         const mluOpTensorDescriptor_t box2_desc, const void* box2,
                                         const mluOpTensorDescriptor_t grads1_desc, void* grads1,
                                         const mluOpTensorDescriptor_t grads2_desc, void* grads2) {
  return guard_operator(__func__, handle, [&]() -> Status {
    mluopsRotatedIouBackwardProblem problem;
    MLUOPS_RETURN_IF_FINISHED(op::check_rotated_iou_backward({handle,
                                                              {"grads", grads_desc, grads},
                                                              {"box1", box1_desc, box1},
                                                              {"box2", box2_desc, box2},
                                                              {"grads1", grads1_desc, grads1},
                                                              {"grads2", grads2_desc, grads2}},
                                                             problem));
    return dispatch(*handle, "rotated_iou_backward", problem, &mluopsBackend::rotated_iou_backward);
  });
}
