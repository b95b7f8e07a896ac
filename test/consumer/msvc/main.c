/* Compiled by clang-cl in C and in C++ as Microsoft's compiler would, and linked by lld-link with the import library.
 */
#include "cnrt.h"
#include "mlu_op.h"
#include "mlu_op_ext.h"

int mainCRTStartup(void) {
  mluOpHandle_t handle = NULL;
  if (mluOpCreate(&handle) != MLUOP_STATUS_SUCCESS) return 1;
  if (mluOpCreate(NULL) != MLUOP_STATUS_BAD_PARAM || mluOpExtGetLastErrorText()[0] == '\0') return 2;
  return mluOpDestroy(handle) != MLUOP_STATUS_SUCCESS ? 3 : 0;
}
