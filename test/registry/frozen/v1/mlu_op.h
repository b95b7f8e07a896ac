/* mluOp-compatible C API of mluop-host: the MLU-OPS 1.11 names, argument orders and
 * enumerator values that clients of ten operators touch, run on the host.
 *
 * Conventions of this header
 *  - "Device" pointers are ordinary host pointers; every call is complete when it returns.
 *  - Tensors are dense, row-major; shapes below are written slowest dimension first.
 *  - dtype T is HALF or FLOAT and is the same for all tensors named T in one call, unless said otherwise.
 *  - A call that does not return MLUOP_STATUS_SUCCESS has written none of its outputs, and
 *    mluOpExtGetLastErrorText() (mlu_op_ext.h) says which argument was wrong, what was wanted
 *    and what was given. EXECUTION_FAILED is the one exception: the run was stopped on the way.
 *  - Outputs are overwritten, never accumulated into; outputs may not overlap inputs.
 */
#ifndef MLU_OP_H_
#define MLU_OP_H_

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
  MLUOP_ATOMICS_NOT_ALLOWED = 1, /**< Default: the same bits on every run and thread count. */
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

/* ---- opaque types ------------------------------------------------------------------------ */

typedef struct mluOpContext* mluOpHandle_t;
typedef struct mluOpTensorStruct* mluOpTensorDescriptor_t;
typedef struct mluOpCarafeStruct* mluOpCarafeDescriptor_t;

/* ---- handle ------------------------------------------------------------------------------ */

/** Creates a handle bound to the backend that MLUOP_BACKEND names (default "cpu").
 *  BAD_PARAM: handle is NULL. NOT_INITIALIZED: the backend is unknown or cannot be used here;
 *  the last-error text lists the known names. */
mluOpStatus_t MLUOP_WIN_API mluOpCreate(mluOpHandle_t* handle);

/** Re-reads what the device context may have changed; nothing on the host. BAD_PARAM: NULL. */
mluOpStatus_t MLUOP_WIN_API mluOpUpdateContextInformation(mluOpHandle_t handle);

/** Destroys a handle. BAD_PARAM: NULL. */
mluOpStatus_t MLUOP_WIN_API mluOpDestroy(mluOpHandle_t handle);

/** Binds a queue (may be NULL, the default queue). Cheap. BAD_PARAM: handle is NULL. */
mluOpStatus_t MLUOP_WIN_API mluOpSetQueue(mluOpHandle_t handle, cnrtQueue_t queue);
/** The queue bound last; NULL at first. BAD_PARAM: an argument is NULL. */
mluOpStatus_t MLUOP_WIN_API mluOpGetQueue(mluOpHandle_t handle, cnrtQueue_t* queue);

/** Chooses how gradients are summed; see mluOpAtomicsMode_t. BAD_PARAM: handle is NULL. */
mluOpStatus_t MLUOP_WIN_API mluOpSetAtomicsMode(mluOpHandle_t handle, mluOpAtomicsMode_t atomics_mode);
/** The mode set last; NOT_ALLOWED at first. BAD_PARAM: an argument is NULL. */
mluOpStatus_t MLUOP_WIN_API mluOpGetAtomicsMode(mluOpHandle_t handle, mluOpAtomicsMode_t* atomics_mode);

/** Stores a rounding mode. BAD_PARAM: handle is NULL or the value is none of the three. */
mluOpStatus_t MLUOP_WIN_API mluOpSetQuantizeRoundMode(mluOpHandle_t handle, mluOpQuantizeRoundMode_t round_mode);
/** The mode set last; HALF_TO_EVEN at first. BAD_PARAM: an argument is NULL. */
mluOpStatus_t MLUOP_WIN_API mluOpGetQuantizeRoundMode(mluOpHandle_t handle, mluOpQuantizeRoundMode_t* round_mode);

/** The enumerator's name, e.g. "MLUOP_STATUS_BAD_PARAM"; "MLUOP_STATUS_UNKNOWN" for other values. Never NULL. */
const char* mluOpGetErrorString(mluOpStatus_t status);

