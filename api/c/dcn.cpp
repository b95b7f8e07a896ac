#include "common/op/dcn.h"

#include "api/c/boundary.h"
#include "common/dispatch.h"
#include "mluops/op/dcn.h"

using namespace mluops;

mluOpStatus_t mluOpCreateDCNDescriptor(mluOpDCNDescriptor_t* dcn_desc) {
  return guard(__func__, [&]() -> Status {
    MLUOPS_RETURN_IF_FINISHED(op::not_null("dcn_desc", dcn_desc));
    *dcn_desc = new mluOpDCNStruct;
    return Status::go_on();
  });
}

mluOpStatus_t mluOpDestroyDCNDescriptor(mluOpDCNDescriptor_t dcn_desc) {
  return guard(__func__, [&]() -> Status {
    MLUOPS_RETURN_IF_FINISHED(op::not_null("dcn_desc", dcn_desc));
    delete dcn_desc;
    return Status::go_on();
  });
}

mluOpStatus_t mluOpSetDCNDescriptor(mluOpDCNDescriptor_t dcn_desc, int dimNb, const int pad[], const int stride[],
                                    const int dilation[], int deformable_group, int conv_group, int im2col_step,
                                    const mluOpDataType_t compute_type) {
  return guard(__func__, [&]() -> Status {
    MLUOPS_RETURN_IF_FINISHED(op::check_dcn_descriptor(
        dcn_desc, {dimNb, pad, stride, dilation, deformable_group, conv_group, im2col_step, compute_type}));
    *dcn_desc = {{pad[0], pad[1], pad[2], pad[3]},
                 {stride[0], stride[1]},
                 {dilation[0], dilation[1]},
                 deformable_group,
                 conv_group,
                 im2col_step};
    return Status::go_on();
  });
}

mluOpStatus_t mluOpGetDCNForwardWorkspaceSize(mluOpHandle_t handle, const mluOpDCNDescriptor_t dcn_desc,
                                              const mluOpTensorDescriptor_t input_desc,
                                              const mluOpTensorDescriptor_t offset_desc,
                                              const mluOpTensorDescriptor_t mask_desc,
                                              const mluOpTensorDescriptor_t filter_desc,
                                              const mluOpTensorDescriptor_t bias_desc,
                                              const mluOpTensorDescriptor_t output_desc, size_t* workspace_size) {
  return guard(__func__, [&] {
    return op::check_dcn_workspace({handle,
                                    dcn_desc,
                                    {"input", input_desc, nullptr},
                                    {"offset", offset_desc, nullptr},
                                    {"mask", mask_desc, nullptr},
                                    {"filter", filter_desc, nullptr},
                                    {"bias", bias_desc, nullptr},
                                    {"output", output_desc, nullptr},
                                    nullptr,
                                    0},
                                   nullptr, workspace_size);
  });
}

mluOpStatus_t mluOpDCNForward(mluOpHandle_t handle, const mluOpDCNDescriptor_t dcn_desc,
                              const mluOpTensorDescriptor_t input_desc, const void* input,
                              const mluOpTensorDescriptor_t offset_desc, const void* offset,
                              const mluOpTensorDescriptor_t mask_desc, const void* mask,
                              const mluOpTensorDescriptor_t filter_desc, const void* filter,
                              const mluOpTensorDescriptor_t bias_desc, const void* bias, void* workspace,
                              size_t workspace_size, const mluOpTensorDescriptor_t output_desc, void* output) {
  return guard_operator(__func__, handle, [&]() -> Status {
    mluopsDcnForwardProblem problem;
    MLUOPS_RETURN_IF_FINISHED(op::check_dcn_forward({handle,
                                                     dcn_desc,
                                                     {"input", input_desc, input},
                                                     {"offset", offset_desc, offset},
                                                     {"mask", mask_desc, mask},
                                                     {"filter", filter_desc, filter},
                                                     {"bias", bias_desc, bias},
                                                     {"output", output_desc, output},
                                                     workspace,
                                                     workspace_size},
                                                    problem));
    return dispatch(*handle, "dcn_forward", problem, &mluopsBackend::dcn_forward);
  });
}

mluOpStatus_t mluOpGetDCNBackwardWeightWorkspaceSize(
    mluOpHandle_t handle, const mluOpDCNDescriptor_t dcn_desc, const mluOpTensorDescriptor_t input_desc,
    const mluOpTensorDescriptor_t offset_desc, const mluOpTensorDescriptor_t mask_desc,
    const mluOpTensorDescriptor_t grad_output_desc, const mluOpTensorDescriptor_t grad_filter_desc,
    const mluOpTensorDescriptor_t grad_bias_desc, size_t* workspace_size) {
  return guard(__func__, [&] {
    return op::check_dcn_workspace({handle,
                                    dcn_desc,
                                    {"input", input_desc, nullptr},
                                    {"offset", offset_desc, nullptr},
                                    {"mask", mask_desc, nullptr},
                                    {"grad_filter", grad_filter_desc, nullptr},
                                    {"grad_bias", grad_bias_desc, nullptr},
                                    {"grad_output", grad_output_desc, nullptr},
                                    nullptr,
                                    0},
                                   nullptr, workspace_size);
  });
}

