/* mluOp-compatible C API of mluop-host: the MLU-OPS 1.11 names, argument orders and
 * enumerator values that clients of its operators touch, run on the host.
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

#include "mlu_op_types.h"

#if defined(__cplusplus)
extern "C" {
#endif

/* ---- enumerations that no function here takes, kept for clients ---------------------------- */

/** Whether results are NaN where inputs are. */
typedef enum {
  MLUOP_NOT_PROPAGATE_NAN = 0,
  MLUOP_PROPAGATE_NAN = 1,
} mluOpNanPropagation_t;

/** What a quantised tensor is multiplied with and moved by. */
typedef enum {
  MLUOP_QUANTIZE_POSITION = 0,
  MLUOP_QUANTIZE_POSITION_SCALE = 1,
  MLUOP_QUANTIZE_POSITION_SCALE_OFFSET = 2,
} mluOpQuantizeMode_t;

/** Bits of the indices of a reduction. */
typedef enum {
  MLUOP_32BIT_INDICES = 0,
  MLUOP_16BIT_INDICES = 1,
} mluOpIndicesType_t;

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

/* ---- sets of tensors ----------------------------------------------------------------------- */

typedef struct mluOpTensorSetStruct* mluOpTensorSetDescriptor_t;

/** Creates a set of setDimSize[0] * ... * setDimSize[setDimNb - 1] fresh tensor descriptors. BAD_PARAM: an argument is
 *  NULL, setDimNb < 1, a size < 1, or more than 2^20 tensors. */
mluOpStatus_t MLUOP_WIN_API mluOpCreateTensorSetDescriptor(mluOpTensorSetDescriptor_t* tensorSetDesc,
                                                           const int setDimNb, const int setDimSize[]);
/** Reads the sizes of a set. BAD_PARAM: an argument is NULL. */
mluOpStatus_t MLUOP_WIN_API mluOpGetTensorSetDescriptor(mluOpTensorSetDescriptor_t tensorSetDesc, int* setDimNb,
                                                        int setDimSize[]);
/** Destroys a set and its tensor descriptors. BAD_PARAM: NULL. */
mluOpStatus_t MLUOP_WIN_API mluOpDestroyTensorSetDescriptor(mluOpTensorSetDescriptor_t tensorSetDesc);
/** mluOpSetTensorDescriptor for the tensor at tensorIndex[0], ..., tensorIndex[setDimNb - 1]. BAD_PARAM: an argument
 *  is NULL, setDimNb or an index is not one of the set, and what mluOpSetTensorDescriptor refuses. */
mluOpStatus_t MLUOP_WIN_API mluOpInitTensorSetMemberDescriptor(mluOpTensorSetDescriptor_t tensorSetDesc,
                                                               const int setDimNb, const int tensorIndex[],
                                                               mluOpTensorLayout_t layout, mluOpDataType_t dtype,
                                                               const int dimNb, const int dimSize[]);
/** mluOpSetTensorDescriptorPositionAndScale for a tensor of the set. */
mluOpStatus_t MLUOP_WIN_API mluOpInitTensorSetMemberDescriptorPositionAndScale(mluOpTensorSetDescriptor_t tensorSetDesc,
                                                                               const int setDimNb,
                                                                               const int tensorIndex[],
                                                                               const int position, const float scale);
/** Bytes of all tensors, one behind the other. BAD_PARAM: an argument is NULL. NOT_SUPPORTED: more than 2^31 - 1. */
mluOpStatus_t MLUOP_WIN_API mluOpGetTensorSetDescriptorSize(mluOpTensorSetDescriptor_t tensorSetDesc, int* sizeInBytes);
/** The descriptor of a tensor, which the set keeps, and the address of its data within `data`; NULL if data is NULL.
 *  BAD_PARAM: another argument is NULL, setDimNb or an index is not one of the set. NOT_SUPPORTED: the tensors before
 *  it have 2^63 bytes or more. */
mluOpStatus_t MLUOP_WIN_API mluOpGetTensorAndDataFromTensorSet(mluOpTensorSetDescriptor_t tensorSetDesc,
                                                               const int setDimNb, const int tensorIndex[], void* data,
                                                               mluOpTensorDescriptor_t* tensorDesc,
                                                               void** dataAddrInDevice);

/* ---- sequences ----------------------------------------------------------------------------- */

/** Order of the dimensions of sequences: T time, N batch, B beam, C vector. */
typedef enum {
  MLUOP_SEQDATA_TNC = 0,
  MLUOP_SEQDATA_TNC_PACKED = 1,
  MLUOP_SEQDATA_NTC = 2,
  MLUOP_SEQDATA_NC = 3,
  MLUOP_SEQDATA_TNBC = 4,
  MLUOP_SEQDATA_TBNC = 5,
  MLUOP_SEQDATA_NBTC = 6,
  MLUOP_SEQDATA_NTBC = 7,
  MLUOP_SEQDATA_BNTC = 8,
  MLUOP_SEQDATA_BTNC = 9,
  MLUOP_SEQDATA_TN = 10,
  MLUOP_SEQDATA_NT = 11,
} mluOpSeqDataLayout_t;

typedef struct mluOpSeqDataStruct* mluOpSeqDataDescriptor_t;

/** Creates a descriptor: NBTC, FLOAT, no dimensions. BAD_PARAM: NULL. */
mluOpStatus_t MLUOP_WIN_API mluOpCreateSeqDataDescriptor(mluOpSeqDataDescriptor_t* seq_data_desc);
/** Sets a descriptor, all or nothing. seqLengthArray: seqLengthArraySize lengths, or NULL; paddingFill: one element of
 *  dtype, copied, or NULL. BAD_PARAM: seq_data_desc or dimSize is NULL; layout or dtype is none; dimNb is not in 1 to
 * 8; a size or seqLengthArraySize < 0; a length < 1. */
