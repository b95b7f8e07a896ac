#include "common/op/nms.h"

#include "api/c/boundary.h"
#include "common/dispatch.h"
#include "mluops/op/nms.h"

using namespace mluops;

mluOpStatus_t mluOpCreateNmsDescriptor(mluOpNmsDescriptor_t* desc) {
  return guard(__func__, [&]() -> Status {
    MLUOPS_RETURN_IF_FINISHED(op::not_null("desc", desc));
    *desc = new mluOpNmsStruct;
    return Status::go_on();
  });
}

mluOpStatus_t mluOpDestroyNmsDescriptor(mluOpNmsDescriptor_t desc) {
  return guard(__func__, [&]() -> Status {
    MLUOPS_RETURN_IF_FINISHED(op::not_null("desc", desc));
    delete desc;
    return Status::go_on();
  });
}

mluOpStatus_t mluOpSetNmsDescriptor(mluOpNmsDescriptor_t nms_desc, const mluOpNmsBoxPointMode_t box_mode,
                                    const mluOpNmsOutputMode_t output_mode, const mluOpNmsAlgo_t algo,
                                    const mluOpNmsMethodMode_t method_mode, const float iou_threshold,
                                    const float soft_nms_sigma, const int max_output_size,
                                    const float confidence_threshold, const float offset, const int input_layout,
                                    const bool pad_to_max_output_size) {
  return guard(__func__, [&]() -> Status {
    return op::set_nms_descriptor(
        nms_desc, {true, box_mode, output_mode, algo, method_mode, iou_threshold, soft_nms_sigma, max_output_size,
                   confidence_threshold, offset, input_layout, pad_to_max_output_size});
  });
}

mluOpStatus_t mluOpExtSetNmsDescriptor(mluOpNmsDescriptor_t nms_desc, const mluOpNmsBoxPointMode_t box_mode,
                                       const mluOpNmsOutputMode_t output_mode, const double iou_threshold,
                                       const int max_output_size, const double confidence_threshold, const int offset,
                                       const int input_layout, const bool pad_to_max_output_size) {
  return guard(__func__, [&]() -> Status {
    return op::set_nms_descriptor(
        nms_desc,
        {true, box_mode, output_mode, MLUOP_NMS_ALGO_INCLUDE_BOUNDARY, MLUOP_NMS_HARD_NMS, iou_threshold, 0,
         max_output_size, confidence_threshold, static_cast<float>(offset), input_layout, pad_to_max_output_size});
  });
}

mluOpStatus_t mluOpGetNmsWorkspaceSize(mluOpHandle_t handle, mluOpNmsDescriptor_t nms_desc,
                                       const mluOpTensorDescriptor_t boxes_desc, const mluOpTensorDescriptor_t,
                                       size_t* size) {
  return guard(__func__, [&]() -> Status {
    MLUOPS_RETURN_IF_FINISHED(op::not_null("handle", handle));
    MLUOPS_RETURN_IF_FINISHED(op::not_null("nms_desc", nms_desc));
    MLUOPS_RETURN_IF_FINISHED(op::not_null("boxes_desc", boxes_desc));
    MLUOPS_RETURN_IF_FINISHED(op::not_null("size", size));
    *size = 0;
    return Status::go_on();
  });
}

mluOpStatus_t mluOpNms(mluOpHandle_t handle, const mluOpNmsDescriptor_t nms_desc,
                       const mluOpTensorDescriptor_t boxes_desc, const void* boxes,
                       const mluOpTensorDescriptor_t confidence_desc, const void* confidence, void*, size_t,
                       const mluOpTensorDescriptor_t output_desc, void* output, void* output_size) {
  return guard_operator(__func__, handle, [&]() -> Status {
    mluopsNmsProblem problem;
    MLUOPS_RETURN_IF_FINISHED(op::check_nms({handle,
                                             nms_desc,
                                             {"boxes", boxes_desc, boxes},
                                             {"confidence", confidence_desc, confidence},
                                             {"output", output_desc, output},
                                             output_size},
                                            problem));
    return dispatch(*handle, "nms", problem, &mluopsBackend::nms);
  });
}

mluOpStatus_t mluOpExtSoftNms(mluOpHandle_t handle, const mluOpTensorDescriptor_t boxes_desc, const void* boxes,
                              const mluOpTensorDescriptor_t scores_desc, const void* scores, const float iou_threshold,
                              const float sigma, const float min_score, const mluOpExtSoftNmsMethod_t method,
                              const int offset, const mluOpTensorDescriptor_t dets_desc, void* dets,
                              const mluOpTensorDescriptor_t indices_desc, void* indices, void* output_size) {
  return guard_operator(__func__, handle,
                        {{"iou_threshold", iou_threshold}, {"sigma", sigma}, {"min_score", min_score}},
                        [&](const auto& scalars) -> Status {
                          mluopsSoftNmsProblem problem;
                          MLUOPS_RETURN_IF_FINISHED(op::check_soft_nms({handle,
                                                                        {"boxes", boxes_desc, boxes},
                                                                        {"scores", scores_desc, scores},
                                                                        scalars[0],
                                                                        scalars[1],
                                                                        scalars[2],
                                                                        method,
                                                                        offset,
                                                                        {"dets", dets_desc, dets},
                                                                        {"indices", indices_desc, indices},
                                                                        output_size},
                                                                       problem));
                          return dispatch(*handle, "soft_nms", problem, &mluopsBackend::soft_nms);
                        });
}

mluOpStatus_t mluOpExtNmsMatch(mluOpHandle_t handle, const mluOpTensorDescriptor_t dets_desc, const void* dets,
                               const float iou_threshold, const mluOpTensorDescriptor_t indices_desc, void* indices,
                               const mluOpTensorDescriptor_t group_sizes_desc, void* group_sizes, void* group_count) {
  return guard_operator(__func__, handle, {{"iou_threshold", iou_threshold}}, [&](const auto& scalars) -> Status {
    mluopsNmsMatchProblem problem;
    MLUOPS_RETURN_IF_FINISHED(op::check_nms_match({handle,
                                                   {"dets", dets_desc, dets},
                                                   scalars[0],
                                                   {"indices", indices_desc, indices},
                                                   {"group_sizes", group_sizes_desc, group_sizes},
                                                   group_count},
                                                  problem));
    return dispatch(*handle, "nms_match", problem, &mluopsBackend::nms_match);
  });
}
