/* The types of mlu_op.h and mlu_op_ext.h: below every other header, it has no function.
 *
 * Programs include mlu_op.h. The headers of single operators (mluops/op) and their problems (mluops/problem) need no
 * more than this one, so that a change to one operator concerns no other.
 */
#ifndef MLU_OP_TYPES_H_
#define MLU_OP_TYPES_H_

#define MLUOP_MAJOR 1
#define MLUOP_MINOR 11
#define MLUOP_PATCHLEVEL 1
#define MLUOP_VERSION (MLUOP_MAJOR * 1000 + MLUOP_MINOR * 100 + MLUOP_PATCHLEVEL)

#define MLUOP_DIM_MAX 8

#include <stdint.h>

#include "cn_api.h"
#include "cnrt.h"

#ifndef MLUOP_WIN_API
#define MLUOP_WIN_API
#endif

#if defined(__cplusplus)
extern "C" {
#endif

/* ---- enumerations ------------------------------------------------------------------------ */

/** What a call returns. */
typedef enum {
  MLUOP_STATUS_SUCCESS = 0,            /**< The call did what it says. */
  MLUOP_STATUS_NOT_INITIALIZED = 1,    /**< No usable backend (see mluOpCreate). */
  MLUOP_STATUS_ALLOC_FAILED = 2,       /**< Memory could not be had. */
  MLUOP_STATUS_BAD_PARAM = 3,          /**< An argument breaks a rule of the function. */
  MLUOP_STATUS_INTERNAL_ERROR = 4,     /**< A defect of the library. */
  MLUOP_STATUS_ARCH_MISMATCH = 5,      /**< The architecture lacks the operator. */
  MLUOP_STATUS_EXECUTION_FAILED = 6,   /**< The backend gave up while running. */
  MLUOP_STATUS_NOT_SUPPORTED = 7,      /**< Legal, but beyond what the backend does. */
  MLUOP_STATUS_NUMERICAL_OVERFLOW = 8, /**< A value left its type's range. */
} mluOpStatus_t;

/** Order of the dimensions of a tensor, slowest first. */
typedef enum {
  MLUOP_LAYOUT_NCHW = 0,
  MLUOP_LAYOUT_NHWC = 1,
  MLUOP_LAYOUT_HWCN = 2,
  MLUOP_LAYOUT_NDHWC = 3,
  MLUOP_LAYOUT_ARRAY = 4, /**< No meaning attached to the dimensions. */
  MLUOP_LAYOUT_NCDHW = 5,
  MLUOP_LAYOUT_TNC = 6,
  MLUOP_LAYOUT_NTC = 7,
  MLUOP_LAYOUT_NC = 8,
  MLUOP_LAYOUT_NLC = 9,
  MLUOP_LAYOUT_NCL = 10,
} mluOpTensorLayout_t;

/** Element types. DOUBLE and BFLOAT16 are taken by an operator only under the EXTENDED contract. */
typedef enum {
  MLUOP_DTYPE_INVALID = 0,
  MLUOP_DTYPE_HALF = 1,
  MLUOP_DTYPE_FLOAT = 2,
  MLUOP_DTYPE_INT8 = 3,
  MLUOP_DTYPE_INT16 = 4,
  MLUOP_DTYPE_INT31 = 5,
  MLUOP_DTYPE_INT32 = 6,
  MLUOP_DTYPE_UINT8 = 7,
  MLUOP_DTYPE_BOOL = 8,
  MLUOP_DTYPE_INT64 = 9,
  MLUOP_DTYPE_UINT32 = 11,
  MLUOP_DTYPE_UINT64 = 12,
  MLUOP_DTYPE_UINT16 = 13,
  MLUOP_DTYPE_DOUBLE = 14,
  MLUOP_DTYPE_COMPLEX_HALF = 15,
  MLUOP_DTYPE_COMPLEX_FLOAT = 16,
  MLUOP_DTYPE_BFLOAT16 = 17,
} mluOpDataType_t;

/** Whether gradients may be summed with atomic additions (results then vary in the last bits). */
typedef enum {
  MLUOP_ATOMICS_NOT_ALLOWED = 1, /**< Default: bitwise equal on every run and thread count. */
  MLUOP_ATOMICS_ALLOWED = 2,
} mluOpAtomicsMode_t;

/** Rounding of quantising conversions; kept for clients, no operator here quantises. */
typedef enum {
  MLUOP_ROUND_HALF_TO_EVEN = 0,
  MLUOP_ROUND_HALF_UP = 1,
  MLUOP_ROUND_HALF_OFF_ZERO = 2,
} mluOpQuantizeRoundMode_t;

/** Where a scalar passed by pointer lives. */
typedef enum {
  MLUOP_POINTER_MODE_HOST = 0,
  MLUOP_POINTER_MODE_DEVICE = 1,
} mluOpPointerMode_t;

/** Reductions named by framework glue; no operator here uses them. */
typedef enum {
  MLUOP_REDUCE_DSUM = 0,
  MLUOP_REDUCE_DMEAN = 1,
  MLUOP_REDUCE_DMAX = 2,
} mluOpReduceMode_t;

/** Speed or precision; every value gives the same numbers here. */
typedef enum {
  MLUOP_COMPUTATION_FAST = 0,
  MLUOP_COMPUTATION_HIGH_PRECISION = 1,
  MLUOP_COMPUTATION_ULTRAHIGH_PRECISION = 2,
} mluOpComputationPreference_t;

/* ---- opaque types ------------------------------------------------------------------------ */

typedef struct mluOpContext* mluOpHandle_t;
typedef struct mluOpTensorStruct* mluOpTensorDescriptor_t;
typedef struct mluOpCarafeStruct* mluOpCarafeDescriptor_t;
typedef struct mluOpSparseConvolutionStruct* mluOpSparseConvolutionDescriptor_t;

/* ---- types of mlu_op_ext.h --------------------------------------------------------------- */

/** The caller's own thread pool. parallel_for calls body(arg, task) once for every task in [0, tasks), from any
 *  thread, and returns when all are done. It must not throw. A call on the same handle from inside parallel_for on the
 *  calling thread is BAD_PARAM; from another thread it waits for the call in progress, so parallel_for must not wait
 *  for that thread. */
typedef struct {
  void* context;
  void (*parallel_for)(void* context, int64_t tasks, void (*body)(void* arg, int64_t task), void* arg);
} mluOpExtExecutor_t;

/** What arguments a handle's calls may have. */
typedef enum {
  MLUOP_EXT_CONTRACT_STRICT = 0,   /**< mlu_op.h to the letter (default). */
  MLUOP_EXT_CONTRACT_EXTENDED = 1, /**< Larger CARAFE kernels and scales, tensors of 2^31 elements and more, psamask
                                        in every dtype, DOUBLE and BFLOAT16, image tensors in NCHW (all of a call
                                        alike, their dimensions in that order), where the backend can. */
} mluOpExtContract_t;

#if defined(__cplusplus)
}
#endif

#endif /* MLU_OP_TYPES_H_ */
