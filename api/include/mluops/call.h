/* What a backend is given with each problem: part of the plugin ABI, mluops/backend.h. No operator changes it. */
#ifndef MLUOPS_CALL_H_
#define MLUOPS_CALL_H_

#include <stdint.h>

#include "mlu_op_types.h"

#if defined(__cplusplus)
extern "C" {
#endif

/** What one call brings along besides its problem. Valid during the call only. */
typedef struct {
  uint32_t struct_size;               /**< sizeof of the caller's struct */
  int threads;                        /**< how many threads the call may use, >= 1 */
  mluOpAtomicsMode_t atomics;         /**< may gradients be summed in varying order? */
  mluOpExtContract_t contract;        /**< STRICT or EXTENDED */
  const mluOpExtExecutor_t* executor; /**< the caller's thread pool, or NULL */
  /** Says why the call is about to return something other than SUCCESS: one line, names the argument. */
  void (*set_error)(const char* text);
} mluopsCall;

#if defined(__cplusplus)
}
#endif

#endif /* MLUOPS_CALL_H_ */
