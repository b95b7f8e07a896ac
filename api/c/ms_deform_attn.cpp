#include "common/op/ms_deform_attn.h"

#include "api/c/boundary.h"
#include "common/dispatch.h"
#include "mluops/op/ms_deform_attn.h"

using namespace mluops;

mluOpStatus_t mluOpMsDeformAttnForward(
    mluOpHandle_t handle, const mluOpTensorDescriptor_t data_value_desc, const void* data_value,
    const mluOpTensorDescriptor_t data_spatial_shapes_desc, const void* data_spatial_shapes,
    const mluOpTensorDescriptor_t data_level_start_index_desc, const void* data_level_start_index,
    const mluOpTensorDescriptor_t data_sampling_loc_desc, const void* data_sampling_loc,
    const mluOpTensorDescriptor_t data_attn_weight_desc, const void* data_attn_weight, const int im2col_step,
    const mluOpTensorDescriptor_t data_col_desc, void* data_col) {
  return guard_operator(__func__, handle, [&]() -> Status {
    mluopsMsDeformAttnForwardProblem problem;
    MLUOPS_RETURN_IF_FINISHED(op::check_ms_deform_attn_forward(
        {handle,
         {"data_value", data_value_desc, data_value},
         {"data_spatial_shapes", data_spatial_shapes_desc, data_spatial_shapes},
         {"data_level_start_index", data_level_start_index_desc, data_level_start_index},
         {"data_sampling_loc", data_sampling_loc_desc, data_sampling_loc},
         {"data_attn_weight", data_attn_weight_desc, data_attn_weight},
         {"data_col", data_col_desc, data_col},
         im2col_step},
        problem));
    return dispatch(*handle, "ms_deform_attn_forward", problem, &mluopsBackend::ms_deform_attn_forward);
  });
}

mluOpStatus_t mluOpMsDeformAttnBackward(mluOpHandle_t handle, const mluOpTensorDescriptor_t value_desc,
                                        const void* value, const mluOpTensorDescriptor_t spatial_shapes_desc,
                                        const void* spatial_shapes,
                                        const mluOpTensorDescriptor_t level_start_index_desc,
                                        const void* level_start_index, const mluOpTensorDescriptor_t sampling_loc_desc,
                                        const void* sampling_loc, const mluOpTensorDescriptor_t attn_weight_desc,
                                        const void* attn_weight, const mluOpTensorDescriptor_t grad_output_desc,
                                        const void* grad_output, const int32_t im2col_step,
                                        const mluOpTensorDescriptor_t grad_value_desc, void* grad_value,
                                        const mluOpTensorDescriptor_t grad_sampling_loc_desc, void* grad_sampling_loc,
                                        const mluOpTensorDescriptor_t grad_attn_weight_desc, void* grad_attn_weight) {
  return guard_operator(__func__, handle, [&]() -> Status {
    mluopsMsDeformAttnBackwardProblem problem;
    MLUOPS_RETURN_IF_FINISHED(
        op::check_ms_deform_attn_backward({handle,
                                           {"value", value_desc, value},
                                           {"spatial_shapes", spatial_shapes_desc, spatial_shapes},
                                           {"level_start_index", level_start_index_desc, level_start_index},
                                           {"sampling_loc", sampling_loc_desc, sampling_loc},
                                           {"attn_weight", attn_weight_desc, attn_weight},
                                           {"grad_output", grad_output_desc, grad_output},
                                           im2col_step},
                                          {{"grad_value", grad_value_desc, grad_value},
                                           {"grad_sampling_loc", grad_sampling_loc_desc, grad_sampling_loc},
                                           {"grad_attn_weight", grad_attn_weight_desc, grad_attn_weight}},
                                          problem));
    return dispatch(*handle, "ms_deform_attn_backward", problem, &mluopsBackend::ms_deform_attn_backward);
  });
}