mluOpStatus_t MLUOP_WIN_API mluOpSetSeqDataDescriptor_v2(mluOpSeqDataDescriptor_t seq_data_desc,
                                                         mluOpSeqDataLayout_t layout, mluOpDataType_t dtype, int dimNb,
                                                         const int64_t dimSize[], int seqLengthArraySize,
                                                         const int seqLengthArray[], void* paddingFill);
/** Reads a descriptor; outputs that are NULL are left out, arrays and paddingFill that were not set stay as they are.
 *  BAD_PARAM: seq_data_desc is NULL. */
mluOpStatus_t MLUOP_WIN_API mluOpGetSeqDataDescriptor_v2(const mluOpSeqDataDescriptor_t seq_data_desc,
                                                         mluOpSeqDataLayout_t* layout, mluOpDataType_t* dtype,
                                                         int* dimNb, int64_t dimSize[], int64_t* seqLengthArraySize,
                                                         int64_t seqLengthArray[], void* paddingFill);
/** Keeps fix-point parameters, which have no effect. BAD_PARAM: NULL. */
mluOpStatus_t MLUOP_WIN_API mluOpSetSeqDataDescriptorPositionAndScale(mluOpSeqDataDescriptor_t seq_data_desc,
                                                                      int position, float scale);
/** Destroys a descriptor. BAD_PARAM: NULL. */
mluOpStatus_t MLUOP_WIN_API mluOpDestroySeqDataDescriptor(mluOpSeqDataDescriptor_t seq_data_desc);

/* ---- case files ---------------------------------------------------------------------------- */

/** Whether calls are kept as files: 1 without the bytes of tensors, 2 with them, anything else stops it. The files are
 *  this library's capture files (docs/replay.md), not the vendor's, and lie in the folder below. Mode 3, which prints
 * on the device, keeps nothing: MLUOP_VERBOSE prints calls. What goes wrong is told by mluOpExtGetLastErrorText(). */
void MLUOP_WIN_API mluOpSetGenCaseMode(int mode);
/** The folder for the files, which must exist; at first the working directory. BAD_PARAM: NULL or no folder. A capture
 *  that runs goes on there. */
mluOpStatus_t MLUOP_WIN_API mluOpSetGenCaseDirectory(const char* path);
/** The folder's name in buffer, or where that is NULL in memory for free(). pathLen and status may be NULL. NULL and
 *  BAD_PARAM: bufferSize is too small; NULL and ALLOC_FAILED: no memory. */
const char MLUOP_WIN_API* mluOpGetGenCaseDirectory(char* buffer, size_t bufferSize, size_t* pathLen,
                                                   mluOpStatus_t* status);

#if defined(__cplusplus)
}
#endif

/* ---- operators: one header each ------------------------------------------------------------ */

#include "mluops/op/active_rotated_filter.h"
#include "mluops/op/adam_w.h"
#include "mluops/op/assign_score_withk.h"
#include "mluops/op/ball_query.h"
#include "mluops/op/bezier_align.h"
#include "mluops/op/border_align.h"
#include "mluops/op/box_iou.h"
#include "mluops/op/carafe.h"
#include "mluops/op/chamfer_distance.h"
#include "mluops/op/correlation.h"
#include "mluops/op/dcn.h"
#include "mluops/op/deform_roi_pool.h"
#include "mluops/op/diff_iou_rotated.h"
#include "mluops/op/dynamic_point_to_voxel.h"
#include "mluops/op/elementwise.h"
#include "mluops/op/fft.h"
#include "mluops/op/focal_loss.h"
#include "mluops/op/furthest_point_sample.h"
#include "mluops/op/gather_points.h"
#include "mluops/op/generate_proposals.h"
#include "mluops/op/get_indice_pairs.h"
#include "mluops/op/indice_convolution.h"
#include "mluops/op/indice_max_pool.h"
#include "mluops/op/iou3d.h"
#include "mluops/op/knn.h"
#include "mluops/op/masked_im2col.h"
#include "mluops/op/moe_dispatch.h"
#include "mluops/op/ms_deform_attn.h"
#include "mluops/op/mutual_information.h"
#include "mluops/op/nms.h"
#include "mluops/op/points_in_boxes.h"
#include "mluops/op/poly_nms.h"
#include "mluops/op/polygons.h"
#include "mluops/op/prior_box.h"
#include "mluops/op/prroi_pool.h"
#include "mluops/op/ps_roi_pool.h"
#include "mluops/op/psamask.h"
#include "mluops/op/roi_align.h"
#include "mluops/op/roi_align_rotated.h"
#include "mluops/op/roi_crop.h"
#include "mluops/op/roi_pool.h"
#include "mluops/op/roiaware_pool3d.h"
#include "mluops/op/roipoint_pool3d.h"
#include "mluops/op/rotated_feature_align.h"
#include "mluops/op/rotated_iou.h"
#include "mluops/op/sync_batch_norm.h"
#include "mluops/op/three_interpolate.h"
#include "mluops/op/three_nn.h"
#include "mluops/op/tin_shift.h"
#include "mluops/op/upfirdn2d.h"
#include "mluops/op/voxel_pooling.h"
#include "mluops/op/voxelization.h"
#include "mluops/op/yolo_box.h"

#endif /* MLU_OP_H_ */