/** Version of the API this library implements; NULL outputs are skipped. */
void mluOpGetLibVersion(int* major, int* minor, int* patch);
/** MLUOP_VERSION of the library (deprecated by mluOpGetLibVersion). */
size_t MLUOP_WIN_API mluOpGetVersion(void);

/** Bytes of device memory the vendor's library reserves (MLUOP_MEM_POOL_SIZE or 2081 MiB); the host reserves none.
 *  BAD_PARAM: NULL. */
mluOpStatus_t MLUOP_WIN_API mluOpGetReservedMemSize(uint64_t* mem_size);

/* ---- dtype and layout -------------------------------------------------------------------- */

/** Bytes of one element. BAD_PARAM: size is NULL or data_type INVALID. An unknown value gives 0. */
mluOpStatus_t MLUOP_WIN_API mluOpGetSizeOfDataType(mluOpDataType_t data_type, size_t* size);
/** "DTYPE_FLOAT" and so on; "DTYPE_INVALID" for other values. */
const char* mluOpGetNameOfDataType(mluOpDataType_t dtype);
/** "LAYOUT_NHWC" and so on; "LAYOUT_ARRAY" for other values. */
const char* mluOpGetNameOfTensorLayout(mluOpTensorLayout_t layout);

/* ---- tensor descriptors ------------------------------------------------------------------ */

/** Creates a descriptor: no dimensions, FLOAT, ARRAY, device pointer mode. BAD_PARAM: NULL. */
mluOpStatus_t MLUOP_WIN_API mluOpCreateTensorDescriptor(mluOpTensorDescriptor_t* desc);

/** Creates desc_num descriptors, *group_desc[i] each. BAD_PARAM: NULL or desc_num <= 0. */
mluOpStatus_t MLUOP_WIN_API mluOpCreateGroupTensorDescriptors(mluOpTensorDescriptor_t* group_desc[],
                                                              const int desc_num);

/** Sets layout, dtype and dimensions of a dense row-major tensor.
 *  dimNb 0 needs pointer mode HOST (a scalar). Dimensions may be 0 (an empty tensor).
 *  BAD_PARAM: desc or dimSize NULL, layout, dtype, dimNb or a dimension negative. */
mluOpStatus_t MLUOP_WIN_API mluOpSetTensorDescriptor(mluOpTensorDescriptor_t desc, mluOpTensorLayout_t layout,
                                                     mluOpDataType_t dtype, int dimNb, const int dimSize[]);
/** As mluOpSetTensorDescriptor, 64-bit dimensions. */
mluOpStatus_t MLUOP_WIN_API mluOpSetTensorDescriptor_v2(mluOpTensorDescriptor_t desc, mluOpTensorLayout_t layout,
                                                        mluOpDataType_t dtype, int dimNb, const int64_t dimSize[]);

/** Sets desc_num descriptors; group_dimSize holds all dimensions one tensor after the other.
 *  BAD_PARAM: an array is NULL, desc_num <= 0, or one member is refused. */
mluOpStatus_t MLUOP_WIN_API mluOpSetGroupTensorDescriptors(mluOpTensorDescriptor_t* group_desc[],
                                                           const mluOpTensorLayout_t group_layout[],
                                                           const mluOpDataType_t group_dtype[], const int group_dimNb[],
                                                           const int group_dimSize[], const int desc_num);
/** As mluOpSetGroupTensorDescriptors, 64-bit dimensions. */
mluOpStatus_t MLUOP_WIN_API mluOpSetGroupTensorDescriptors_v2(mluOpTensorDescriptor_t* group_desc[],
                                                              const mluOpTensorLayout_t group_layout[],
                                                              const mluOpDataType_t group_dtype[],
                                                              const int group_dimNb[], const int64_t group_dimSize[],
                                                              const int desc_num);

/** As mluOpSetTensorDescriptor with strides, counted in elements. Strides of size-1 dimensions are arbitrary. */
mluOpStatus_t MLUOP_WIN_API mluOpSetTensorDescriptorEx(mluOpTensorDescriptor_t desc, mluOpTensorLayout_t layout,
                                                       mluOpDataType_t dtype, int dimNb, const int dimSize[],
                                                       const int dimStride[]);
