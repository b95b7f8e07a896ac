#include "mluops/backend.h"
#include "backends/mlu_emu/bang/bang.h"
#include "backends/mlu_emu/operators.h"

extern "C" {
extern const mluopsBackend mluops_backend_mlu_emu;
const mluopsBackend mluops_backend_mlu_emu = {
    .abi_version = MLUOPS_BACKEND_ABI_VERSION,
    .struct_size = sizeof(mluopsBackend),
    .name = "mlu_emu",
    .description = "emulated MLU: NRAM partitions, core splitting, checks",
    .create = nullptr,
    .destroy = nullptr,
    .set_option = nullptr,
    .query = nullptr,
    .carafe_forward = nullptr,
    .carafe_backward = nullptr,
    .psamask_forward = nullptr,
    .psamask_backward = nullptr,
    .three_interpolate_forward = nullptr,
    .three_interpolate_backward = nullptr,
    .deform_roi_pool_forward = nullptr,
    .deform_roi_pool_backward = nullptr,
    .border_align_forward = nullptr,
    .border_align_backward = nullptr,
};
}
