#include "common/op/indice_convolution.h"

#include "api/c/boundary.h"
#include "common/dispatch.h"
#include "mluops/op/indice_convolution.h"

using namespace mluops;

mluOpStatus_t mluOpGetIndiceConvolutionForwardWorkspaceSize(
    mluOpHandle_t handle, const mluOpTensorDescriptor_t features_desc, const mluOpTensorDescriptor_t filters_desc,
    const mluOpTensorDescriptor_t indice_pairs_desc, const mluOpTensorDescriptor_t features_out_desc,
    const int64_t indice_num[], const int64_t num_act_out, const int64_t inverse, const int64_t sub_m, size_t* size) {
  return guard(__func__, [&] {
    return op::check_indice_convolution_forward_workspace({handle,
                                                           {"features", features_desc, nullptr},
                                                           {"filters", filters_desc, nullptr},
                                                           {"indice_pairs", indice_pairs_desc, nullptr},
                                                           indice_num,
                                                           inverse,
                                                           sub_m,
                                                           nullptr,
                                                           0,
                                                           {"features_out", features_out_desc, nullptr}},
                                                          num_act_out, size);
  });
}

mluOpStatus_t mluOpIndiceConvolutionForward(mluOpHandle_t handle, const mluOpTensorDescriptor_t features_desc,
                                            const void* features, const mluOpTensorDescriptor_t filters_desc,
                                            const void* filters, const mluOpTensorDescriptor_t indice_pairs_desc,
                                            const void* indice_pairs, const int64_t indice_num[],
                                            const int64_t num_act_out, const int64_t inverse, const int64_t sub_m,
                                            void* workspace, size_t workspace_size,
                                            const mluOpTensorDescriptor_t features_out_desc, void* features_out) {
  return guard_operator(__func__, handle, [&]() -> Status {
    mluopsIndiceConvolutionForwardProblem problem;
    MLUOPS_RETURN_IF_FINISHED(op::check_indice_convolution_forward({handle,
                                                                    {"features", features_desc, features},
                                                                    {"filters", filters_desc, filters},
                                                                    {"indice_pairs", indice_pairs_desc, indice_pairs},
                                                                    indice_num,
                                                                    inverse,
                                                                    sub_m,
                                                                    workspace,
                                                                    workspace_size,
                                                                    {"features_out", features_out_desc, features_out}},
                                                                   num_act_out, problem));
    return dispatch(*handle, "indice_convolution_forward", problem, &mluopsBackend::indice_convolution_forward);
  });
}

mluOpStatus_t mluOpGetIndiceConvolutionBackwardDataWorkspaceSize(
    mluOpHandle_t handle, const mluOpTensorDescriptor_t output_grad_desc, const mluOpTensorDescriptor_t filters_desc,
    const mluOpTensorDescriptor_t indice_pairs_desc, const mluOpTensorDescriptor_t input_grad_desc,
    const int64_t indice_num[], const int64_t inverse, size_t* workspace_size) {
  return guard(__func__, [&] {
    return op::check_indice_convolution_backward_data_workspace({handle,
                                                                 {"input_grad", input_grad_desc, nullptr},
                                                                 {"filters", filters_desc, nullptr},
                                                                 {"indice_pairs", indice_pairs_desc, nullptr},
                                                                 indice_num,
                                                                 inverse,
                                                                 0,
                                                                 nullptr,
                                                                 0,
                                                                 {"output_grad", output_grad_desc, nullptr}},
                                                                workspace_size);
  });
}

mluOpStatus_t mluOpIndiceConvolutionBackwardData(mluOpHandle_t handle, const mluOpTensorDescriptor_t output_grad_desc,
                                                 const void* output_grad, const mluOpTensorDescriptor_t filters_desc,
                                                 const void* filters, const mluOpTensorDescriptor_t indice_pairs_desc,
                                                 const void* indice_pairs, const int64_t indice_num[],
                                                 const int64_t inverse, const int64_t sub_m, void* workspace,
                                                 const size_t workspace_size,
                                                 const mluOpTensorDescriptor_t input_grad_desc, void* input_grad) {
  return guard_operator(__func__, handle, [&]() -> Status {
    mluopsIndiceConvolutionBackwardDataProblem problem;
    MLUOPS_RETURN_IF_FINISHED(
        op::check_indice_convolution_backward_data({handle,
                                                    {"input_grad", input_grad_desc, input_grad},
                                                    {"filters", filters_desc, filters},
                                                    {"indice_pairs", indice_pairs_desc, indice_pairs},
                                                    indice_num,
                                                    inverse,
                                                    sub_m,
                                                    workspace,
                                                    workspace_size,
                                                    {"output_grad", output_grad_desc, output_grad}},
                                                   problem));
    return dispatch(*handle, "indice_convolution_backward_data", problem,
                    &mluopsBackend::indice_convolution_backward_data);
  });
}

mluOpStatus_t mluOpGetIndiceConvolutionBackwardFilterWorkspaceSize(
    mluOpHandle_t handle, const mluOpTensorDescriptor_t features_desc, const mluOpTensorDescriptor_t output_grad_desc,
    const mluOpTensorDescriptor_t indice_pairs_desc, const mluOpTensorDescriptor_t filters_grad_desc,
    const int64_t indice_num[], const int64_t inverse, const int64_t sub_m, size_t* size) {
  return guard(__func__, [&] {
    return op::check_indice_convolution_backward_filter_workspace({handle,
                                                                   {"features", features_desc, nullptr},
                                                                   {"filters_grad", filters_grad_desc, nullptr},
                                                                   {"indice_pairs", indice_pairs_desc, nullptr},
                                                                   indice_num,
                                                                   inverse,
                                                                   sub_m,
                                                                   nullptr,
                                                                   0,
                                                                   {"output_grad", output_grad_desc, nullptr}},
                                                                  size);
  });
}

mluOpStatus_t mluOpIndiceConvolutionBackwardFilter(
    mluOpHandle_t handle, const mluOpTensorDescriptor_t features_desc, const void* features,
    const mluOpTensorDescriptor_t output_grad_desc, const void* output_grad,
    const mluOpTensorDescriptor_t indice_pairs_desc, const void* indice_pairs, const int64_t indice_num[],
    const int64_t inverse, const int64_t sub_m, void* workspace, const size_t workspace_size,
    const mluOpTensorDescriptor_t filters_grad_desc, void* filters_grad) {
  return guard_operator(__func__, handle, [&]() -> Status {
    mluopsIndiceConvolutionBackwardFilterProblem problem;
    MLUOPS_RETURN_IF_FINISHED(
        op::check_indice_convolution_backward_filter({handle,
                                                      {"features", features_desc, features},
                                                      {"filters_grad", filters_grad_desc, filters_grad},
                                                      {"indice_pairs", indice_pairs_desc, indice_pairs},
                                                      indice_num,
                                                      inverse,
                                                      sub_m,
                                                      workspace,
                                                      workspace_size,
                                                      {"output_grad", output_grad_desc, output_grad}},
                                                     problem));
    return dispatch(*handle, "indice_convolution_backward_filter", problem,
                    &mluopsBackend::indice_convolution_backward_filter);
  });
}