/** As mluOpSetTensorDescriptorEx, 64-bit. */
mluOpStatus_t MLUOP_WIN_API mluOpSetTensorDescriptorEx_v2(mluOpTensorDescriptor_t desc, mluOpTensorLayout_t layout,
                                                          mluOpDataType_t dtype, int dimNb, const int64_t dimSize[],
                                                          const int64_t dimStride[]);

/** Changes the dimensions only. BAD_PARAM: as mluOpSetTensorDescriptor. */
mluOpStatus_t MLUOP_WIN_API mluOpSetTensorDescriptorDim(mluOpTensorDescriptor_t desc, int dimNb, const int* dimSize);
/** As mluOpSetTensorDescriptorDim, 64-bit. */
mluOpStatus_t MLUOP_WIN_API mluOpSetTensorDescriptorDim_v2(mluOpTensorDescriptor_t desc, int dimNb,
                                                           const int64_t* dimSize);

/** Stores the on-chip type; without effect on these operators. BAD_PARAM: NULL. */
mluOpStatus_t MLUOP_WIN_API mluOpSetTensorDescriptorOnchipDataType(mluOpTensorDescriptor_t desc,
                                                                   mluOpDataType_t onchip_dtype);
/** Stores fix-point parameters; without effect on these operators. BAD_PARAM: NULL. */
mluOpStatus_t MLUOP_WIN_API mluOpSetTensorDescriptorPosition(mluOpTensorDescriptor_t desc, int position);
/** See mluOpSetTensorDescriptorPosition. */
mluOpStatus_t MLUOP_WIN_API mluOpSetTensorDescriptorPositionAndScale(mluOpTensorDescriptor_t desc, int position,
                                                                     float scale);
/** See mluOpSetTensorDescriptorPosition. */
mluOpStatus_t MLUOP_WIN_API mluOpSetTensorDescriptorPositionScaleAndOffset(mluOpTensorDescriptor_t desc, int position,
                                                                           float scale, int offset);
/** Says where a scalar tensor lives. BAD_PARAM: desc NULL or a negative mode. */
mluOpStatus_t MLUOP_WIN_API mluOpSetTensorDescriptorPointerMode(mluOpTensorDescriptor_t desc,
                                                                mluOpPointerMode_t pointer_mode);

/** Reads a descriptor with strides; every output is needed. BAD_PARAM: an argument is NULL. */
mluOpStatus_t MLUOP_WIN_API mluOpGetTensorDescriptorEx(const mluOpTensorDescriptor_t desc, mluOpTensorLayout_t* layout,
                                                       mluOpDataType_t* dtype, int* dimNb, int dimSize[],
                                                       int dimStride[]);
/** As mluOpGetTensorDescriptorEx, 64-bit. */
mluOpStatus_t MLUOP_WIN_API mluOpGetTensorDescriptorEx_v2(const mluOpTensorDescriptor_t desc,
                                                          mluOpTensorLayout_t* layout, mluOpDataType_t* dtype,
                                                          int* dimNb, int64_t dimSize[], int64_t dimStride[]);
/** Reads a descriptor; NULL outputs are skipped. BAD_PARAM: desc NULL. */
mluOpStatus_t MLUOP_WIN_API mluOpGetTensorDescriptor(const mluOpTensorDescriptor_t desc, mluOpTensorLayout_t* layout,
                                                     mluOpDataType_t* dtype, int* dimNb, int dimSize[]);
/** As mluOpGetTensorDescriptor, 64-bit. */
mluOpStatus_t MLUOP_WIN_API mluOpGetTensorDescriptor_v2(const mluOpTensorDescriptor_t desc, mluOpTensorLayout_t* layout,
                                                        mluOpDataType_t* dtype, int* dimNb, int64_t dimSize[]);
