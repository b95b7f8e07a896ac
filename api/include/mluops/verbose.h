/* What calls say on stderr, from within a program: docs/environment.md. */
#ifndef MLUOPS_VERBOSE_H_
#define MLUOPS_VERBOSE_H_

#include "mlu_op.h"

#if defined(__cplusplus)
extern "C" {
#endif

/** What calls of the calling thread say on stderr from now on: 0 nothing, 1 failures, 2 also a line for each attempt of
 * a backend; -1: what MLUOP_VERBOSE says. A program that tries out what is supported is silent while it does.
 *  BAD_PARAM: another level. */
mluOpStatus_t mluOpExtSetVerbose(int level);

#if defined(__cplusplus)
}
#endif

#endif /* MLUOPS_VERBOSE_H_ */
