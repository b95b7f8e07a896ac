/* Calls kept as files from within a program: docs/replay.md. */
#ifndef MLUOPS_CAPTURE_H_
#define MLUOPS_CAPTURE_H_

#include <stdint.h>

#include "mlu_op.h"

#if defined(__cplusplus)
extern "C" {
#endif

/** Keeps calls of this process as files of an existing folder from now on, as MLUOP_CAPTURE does from the start; folder
 *  NULL ends it. operators: parts of names, "carafe,nms", NULL for all; calls: most files; bytes: larger tensors are
 * left out, their hash stays. A call on its way on another thread ends under what it began with. BAD_PARAM: no such
 * folder, a negative number. */
mluOpStatus_t mluOpExtSetCapture(const char* folder, const char* operators, int64_t calls, int64_t bytes);

#if defined(__cplusplus)
}
#endif

#endif /* MLUOPS_CAPTURE_H_ */