/** Reads the on-chip type. BAD_PARAM: an argument is NULL. */
mluOpStatus_t MLUOP_WIN_API mluOpGetTensorDescriptorOnchipDataType(const mluOpTensorDescriptor_t desc,
                                                                   mluOpDataType_t* onchip_dtype);
/** Reads fix-point parameters. BAD_PARAM: an argument is NULL. */
mluOpStatus_t MLUOP_WIN_API mluOpGetTensorDescriptorPosition(const mluOpTensorDescriptor_t desc, int* position);
/** See mluOpGetTensorDescriptorPosition. */
mluOpStatus_t MLUOP_WIN_API mluOpGetTensorDescriptorPositionAndScale(const mluOpTensorDescriptor_t desc, int* position,
                                                                     float* scale);
/** See mluOpGetTensorDescriptorPosition. */
mluOpStatus_t MLUOP_WIN_API mluOpGetTensorDescriptorPositionScaleAndOffset(const mluOpTensorDescriptor_t desc,
                                                                           int* position, float* scale, int* offset);
/** Reads the pointer mode. BAD_PARAM: an argument is NULL. */
mluOpStatus_t MLUOP_WIN_API mluOpGetTensorDescriptorPointerMode(const mluOpTensorDescriptor_t desc,
                                                                mluOpPointerMode_t* pointer_mode);

/** Number of elements; 0 for NULL. */
uint64_t MLUOP_WIN_API mluOpGetTensorElementNum(const mluOpTensorDescriptor_t desc);

/** Back to the state of a fresh descriptor. BAD_PARAM: NULL. */
mluOpStatus_t MLUOP_WIN_API mluOpResetTensorDescriptor(mluOpTensorDescriptor_t desc);

/** Destroys a descriptor. BAD_PARAM: NULL. */
mluOpStatus_t MLUOP_WIN_API mluOpDestroyTensorDescriptor(mluOpTensorDescriptor_t desc);
/** Destroys desc_num descriptors. BAD_PARAM: NULL or desc_num <= 0. */
mluOpStatus_t MLUOP_WIN_API mluOpDestroyGroupTensorDescriptors(mluOpTensorDescriptor_t* group_desc[],
                                                               const int desc_num);

/* ---- CARAFE ------------------------------------------------------------------------------ */

/** Creates a CARAFE descriptor. BAD_PARAM: NULL. */
mluOpStatus_t MLUOP_WIN_API mluOpCreateCarafeDescriptor(mluOpCarafeDescriptor_t* carafe_desc);

/** Sets dimNb (must be 4), kernel_size K (odd, >= 1), group_size G >= 1, scale_factor s >= 1.
 *  BAD_PARAM: carafe_desc NULL or a value out of range; then nothing is stored. */
mluOpStatus_t MLUOP_WIN_API mluOpSetCarafeDescriptor(mluOpCarafeDescriptor_t carafe_desc, const int dimNb,
                                                     const int kernel_size, const int group_size,
                                                     const int scale_factor);

/** Destroys a CARAFE descriptor. BAD_PARAM: NULL. */
mluOpStatus_t MLUOP_WIN_API mluOpDestroyCarafeDescriptor(mluOpCarafeDescriptor_t carafe_desc);

/** Content-aware upsampling: output pixel = K x K taps of the input pixel below it, weighted by its own mask.
 *
 *    output[n,y,x,c] = sum over kh,kw of mask[n,y,x,(g*K+kh)*K+kw] * input[n, y/s+kh-r, x/s+kw-r, c],
 *    g = c / (C/G), r = (K-1)/2; taps outside the map are skipped.
 *
 *  @param carafe_desc  K, G, s. STRICT: K <= 45 and s <= 5, else NOT_SUPPORTED.
 *  @param input        T [N, H, W, C], NHWC; C divisible by G.
 *  @param mask         T [N, s*H, s*W, G*K*K], NHWC.
 *  @param output       T [N, s*H, s*W, C], NHWC; overwritten.
 *  Empty tensors: SUCCESS, nothing written. Strided tensors: BAD_PARAM. Cost: 2*N*s*H*s*W*K*K*C flops.
 *  Source: Wang et al., "CARAFE", ICCV 2019; CARAFE design document. */
