#include "common/op/knn.h"

#include "api/c/boundary.h"
#include "common/dispatch.h"
#include "mluops/op/knn.h"

using namespace mluops;

mluOpStatus_t mluOpExtKnn(mluOpHandle_t handle, const mluOpTensorDescriptor_t xyz_desc, const void* xyz,
                          const mluOpTensorDescriptor_t new_xyz_desc, const void* new_xyz, const int k,
                          const mluOpTensorDescriptor_t idx_desc, void* idx, const mluOpTensorDescriptor_t dist2_desc,
                          void* dist2) {
  return guard_operator(__func__, handle, [&]() -> Status {
    mluopsKnnProblem problem;
    MLUOPS_RETURN_IF_FINISHED(op::check_knn({handle,
                                             {"xyz", xyz_desc, xyz},
                                             {"new_xyz", new_xyz_desc, new_xyz},
                                             k,
                                             {"idx", idx_desc, idx},
                                             {"dist2", dist2_desc, dist2}},
                                            problem));
    return dispatch(*handle, "knn", problem, &mluopsBackend::knn);
  });
}
