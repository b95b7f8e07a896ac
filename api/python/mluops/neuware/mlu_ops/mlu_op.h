/* mlu_op.h of mlu-ops 0.8, as programs of its time include it: mluop-host's API, with the calls that have changed since
 * as they were then. Programs read the version from this file, line by line.
 */
#ifndef MLUOPS_OF_0_8_MLU_OP_H_
#define MLUOPS_OF_0_8_MLU_OP_H_

#include "mluops/mlu_op.h"

#include "mluops/without_version.h"

#define MLUOP_MAJOR 0
#define MLUOP_MINOR 8
#define MLUOP_PATCHLEVEL 1

/** mluOpGetNmsWorkspaceSize(), which had no descriptor. */
static inline mluOpStatus_t mluOpOf08GetNmsWorkspaceSize(mluOpHandle_t handle, const mluOpTensorDescriptor_t boxes_desc,
                                                         const mluOpTensorDescriptor_t confidence_desc, size_t* size) {
  mluOpNmsDescriptor_t nms_desc;
  mluOpStatus_t status = mluOpCreateNmsDescriptor(&nms_desc);
  if (status != MLUOP_STATUS_SUCCESS) return status;
  status = mluOpGetNmsWorkspaceSize(handle, nms_desc, boxes_desc, confidence_desc, size);
  mluOpDestroyNmsDescriptor(nms_desc);
  return status;
}
#define mluOpGetNmsWorkspaceSize mluOpOf08GetNmsWorkspaceSize

#endif /* MLUOPS_OF_0_8_MLU_OP_H_ */