mluOpStatus_t MLUOP_WIN_API mluOpCarafeForward(mluOpHandle_t handle, const mluOpCarafeDescriptor_t carafe_desc,
                                               const mluOpTensorDescriptor_t input_desc, const void* input,
                                               const mluOpTensorDescriptor_t mask_desc, const void* mask,
                                               const mluOpTensorDescriptor_t output_desc, void* output);

/** Gradients of mluOpCarafeForward.
 *
 *  @param carafe_desc  K, G, s. STRICT: K <= 137, else NOT_SUPPORTED.
 *  @param input        T [N, H, W, C], NHWC.
 *  @param mask         T [N, s*H, s*W, G*K*K], NHWC.
 *  @param grad_output  T [N, s*H, s*W, C], NHWC.
 *  @param grad_input   T [N, H, W, C], NHWC; overwritten.
 *  @param grad_mask    T [N, s*H, s*W, G*K*K], NHWC; overwritten, exactly 0 for taps outside the map.
 *  Empty tensors: SUCCESS, nothing written. Strided tensors: NOT_SUPPORTED. Cost: 4*N*s*H*s*W*K*K*C flops.
 *  Source: as mluOpCarafeForward. */
mluOpStatus_t MLUOP_WIN_API mluOpCarafeBackward(mluOpHandle_t handle, const mluOpCarafeDescriptor_t carafe_desc,
                                                const mluOpTensorDescriptor_t input_desc, const void* input,
                                                const mluOpTensorDescriptor_t mask_desc, const void* mask,
                                                const mluOpTensorDescriptor_t grad_output_desc, const void* grad_output,
                                                const mluOpTensorDescriptor_t grad_input_desc, void* grad_input,
                                                const mluOpTensorDescriptor_t grad_mask_desc, void* grad_mask);

/* ---- PSAMask ----------------------------------------------------------------------------- */

/** Point-wise spatial attention mask: lays the h_mask x w_mask mask of every pixel over the feature map.
 *
 *    for (n,h,w) and every mask cell (i,j) whose target (th,tw) = (h+i-(h_mask-1)/2, w+j-(w_mask-1)/2) is in the map:
 *    psa_type 0 (collect):    y[n, h, w, th*W+tw]   = x[n, h, w, i*w_mask+j]
 *    psa_type 1 (distribute): y[n, th, tw, h*W+w]   = x[n, h, w, i*w_mask+j];  all other y are 0.
 *
 *  @param psa_type  0 or 1, else BAD_PARAM.
 *  @param x         FLOAT [N, H, W, h_mask*w_mask], NHWC.
 *  @param h_mask,w_mask  mask size, even sizes allowed; negative: BAD_PARAM.
 *  @param y         FLOAT [N, H, W, H*W], NHWC; overwritten.
 *  Empty x: SUCCESS, nothing written. Strided tensors: BAD_PARAM. Cost: one pass over x and y.
 *  Source: Zhao et al., "PSANet", ECCV 2018; psamask design document. */
mluOpStatus_t MLUOP_WIN_API mluOpPsamaskForward(mluOpHandle_t handle, const int psa_type,
                                                const mluOpTensorDescriptor_t x_desc, const void* x, const int h_mask,
                                                const int w_mask, const mluOpTensorDescriptor_t y_desc, void* y);

/** Gradient of mluOpPsamaskForward: dx gathers the dy its cell was copied to; uncovered cells get 0.
 *
 *  @param dy  FLOAT [N, H, W, H*W], NHWC.
 *  @param dx  FLOAT [N, H, W, h_mask*w_mask], NHWC; overwritten.
 *  Empty dy: SUCCESS, nothing written. Otherwise as mluOpPsamaskForward. */
mluOpStatus_t MLUOP_WIN_API mluOpPsamaskBackward(mluOpHandle_t handle, const int psa_type,
                                                 const mluOpTensorDescriptor_t dy_desc, const void* dy,
                                                 const int h_mask, const int w_mask,
                                                 const mluOpTensorDescriptor_t dx_desc, void* dx);

