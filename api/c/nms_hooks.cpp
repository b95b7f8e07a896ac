// The descriptor of non-maximum suppression, which two functions set.
#include "api/c/boundary.h"
#include "common/op/nms.h"
#include "mluops/op/nms.h"

using namespace mluops;

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
