#include "common/op/fft_plan.h"

#include "api/c/boundary.h"

using namespace mluops;

mluOpStatus_t mluOpCreateFFTPlan(mluOpFFTPlan_t* fft_plan) {
  return guard(__func__, {{"fft_plan", fft_plan}}, [&] { *fft_plan = new mluOpFFTStruct; });
}

mluOpStatus_t mluOpMakeFFTPlanMany(mluOpHandle_t handle, mluOpFFTPlan_t fft_plan,
                                   const mluOpTensorDescriptor_t input_desc, const mluOpTensorDescriptor_t output_desc,
                                   const int rank, const int n[], size_t* reservespace_size, size_t* workspace_size) {
  return guard(__func__, [&]() -> Status {
    mluOpFFTStruct made;
    MLUOPS_RETURN_IF_FINISHED(op::check_fft_plan({handle,
                                                  fft_plan,
                                                  {"input", input_desc, nullptr},
                                                  {"output", output_desc, nullptr},
                                                  rank,
                                                  n,
                                                  reservespace_size,
                                                  workspace_size},
                                                 made));
    *fft_plan = made;
    *reservespace_size = *workspace_size = 0;
    return Status::go_on();
  });
}

mluOpStatus_t mluOpSetFFTReserveArea(mluOpHandle_t handle, mluOpFFTPlan_t fft_plan, void*) {
  return guard(__func__, {{"handle", handle}, {"fft_plan", fft_plan}}, [] {});
}

mluOpStatus_t mluOpDestroyFFTPlan(mluOpFFTPlan_t fft_plan) {
  return guard(__func__, {{"fft_plan", fft_plan}}, [&] { delete fft_plan; });
}