/* ---- ThreeInterpolate -------------------------------------------------------------------- */

/** Interpolates N points from three of M neighbours each.
 *
 *    output[b,c,n] = sum over j=0..2 of weights[b,n,j] * features[b,c,indices[b,n,j]]
 *    An index outside [0,M-1] drops that neighbour only.
 *
 *  @param features  T [B, C, M], ARRAY.
 *  @param indices   INT32 [B, N, 3], ARRAY.
 *  @param weights   T [B, N, 3], ARRAY; not normalised.
 *  @param output    T [B, C, N], ARRAY; overwritten.
 *  B, C or N = 0: BAD_PARAM. M = 0: SUCCESS, nothing written. Strided tensors: NOT_SUPPORTED. Cost: 6*B*C*N flops.
 *  Source: Qi et al., "PointNet++", 2017; three_interpolate design document. */
mluOpStatus_t MLUOP_WIN_API mluOpThreeInterpolateForward(
    mluOpHandle_t handle, const mluOpTensorDescriptor_t features_desc, const void* features,
    const mluOpTensorDescriptor_t indices_desc, const void* indices, const mluOpTensorDescriptor_t weights_desc,
    const void* weights, const mluOpTensorDescriptor_t output_desc, void* output);

/** Gradient of mluOpThreeInterpolateForward (scatter-add).
 *
 *    grad_features[b,c,m] = sum over (n,j) with indices[b,n,j] = m of weights[b,n,j] * grad_output[b,c,n]
 *
 *  @param grad_output    T [B, C, N], ARRAY.
 *  @param indices        INT32 [B, N, 3], ARRAY.
 *  @param weights        T [B, N, 3], ARRAY.
 *  @param grad_features  T [B, C, M], ARRAY; overwritten.
 *  B, C, M or N = 0: BAD_PARAM. Strided tensors: NOT_SUPPORTED. Cost: 6*B*C*N flops. */
mluOpStatus_t MLUOP_WIN_API mluOpThreeInterpolateBackward(
    mluOpHandle_t handle, const mluOpTensorDescriptor_t grad_output_desc, const void* grad_output,
    const mluOpTensorDescriptor_t indices_desc, const void* indices, const mluOpTensorDescriptor_t weights_desc,
    const void* weights, const mluOpTensorDescriptor_t grad_features_desc, void* grad_features);

/* ---- DeformRoiPool ----------------------------------------------------------------------- */

/** Deformable RoI pooling: each RoI is cut in pooled_height x pooled_width bins, each bin is the mean of
 *  bilinear samples, and `offset` shifts every bin by gamma * RoI size * offset.
 *
 *  @param input           T [B, H, W, C], NHWC.
 *  @param rois            T [R, 5]: batch index, x1, y1, x2, y2. A batch index outside [0,B-1]: BAD_PARAM.
 *  @param offset          T [R, 2, pooled_height, pooled_width] (plane 0 = x, 1 = y), any layout; or NULL with a
 *                         NULL descriptor.
 *  @param pooled_height,pooled_width  bins per RoI, > 0.
 *  @param spatial_scale   multiplies RoI corners; 0.5 is then subtracted.
 *  @param sampling_ratio  samples per axis and bin; <= 0 means ceil(RoI size / bins), none for an empty RoI.
 *  @param gamma           scale of offset.
 *  @param output          T [R, pooled_height, pooled_width, C], NHWC; overwritten.
 *  H or W = 0: SUCCESS, nothing written; other empty tensors: BAD_PARAM. Strided tensors: NOT_SUPPORTED.
 *  Source: Dai et al., "Deformable ConvNets", ICCV 2017; deform_roi_pool design document. */
mluOpStatus_t MLUOP_WIN_API mluOpDeformRoiPoolForward(
    const mluOpHandle_t handle, const mluOpTensorDescriptor_t input_desc, const void* input,
    const mluOpTensorDescriptor_t rois_desc, const void* rois, const mluOpTensorDescriptor_t offset_desc,
    const void* offset, const int pooled_height, const int pooled_width, const float spatial_scale,
    const int sampling_ratio, const float gamma, const mluOpTensorDescriptor_t output_desc, void* output);

