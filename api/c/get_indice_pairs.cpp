#include "common/op/get_indice_pairs.h"

#include "api/c/boundary.h"
#include "common/dispatch.h"
#include "mluops/op/get_indice_pairs.h"

using namespace mluops;

namespace {

/// The pointers of this family's descriptor functions; their codes are the vendor's.
Status is_there(mluOpStatus_t code, const char* name, const void* pointer) {
  if (pointer != nullptr) return Status::go_on();
  return Status::error(code, std::string(name) + ": wanted a pointer, got NULL");
}

}  // namespace

mluOpStatus_t mluOpCreateSparseConvolutionDescriptor(mluOpSparseConvolutionDescriptor_t* desc) {
  return guard(__func__, [&]() -> Status {
    MLUOPS_RETURN_IF_FINISHED(is_there(MLUOP_STATUS_NOT_INITIALIZED, "desc", desc));
    *desc = new mluOpSparseConvolutionStruct;
    return Status::go_on();
  });
}

mluOpStatus_t mluOpSetSparseConvolutionDescriptor(mluOpSparseConvolutionDescriptor_t sparse_conv_desc, int dimNb,
                                                  int batch, const int pad[], const int stride[], const int dilation[],
                                                  const int input_space[], const int filter_space[],
                                                  const int output_space[], const int sub_m, const int transpose,
                                                  const int inverse) {
  return guard(__func__, [&]() -> Status {
    MLUOPS_RETURN_IF_FINISHED(op::not_null("sparse_conv_desc", sparse_conv_desc));
    return op::check_sparse_convolution_descriptor(
        {dimNb, batch, pad, stride, dilation, input_space, filter_space, output_space, sub_m, transpose, inverse},
        *sparse_conv_desc);
  });
}

mluOpStatus_t mluOpGetSparseConvolutionNumActOut(mluOpSparseConvolutionDescriptor_t desc, int* num_act_out) {
  return guard(__func__, [&]() -> Status {
    MLUOPS_RETURN_IF_FINISHED(is_there(MLUOP_STATUS_NOT_INITIALIZED, "desc", desc));
    MLUOPS_RETURN_IF_FINISHED(is_there(MLUOP_STATUS_NOT_INITIALIZED, "num_act_out", num_act_out));
    *num_act_out = desc->num_act_out;
    return Status::go_on();
  });
}

mluOpStatus_t mluOpDestroySparseConvolutionDescriptor(mluOpSparseConvolutionDescriptor_t desc) {
  return guard(__func__, [&]() -> Status {
    MLUOPS_RETURN_IF_FINISHED(is_there(MLUOP_STATUS_EXECUTION_FAILED, "desc", desc));
    delete desc;
    return Status::go_on();
  });
}

mluOpStatus_t mluOpGetIndicePairsWorkspaceSize(mluOpHandle_t handle,
                                               mluOpSparseConvolutionDescriptor_t sparse_conv_desc,
                                               const mluOpTensorDescriptor_t indices_desc,
                                               const mluOpTensorDescriptor_t indice_pairs_desc,
                                               const mluOpTensorDescriptor_t out_indices_desc,
                                               const mluOpTensorDescriptor_t indice_num_desc, size_t* workspace_size) {
  return guard(__func__, [&] {
    return op::check_get_indice_pairs_workspace({handle,
                                                 sparse_conv_desc,
                                                 {"indices", indices_desc, nullptr},
                                                 nullptr,
                                                 0,
                                                 {"indice_pairs", indice_pairs_desc, nullptr},
                                                 {"out_indices", out_indices_desc, nullptr},
                                                 {"indice_num", indice_num_desc, nullptr}},
                                                workspace_size);
  });
}

mluOpStatus_t mluOpGetIndicePairs(mluOpHandle_t handle, mluOpSparseConvolutionDescriptor_t sparse_conv_desc,
                                  const mluOpTensorDescriptor_t indices_desc, const void* indices, void* workspace,
                                  const size_t workspace_size, const mluOpTensorDescriptor_t indice_pairs_desc,
                                  void* indice_pairs, const mluOpTensorDescriptor_t out_indices_desc, void* out_indices,
                                  const mluOpTensorDescriptor_t indice_num_desc, void* indice_num) {
  return guard_operator(__func__, handle, [&]() -> Status {
    mluopsGetIndicePairsProblem problem;
    MLUOPS_RETURN_IF_FINISHED(op::check_get_indice_pairs({handle,
                                                          sparse_conv_desc,
                                                          {"indices", indices_desc, indices},
                                                          workspace,
                                                          workspace_size,
                                                          {"indice_pairs", indice_pairs_desc, indice_pairs},
                                                          {"out_indices", out_indices_desc, out_indices},
                                                          {"indice_num", indice_num_desc, indice_num}},
                                                         problem));
    return dispatch(*handle, "get_indice_pairs", problem, &mluopsBackend::get_indice_pairs);
  });
}
