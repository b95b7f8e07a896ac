#include "common/op/indice_max_pool.h"

#include "api/c/boundary.h"
#include "common/dispatch.h"
#include "mluops/op/indice_max_pool.h"

using namespace mluops;

mluOpStatus_t mluOpExtIndiceMaxPoolForward(mluOpHandle_t handle, const mluOpTensorDescriptor_t features_desc,
                                           const void* features, const mluOpTensorDescriptor_t indice_pairs_desc,
                                           const void* indice_pairs, const int64_t indice_num[],
                                           const mluOpTensorDescriptor_t features_out_desc, void* features_out) {
  return guard_operator(__func__, handle, [&]() -> Status {
    mluopsIndiceMaxPoolForwardProblem problem;
    MLUOPS_RETURN_IF_FINISHED(op::check_indice_max_pool_forward({handle,
                                                                 {"features", features_desc, features},
                                                                 {"indice_pairs", indice_pairs_desc, indice_pairs},
                                                                 indice_num,
                                                                 {"features_out", features_out_desc, features_out}},
                                                                problem));
    return dispatch(*handle, "indice_max_pool_forward", problem, &mluopsBackend::indice_max_pool_forward);
  });
}

mluOpStatus_t mluOpExtIndiceMaxPoolBackward(mluOpHandle_t handle, const mluOpTensorDescriptor_t features_desc,
                                            const void* features, const mluOpTensorDescriptor_t features_out_desc,
                                            const void* features_out, const mluOpTensorDescriptor_t output_grad_desc,
                                            const void* output_grad, const mluOpTensorDescriptor_t indice_pairs_desc,
                                            const void* indice_pairs, const int64_t indice_num[],
                                            const mluOpTensorDescriptor_t input_grad_desc, void* input_grad) {
  return guard_operator(__func__, handle, [&]() -> Status {
    mluopsIndiceMaxPoolBackwardProblem problem;
    MLUOPS_RETURN_IF_FINISHED(op::check_indice_max_pool_backward({handle,
                                                                  {"features", features_desc, features},
                                                                  {"features_out", features_out_desc, features_out},
                                                                  {"output_grad", output_grad_desc, output_grad},
                                                                  {"indice_pairs", indice_pairs_desc, indice_pairs},
                                                                  indice_num,
                                                                  {"input_grad", input_grad_desc, input_grad}},
                                                                 problem));
    return dispatch(*handle, "indice_max_pool_backward", problem, &mluopsBackend::indice_max_pool_backward);
  });
}