/** Gradients of mluOpDeformRoiPoolForward. grad_offset uses the unclamped sample coordinates
 * (docs/op/deform_roi_pool.md).
 *
 *  @param grad_output  T [R, pooled_height, pooled_width, C], NHWC.
 *  @param input,rois,offset,...  as in the forward call.
 *  @param grad_input   T [B, H, W, C], NHWC; overwritten.
 *  @param grad_offset  T [R, 2, pooled_height, pooled_width]; overwritten; NULL (with its descriptor) exactly when
 *                      offset is.
 *  Errors as in the forward call. */
mluOpStatus_t MLUOP_WIN_API mluOpDeformRoiPoolBackward(
    const mluOpHandle_t handle, const mluOpTensorDescriptor_t grad_output_desc, const void* grad_output,
    const mluOpTensorDescriptor_t input_desc, const void* input, const mluOpTensorDescriptor_t rois_desc,
    const void* rois, const mluOpTensorDescriptor_t offset_desc, const void* offset, const int pooled_height,
    const int pooled_width, const float spatial_scale, const int sampling_ratio, const float gamma,
    const mluOpTensorDescriptor_t grad_input_desc, void* grad_input, const mluOpTensorDescriptor_t grad_offset_desc,
    void* grad_offset);

/* ---- BorderAlign ------------------------------------------------------------------------- */

/** Maximum of pool_size+1 bilinear samples along each border of each box.
 *
 *  @param input       T [N, H, W, 4*C], NHWC; channel border*C+c, borders top, left, bottom, right.
 *  @param boxes       T [N, K, 4]: x1, y1, x2, y2; any K >= 1; inverted boxes are legal. Top and left start at
 *                     (x1,y1), bottom and right at (x2,y2) and run backwards.
 *  @param pool_size   samples per border less one, >= 1.
 *  @param output      T [N, K, 4, C], NHWC; overwritten.
 *  @param argmax_idx  INT32 [N, K, 4, C], NHWC; sample index 0..pool_size of the first maximum; overwritten.
 *  Empty tensors: BAD_PARAM. Strided tensors: NOT_SUPPORTED.
 *  Source: Qiu et al., "BorderDet", ECCV 2020; border_align design document. */
mluOpStatus_t MLUOP_WIN_API mluOpBorderAlignForward(mluOpHandle_t handle, const mluOpTensorDescriptor_t input_desc,
                                                    const void* input, const mluOpTensorDescriptor_t boxes_desc,
                                                    const void* boxes, const int32_t pool_size,
                                                    const mluOpTensorDescriptor_t output_desc, void* output,
                                                    const mluOpTensorDescriptor_t argmax_idx_desc, void* argmax_idx);

/** Gradient of mluOpBorderAlignForward: scatters grad_output to the four neighbours of the winning sample.
 *
 *  @param grad_output  T [N, K, 4, C], NHWC.
 *  @param boxes        T [N, K, 4].
 *  @param argmax_idx   INT32 [N, K, 4, C], NHWC; values outside [0,pool_size] contribute nothing.
 *  @param grad_input   T [N, H, W, 4*C], NHWC; overwritten. Samples outside the map contribute nothing.
 *  Errors as in the forward call. */
mluOpStatus_t MLUOP_WIN_API mluOpBorderAlignBackward(mluOpHandle_t handle,
                                                     const mluOpTensorDescriptor_t grad_output_desc,
                                                     const void* grad_output, const mluOpTensorDescriptor_t boxes_desc,
                                                     const void* boxes, const mluOpTensorDescriptor_t argmax_idx_desc,
                                                     const void* argmax_idx, const int32_t pool_size,
                                                     const mluOpTensorDescriptor_t grad_input_desc, void* grad_input);

#if defined(__cplusplus)
}
#endif

#endif /* MLU_OP_H_ */
