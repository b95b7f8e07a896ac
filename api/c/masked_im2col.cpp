#include "common/op/masked_im2col.h"

#include "api/c/boundary.h"
#include "common/dispatch.h"
#include "mluops/op/masked_im2col.h"

using namespace mluops;

namespace {

/// Writes the size 0 where all that was asked about is there.
Status no_workspace(mluOpHandle_t handle, std::initializer_list<op::TensorArg> tensors, size_t* workspace_size) {
  MLUOPS_RETURN_IF_FINISHED(op::not_null("handle", handle));
  MLUOPS_RETURN_IF_FINISHED(op::have_descs(tensors));
  MLUOPS_RETURN_IF_FINISHED(op::not_null("workspace_size", workspace_size));
  *workspace_size = 0;
  return Status::go_on();
}

}  // namespace

mluOpStatus_t mluOpGetMaskedIm2colForwardWorkspaceSize(mluOpHandle_t handle, const mluOpTensorDescriptor_t feature_desc,
                                                       const mluOpTensorDescriptor_t mask_h_idx_desc,
                                                       const mluOpTensorDescriptor_t mask_w_idx_desc, const int,
                                                       const int, const mluOpTensorDescriptor_t data_col_desc,
                                                       size_t* workspace_size) {
  return guard(__func__, [&]() -> Status {
    return no_workspace(handle,
                        {{"feature", feature_desc, nullptr},
                         {"mask_h_idx", mask_h_idx_desc, nullptr},
                         {"mask_w_idx", mask_w_idx_desc, nullptr},
                         {"data_col", data_col_desc, nullptr}},
                        workspace_size);
  });
}

mluOpStatus_t mluOpMaskedIm2colForward(mluOpHandle_t handle, const mluOpTensorDescriptor_t feature_desc,
                                       const void* feature, const mluOpTensorDescriptor_t mask_h_idx_desc,
                                       const void* mask_h_idx, const mluOpTensorDescriptor_t mask_w_idx_desc,
                                       const void* mask_w_idx, const int kernel_h, const int kernel_w, const int pad_h,
                                       const int pad_w, void*, const size_t,
                                       const mluOpTensorDescriptor_t data_col_desc, void* data_col) {
  return guard_operator(__func__, handle, [&]() -> Status {
    mluopsMaskedIm2colForwardProblem problem;
    MLUOPS_RETURN_IF_FINISHED(op::check_masked_im2col_forward({handle,
                                                               {"feature", feature_desc, feature},
                                                               {"mask_h_idx", mask_h_idx_desc, mask_h_idx},
                                                               {"mask_w_idx", mask_w_idx_desc, mask_w_idx},
                                                               kernel_h,
                                                               kernel_w,
                                                               pad_h,
                                                               pad_w,
                                                               {"data_col", data_col_desc, data_col}},
                                                              problem));
    return dispatch(*handle, "masked_im2col_forward", problem, &mluopsBackend::masked_im2col_forward);
  });
}

mluOpStatus_t mluOpGetMaskedCol2imForwardWorkspaceSize(mluOpHandle_t handle, const mluOpTensorDescriptor_t col_desc,
                                                       const mluOpTensorDescriptor_t mask_h_idx_desc,
                                                       const mluOpTensorDescriptor_t mask_w_idx_desc,
                                                       const mluOpTensorDescriptor_t im_desc, size_t* workspace_size) {
  return guard(__func__, [&]() -> Status {
    return no_workspace(handle,
                        {{"col", col_desc, nullptr},
                         {"mask_h_idx", mask_h_idx_desc, nullptr},
                         {"mask_w_idx", mask_w_idx_desc, nullptr},
                         {"im", im_desc, nullptr}},
                        workspace_size);
  });
}

mluOpStatus_t mluOpMaskedCol2imForward(mluOpHandle_t handle, const mluOpTensorDescriptor_t col_desc, const void* col,
                                       const mluOpTensorDescriptor_t mask_h_idx_desc, const void* mask_h_idx,
                                       const mluOpTensorDescriptor_t mask_w_idx_desc, const void* mask_w_idx,
                                       const size_t, void*, const mluOpTensorDescriptor_t im_desc, void* im) {
  return guard_operator(__func__, handle, [&]() -> Status {
    mluopsMaskedCol2imForwardProblem problem;
    MLUOPS_RETURN_IF_FINISHED(op::check_masked_col2im_forward({handle,
                                                               {"col", col_desc, col},
                                                               {"mask_h_idx", mask_h_idx_desc, mask_h_idx},
                                                               {"mask_w_idx", mask_w_idx_desc, mask_w_idx},
                                                               {"im", im_desc, im}},
                                                              problem));
    return dispatch(*handle, "masked_col2im_forward", problem, &mluopsBackend::masked_col2im_forward);
  });
}
