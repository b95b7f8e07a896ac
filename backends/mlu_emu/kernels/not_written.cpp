// Operators without a kernel file decline; the build defines which (backends/mlu_emu/CMakeLists.txt).
#include "backends/mlu_emu/operators.h"

namespace mluops::emu {

#define MLUOPS_EMU_DECLINE(name, Problem)                                \
  mluOpStatus_t name(Context&, const mluopsCall& call, const Problem&) { \
    return not_supported(call, #name ": its kernel is not written yet"); \
  }
#ifdef MLUOPS_EMU_WITHOUT_carafe
MLUOPS_EMU_DECLINE(carafe_forward, mluopsCarafeForwardProblem)
MLUOPS_EMU_DECLINE(carafe_backward, mluopsCarafeBackwardProblem)
#endif
#ifdef MLUOPS_EMU_WITHOUT_psamask
MLUOPS_EMU_DECLINE(psamask_forward, mluopsPsamaskForwardProblem)
MLUOPS_EMU_DECLINE(psamask_backward, mluopsPsamaskBackwardProblem)
#endif
#ifdef MLUOPS_EMU_WITHOUT_three_interpolate
MLUOPS_EMU_DECLINE(three_interpolate_forward, mluopsThreeInterpolateForwardProblem)
MLUOPS_EMU_DECLINE(three_interpolate_backward, mluopsThreeInterpolateBackwardProblem)
#endif
#ifdef MLUOPS_EMU_WITHOUT_deform_roi_pool
MLUOPS_EMU_DECLINE(deform_roi_pool_forward, mluopsDeformRoiPoolForwardProblem)
MLUOPS_EMU_DECLINE(deform_roi_pool_backward, mluopsDeformRoiPoolBackwardProblem)
#endif
#ifdef MLUOPS_EMU_WITHOUT_border_align
MLUOPS_EMU_DECLINE(border_align_forward, mluopsBorderAlignForwardProblem)
MLUOPS_EMU_DECLINE(border_align_backward, mluopsBorderAlignBackwardProblem)
#endif

}  // namespace mluops::emu