mluOpStatus_t mluOpDCNBackwardWeight(mluOpHandle_t handle, const mluOpDCNDescriptor_t dcn_desc,
                                     const mluOpTensorDescriptor_t input_desc, const void* input,
                                     const mluOpTensorDescriptor_t offset_desc, const void* offset,
                                     const mluOpTensorDescriptor_t mask_desc, const void* mask,
                                     const mluOpTensorDescriptor_t grad_output_desc, const void* grad_output,
                                     void* workspace, size_t workspace_size,
                                     const mluOpTensorDescriptor_t grad_filter_desc, void* grad_filter,
                                     const mluOpTensorDescriptor_t grad_bias_desc, void* grad_bias) {
  return guard_operator(__func__, handle, [&]() -> Status {
    mluopsDcnBackwardWeightProblem problem;
    MLUOPS_RETURN_IF_FINISHED(op::check_dcn_backward_weight({handle,
                                                             dcn_desc,
                                                             {"input", input_desc, input},
                                                             {"offset", offset_desc, offset},
                                                             {"mask", mask_desc, mask},
                                                             {"grad_filter", grad_filter_desc, grad_filter},
                                                             {"grad_bias", grad_bias_desc, grad_bias},
                                                             {"grad_output", grad_output_desc, grad_output},
                                                             workspace,
                                                             workspace_size},
                                                            problem));
    return dispatch(*handle, "dcn_backward_weight", problem, &mluopsBackend::dcn_backward_weight);
  });
}

mluOpStatus_t mluOpGetDCNBakcwardDataWorkspaceSize(
    mluOpHandle_t handle, const mluOpDCNDescriptor_t dcn_desc, const mluOpTensorDescriptor_t input_desc,
    const mluOpTensorDescriptor_t offset_desc, const mluOpTensorDescriptor_t mask_desc,
    const mluOpTensorDescriptor_t filter_desc, const mluOpTensorDescriptor_t grad_output_desc,
    const mluOpTensorDescriptor_t grad_input_desc, const mluOpTensorDescriptor_t grad_offset_desc,
    const mluOpTensorDescriptor_t grad_mask_desc, size_t* workspace_size) {
  return guard(__func__, [&] {
    const op::DcnDataGradients gradients = {{"grad_input", grad_input_desc, nullptr},
                                            {"grad_offset", grad_offset_desc, nullptr},
                                            {"grad_mask", grad_mask_desc, nullptr}};
    return op::check_dcn_workspace({handle,
                                    dcn_desc,
                                    {"input", input_desc, nullptr},
                                    {"offset", offset_desc, nullptr},
                                    {"mask", mask_desc, nullptr},
                                    {"filter", filter_desc, nullptr},
                                    {"bias", nullptr, nullptr},
                                    {"grad_output", grad_output_desc, nullptr},
                                    nullptr,
                                    0},
                                   &gradients, workspace_size);
  });
}

mluOpStatus_t mluOpDCNBackwardData(mluOpHandle_t handle, const mluOpDCNDescriptor_t dcn_desc,
                                   const mluOpTensorDescriptor_t input_desc, const void* input,
                                   const mluOpTensorDescriptor_t offset_desc, const void* offset,
                                   const mluOpTensorDescriptor_t mask_desc, const void* mask,
                                   const mluOpTensorDescriptor_t filter_desc, const void* filter,
                                   const mluOpTensorDescriptor_t grad_output_desc, const void* grad_output,
                                   void* workspace, const size_t workspace_size,
                                   const mluOpTensorDescriptor_t grad_input_desc, void* grad_input,
                                   const mluOpTensorDescriptor_t grad_offset_desc, void* grad_offset,
                                   const mluOpTensorDescriptor_t grad_mask_desc, void* grad_mask) {
  return guard_operator(__func__, handle, [&]() -> Status {
    mluopsDcnBackwardDataProblem problem;
    MLUOPS_RETURN_IF_FINISHED(op::check_dcn_backward_data({handle,
                                                           dcn_desc,
                                                           {"input", input_desc, input},
                                                           {"offset", offset_desc, offset},
                                                           {"mask", mask_desc, mask},
                                                           {"filter", filter_desc, filter},
                                                           {"bias", nullptr, nullptr},
                                                           {"grad_output", grad_output_desc, grad_output},
                                                           workspace,
                                                           workspace_size},
                                                          {{"grad_input", grad_input_desc, grad_input},
                                                           {"grad_offset", grad_offset_desc, grad_offset},
                                                           {"grad_mask", grad_mask_desc, grad_mask}},
                                                          problem));
    return dispatch(*handle, "dcn_backward_data", problem, &mluopsBackend::dcn_backward_data);
  });
}
