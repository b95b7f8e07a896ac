// Calls that the STRICT contract refuses, and those that lack a workspace.
#pragma once

#include <cstddef>
#include <utility>

#include "mlu_op_ext.h"

namespace mluops::cases {

/// Whether calls may ask for EXTENDED: a caller that needs what STRICT refuses to be refused says no.
inline bool extended_is_allowed = true;

/// The size that calls give of their workspace, which is NULL; 0 but for a caller that needs them to be refused.
inline std::size_t missing_workspace = 0;

/// call() under the EXTENDED contract where `extended`; the handle gets its own back.
template <class Call>
mluOpStatus_t under_extended(bool extended, mluOpHandle_t handle, Call&& call) {
  mluOpExtContract_t own = MLUOP_EXT_CONTRACT_STRICT;
  if (!extended || !extended_is_allowed || mluOpExtGetContract(handle, &own) != MLUOP_STATUS_SUCCESS) {
    return std::forward<Call>(call)();
  }
  mluOpExtSetContract(handle, MLUOP_EXT_CONTRACT_EXTENDED);
  const mluOpStatus_t status = std::forward<Call>(call)();
  mluOpExtSetContract(handle, own);
  return status;
}

}  // namespace mluops::cases
