/* Every public header in one C99 translation unit, with no extension of a compiler. */
#include "cn_api.h"
#include "cnrt.h"
#include "mlu_op.h"
#include "mlu_op_ext.h"
#include "mluops/backend.h"
#include "mluops/problem.h"

/* A translation unit must declare something. */
typedef mluOpStatus_t headers_are_c99;
