/* The compute library of the emulated MLU: plain host code on device memory, done when the call returns. A call
 * that is refused says why on stderr. Names follow the vendor's library; data types, layouts and statuses have the
 * numbers of mluOp's.
 */
#ifndef NEUWARE_CNNL_H_
#define NEUWARE_CNNL_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cnrt.h"

#if defined(__cplusplus)
extern "C" {
#endif

typedef enum {
  CNNL_STATUS_SUCCESS = 0,
  CNNL_STATUS_NOT_INITIALIZED = 1,
  CNNL_STATUS_ALLOC_FAILED = 2,
  CNNL_STATUS_BAD_PARAM = 3,
  CNNL_STATUS_INTERNAL_ERROR = 4,
  CNNL_STATUS_ARCH_MISMATCH = 5,
  CNNL_STATUS_EXECUTION_FAILED = 6,
  CNNL_STATUS_NOT_SUPPORTED = 7,
} cnnlStatus_t;

typedef enum {
  CNNL_DTYPE_INVALID = 0,
  CNNL_DTYPE_HALF = 1,
  CNNL_DTYPE_FLOAT = 2,
  CNNL_DTYPE_INT8 = 3,
  CNNL_DTYPE_INT16 = 4,
  CNNL_DTYPE_INT31 = 5,
  CNNL_DTYPE_INT32 = 6,
  CNNL_DTYPE_UINT8 = 7,
  CNNL_DTYPE_BOOL = 8,
  CNNL_DTYPE_INT64 = 9,
  CNNL_DTYPE_UINT32 = 11,
  CNNL_DTYPE_UINT64 = 12,
  CNNL_DTYPE_UINT16 = 13,
  CNNL_DTYPE_DOUBLE = 14,
  CNNL_DTYPE_COMPLEX_HALF = 15,
  CNNL_DTYPE_COMPLEX_FLOAT = 16,
  CNNL_DTYPE_BFLOAT16 = 17,
} cnnlDataType_t;

typedef enum {
  CNNL_LAYOUT_NCHW = 0,
  CNNL_LAYOUT_NHWC = 1,
  CNNL_LAYOUT_HWCN = 2,
  CNNL_LAYOUT_NDHWC = 3,
  CNNL_LAYOUT_ARRAY = 4,
} cnnlTensorLayout_t;

typedef enum { CNNL_POINTER_MODE_HOST = 0, CNNL_POINTER_MODE_DEVICE = 1 } cnnlPointerMode_t;
typedef enum { CNNL_NOT_PROPAGATE_NAN = 0, CNNL_PROPAGATE_NAN = 1 } cnnlNanPropagation_t;
typedef enum { CNNL_REDUCE_ADD = 0, CNNL_REDUCE_AVG = 1, CNNL_REDUCE_MAX = 3, CNNL_REDUCE_MIN = 4 } cnnlReduceOp_t;
typedef enum { CNNL_REDUCE_NO_INDICES = 0, CNNL_REDUCE_FLATTENED_INDICES = 1 } cnnlReduceIndices_t;
typedef enum { CNNL_32BIT_INDICES = 0, CNNL_16BIT_INDICES = 1 } cnnlIndicesType_t;
typedef enum { CNNL_OP_TENSOR_ADD = 0, CNNL_OP_TENSOR_SUB = 1, CNNL_OP_TENSOR_MUL = 2 } cnnlOpTensorDesc_t;
typedef enum { CNNL_SCATTERND_ADD = 0, CNNL_SCATTERND_SUB = 1, CNNL_SCATTERND_UPDATE = 4 } cnnlScatterNdMode_t;
typedef enum { CNNL_UNSORT_FORWARD = 0, CNNL_UNSORT_REVERSE = 1, CNNL_SORT_ASCEND = 2 } cnnlUniqueSort_t;
typedef enum {
  CNNL_MATMUL_DESC_COMPUTE_TYPE = 0,
  CNNL_MATMUL_DESC_TRANSA = 1,
  CNNL_MATMUL_DESC_TRANSB = 2,
  CNNL_MATMUL_ALLOW_TF32 = 3,
} cnnlMatMulDescAttribute_t;
typedef enum {
  CNNL_NMS_DESC_BOX_MODE,
  CNNL_NMS_DESC_OUTPUT_MODE,
  CNNL_NMS_DESC_INPUT_LAYOUT,
  CNNL_NMS_DESC_IOU_THRESHOLD,
  CNNL_NMS_DESC_CONFIDENCE_THRESHOLD,
  CNNL_NMS_DESC_MAX_OUTPUT_SIZE,
  CNNL_NMS_DESC_OFFSET,
  CNNL_NMS_DESC_PAD_TO_MAX_OUTPUT_SIZE,
} cnnlNmsDescAttribute_t;
typedef int cnnlNmsOutputMode_t;
typedef int cnnlNmsBoxPointMode_t;
typedef int cnnlPoolingMode_t;

typedef struct cnnlContext* cnnlHandle_t;
typedef struct cnnlTensorStruct* cnnlTensorDescriptor_t;
typedef struct cnnlTransposeStruct* cnnlTransposeDescriptor_t;
typedef struct cnnlReduceStruct* cnnlReduceDescriptor_t;
typedef struct cnnlOpTensorStruct* cnnlOpTensorDescriptor_t;
typedef struct cnnlUniqueStruct* cnnlUniqueDescriptor_t;
typedef struct cnnlMatMulStruct* cnnlMatMulDescriptor_t;
typedef struct cnnlMatMulAlgoStruct* cnnlMatMulAlgo_t;
typedef struct cnnlMatMulHeuristicResult* cnnlMatMulHeuristicResult_t;
typedef struct cnnlNmsStruct* cnnlNmsDescriptor_t;
typedef struct cnnlDCNStruct* cnnlDCNDescriptor_t;
typedef struct cnnlRoiAlignStruct* cnnlRoiAlignDescriptor_t;

cnnlStatus_t cnnlCreate(cnnlHandle_t* handle);
cnnlStatus_t cnnlDestroy(cnnlHandle_t handle);
cnnlStatus_t cnnlSetQueue(cnnlHandle_t handle, cnrtQueue_t queue);
cnnlStatus_t cnnlGetQueue(cnnlHandle_t handle, cnrtQueue_t* queue);
const char* cnnlGetErrorString(cnnlStatus_t status);

/** Dense in row order; the Ex forms take strides in elements. */
cnnlStatus_t cnnlCreateTensorDescriptor(cnnlTensorDescriptor_t* desc);
cnnlStatus_t cnnlDestroyTensorDescriptor(cnnlTensorDescriptor_t desc);
cnnlStatus_t cnnlSetTensorDescriptor(cnnlTensorDescriptor_t desc, cnnlTensorLayout_t layout, cnnlDataType_t dtype,
                                     int dim_count, const int dims[]);
cnnlStatus_t cnnlSetTensorDescriptor_v2(cnnlTensorDescriptor_t desc, cnnlTensorLayout_t layout, cnnlDataType_t dtype,
                                        int dim_count, const int64_t dims[]);
cnnlStatus_t cnnlSetTensorDescriptorEx(cnnlTensorDescriptor_t desc, cnnlTensorLayout_t layout, cnnlDataType_t dtype,
                                       int dim_count, const int dims[], const int strides[]);
cnnlStatus_t cnnlSetTensorDescriptorEx_v2(cnnlTensorDescriptor_t desc, cnnlTensorLayout_t layout, cnnlDataType_t dtype,
                                          int dim_count, const int64_t dims[], const int64_t strides[]);

/** Every element becomes the value, which is of the tensor's type. */
cnnlStatus_t cnnlFill_v3(cnnlHandle_t handle, cnnlPointerMode_t mode, const void* value, cnnlTensorDescriptor_t desc,
                         void* output);
/** y[i] = alpha x[i] + beta; alpha and beta are float, or int32 with integer tensors. */
cnnlStatus_t cnnlTransform_v2(cnnlHandle_t handle, cnnlPointerMode_t mode, const void* alpha,
                              cnnlTensorDescriptor_t x_desc, const void* x, const void* beta,
                              cnnlTensorDescriptor_t y_desc, void* y);
/** Element by element in row order of the dimensions, between any two strides. */
cnnlStatus_t cnnlCopy_v2(cnnlHandle_t handle, cnnlTensorDescriptor_t input_desc, const void* input,
                         cnnlTensorDescriptor_t output_desc, void* output, void* workspace, size_t workspace_size);

/** Dimension i of the output is dimension permute[i] of the input. */
cnnlStatus_t cnnlCreateTransposeDescriptor(cnnlTransposeDescriptor_t* desc);
cnnlStatus_t cnnlDestroyTransposeDescriptor(cnnlTransposeDescriptor_t desc);
cnnlStatus_t cnnlSetTransposeDescriptor(cnnlTransposeDescriptor_t desc, int dim_count, const int permute[]);
cnnlStatus_t cnnlGetTransposeWorkspaceSize(cnnlHandle_t handle, cnnlTensorDescriptor_t x_desc,
                                           cnnlTransposeDescriptor_t desc, size_t* size);
cnnlStatus_t cnnlTranspose_v2(cnnlHandle_t handle, cnnlTransposeDescriptor_t desc, cnnlTensorDescriptor_t x_desc,
                              const void* x, cnnlTensorDescriptor_t y_desc, void* y, void* workspace,
                              size_t workspace_size);

cnnlStatus_t cnnlConcat(cnnlHandle_t handle, int count, int axis, const cnnlTensorDescriptor_t input_descs[],
                        const void* const inputs[], void* workspace, size_t workspace_size,
                        cnnlTensorDescriptor_t output_desc, void* output);
/** begin, end and stride of each dimension; negative positions count from the end. */
cnnlStatus_t cnnlStridedSlice_v2(cnnlHandle_t handle, cnnlTensorDescriptor_t input_desc, const void* input,
                                 const int64_t begin[], const int64_t end[], const int64_t stride[],
                                 cnnlTensorDescriptor_t output_desc, void* output);
/** paddings: two for each dimension; the value is of the tensor's type. Negative ones cut off. */
cnnlStatus_t cnnlPad(cnnlHandle_t handle, cnnlTensorDescriptor_t input_desc, const void* input, const void* paddings,
                     const void* padding_value, cnnlTensorDescriptor_t output_desc, void* output);

/** Sums in double, rounded once. */
cnnlStatus_t cnnlGetAddNWorkspaceSize(cnnlHandle_t handle, const cnnlTensorDescriptor_t input_descs[], uint32_t count,
                                      cnnlTensorDescriptor_t output_desc, size_t* size);
cnnlStatus_t cnnlAddN_v2(cnnlHandle_t handle, const cnnlTensorDescriptor_t input_descs[], const void* const inputs[],
                         uint32_t count, cnnlTensorDescriptor_t output_desc, void* output, void* workspace,
                         size_t workspace_size);
/** output = alpha1 a op alpha2 b + beta output; dimensions of 1 are repeated. Factors are float, null means 1 and 0. */
cnnlStatus_t cnnlCreateOpTensorDescriptor(cnnlOpTensorDescriptor_t* desc);
cnnlStatus_t cnnlDestroyOpTensorDescriptor(cnnlOpTensorDescriptor_t desc);
cnnlStatus_t cnnlSetOpTensorDescriptor(cnnlOpTensorDescriptor_t desc, cnnlOpTensorDesc_t op, cnnlDataType_t dtype,
                                       cnnlNanPropagation_t nan);
cnnlStatus_t cnnlGetOpTensorWorkspaceSize(cnnlHandle_t handle, cnnlTensorDescriptor_t a_desc,
                                          cnnlTensorDescriptor_t b_desc, cnnlTensorDescriptor_t output_desc,
                                          size_t* size);
cnnlStatus_t cnnlOpTensor(cnnlHandle_t handle, cnnlOpTensorDescriptor_t desc, const void* alpha1,
                          cnnlTensorDescriptor_t a_desc, const void* a, const void* alpha2,
                          cnnlTensorDescriptor_t b_desc, const void* b, void* workspace, size_t workspace_size,
                          const void* beta, cnnlTensorDescriptor_t output_desc, void* output);
/** Over the axes; sums, means and extremes, without their indices. */
cnnlStatus_t cnnlCreateReduceDescriptor(cnnlReduceDescriptor_t* desc);
cnnlStatus_t cnnlDestroyReduceDescriptor(cnnlReduceDescriptor_t desc);
cnnlStatus_t cnnlSetReduceDescriptor_v2(cnnlReduceDescriptor_t desc, const int axes[], int axis_count,
                                        cnnlReduceOp_t op, cnnlDataType_t dtype, cnnlNanPropagation_t nan,
                                        cnnlReduceIndices_t indices, cnnlIndicesType_t indices_type, float p);
cnnlStatus_t cnnlGetReduceOpWorkspaceSize_v2(cnnlHandle_t handle, cnnlTensorDescriptor_t input_desc,
                                             cnnlTensorDescriptor_t output_desc, cnnlTensorDescriptor_t indices_desc,
                                             cnnlReduceDescriptor_t desc, size_t* size);
cnnlStatus_t cnnlReduce_v2(cnnlHandle_t handle, cnnlReduceDescriptor_t desc, cnnlTensorDescriptor_t input_desc,
                           const void* input, const void* alpha, const void* beta, void* workspace,
                           size_t workspace_size, cnnlTensorDescriptor_t output_desc, void* output,
                           cnnlTensorDescriptor_t indices_desc, void* indices);

/** The k largest (smallest) along a dimension and their positions, int32; of equal ones the first. Always sorted. */
cnnlStatus_t cnnlGetTopKTensorWorkspaceSize(cnnlHandle_t handle, cnnlTensorDescriptor_t input_desc, int k, int dim,
                                            bool largest, cnnlTensorDescriptor_t output_desc,
                                            cnnlTensorDescriptor_t index_desc, size_t* size);
cnnlStatus_t cnnlTopKTensor_v3(cnnlHandle_t handle, cnnlTensorDescriptor_t input_desc, const void* input, int k,
                               int dim, bool largest, bool sorted, bool lower_index_first, void* workspace,
                               size_t workspace_size, cnnlTensorDescriptor_t output_desc, void* output,
                               cnnlTensorDescriptor_t index_desc, void* index);
/** The distinct slices along `dim` in ascending order, for each slice of the input its place, and how often each is
 * there; their number goes to device memory. The rest of the output stays. */
cnnlStatus_t cnnlCreateUniqueDescriptor(cnnlUniqueDescriptor_t* desc);
cnnlStatus_t cnnlDestroyUniqueDescriptor(cnnlUniqueDescriptor_t desc);
cnnlStatus_t cnnlSetUniqueDescriptor(cnnlUniqueDescriptor_t desc, cnnlUniqueSort_t mode, int dim, bool return_inverse,
                                     bool return_counts);
cnnlStatus_t cnnlGetUniqueWorkspaceSize(cnnlHandle_t handle, cnnlUniqueDescriptor_t desc,
                                        cnnlTensorDescriptor_t input_desc, size_t* size);
cnnlStatus_t cnnlUnique_v2(cnnlHandle_t handle, cnnlUniqueDescriptor_t desc, cnnlTensorDescriptor_t input_desc,
                           const void* input, void* workspace, size_t workspace_size, int* output_count,
                           cnnlTensorDescriptor_t output_desc, void* output, cnnlTensorDescriptor_t inverse_desc,
                           void* inverse, cnnlTensorDescriptor_t counts_desc, void* counts);
/** Slices params[indices[i, :]]; int32 or int64 indices inside of params, negative ones count from the end. */
cnnlStatus_t cnnlGatherNd_v2(cnnlHandle_t handle, int batch_dims, cnnlTensorDescriptor_t params_desc,
                             const void* params, cnnlTensorDescriptor_t indices_desc, const void* indices,
                             cnnlTensorDescriptor_t output_desc, void* output);
/** output = input, then the slices at indices[i, :] are added to or replaced; indices outside are passed over. */
cnnlStatus_t cnnlScatterNd_v2(cnnlHandle_t handle, cnnlScatterNdMode_t mode, cnnlTensorDescriptor_t indices_desc,
                              const void* indices, cnnlTensorDescriptor_t updates_desc, const void* updates,
                              cnnlTensorDescriptor_t input_desc, const void* input, cnnlTensorDescriptor_t output_desc,
                              void* output);

/** d = alpha op(a) op(b) + beta c; sums in double. The Ex form repeats batch dimensions of 1. */
cnnlStatus_t cnnlCreateMatMulDescriptor(cnnlMatMulDescriptor_t* desc);
cnnlStatus_t cnnlDestroyMatMulDescriptor(cnnlMatMulDescriptor_t desc);
cnnlStatus_t cnnlSetMatMulDescAttr(cnnlMatMulDescriptor_t desc, cnnlMatMulDescAttribute_t attribute, const void* value,
                                   size_t bytes);
cnnlStatus_t cnnlCreateMatMulAlgo(cnnlMatMulAlgo_t* algo);
cnnlStatus_t cnnlDestroyMatMulAlgo(cnnlMatMulAlgo_t algo);
cnnlStatus_t cnnlCreateMatMulHeuristicResult(cnnlMatMulHeuristicResult_t* result);
cnnlStatus_t cnnlDestroyMatMulHeuristicResult(cnnlMatMulHeuristicResult_t result);
cnnlStatus_t cnnlGetMatMulAlgoHeuristic(cnnlHandle_t handle, cnnlMatMulDescriptor_t desc, cnnlTensorDescriptor_t a_desc,
                                        cnnlTensorDescriptor_t b_desc, cnnlTensorDescriptor_t c_desc,
                                        cnnlTensorDescriptor_t d_desc, void* preference, int requested,
                                        cnnlMatMulHeuristicResult_t results[], int* returned);
cnnlStatus_t cnnlGetMatMulHeuristicResult(cnnlMatMulHeuristicResult_t result, cnnlMatMulAlgo_t algo, size_t* size);
cnnlStatus_t cnnlMatMul_v2(cnnlHandle_t handle, cnnlMatMulDescriptor_t desc, cnnlMatMulAlgo_t algo, const void* alpha,
                           cnnlTensorDescriptor_t a_desc, const void* a, cnnlTensorDescriptor_t b_desc, const void* b,
                           const void* beta, cnnlTensorDescriptor_t c_desc, const void* c, void* workspace,
                           size_t workspace_size, cnnlTensorDescriptor_t d_desc, void* d);
cnnlStatus_t cnnlGetBatchMatMulExAlgoHeuristic(cnnlHandle_t handle, cnnlMatMulDescriptor_t desc,
                                               cnnlTensorDescriptor_t a_desc, cnnlTensorDescriptor_t b_desc,
                                               cnnlTensorDescriptor_t c_desc, void* preference, int requested,
                                               cnnlMatMulHeuristicResult_t results[], int* returned);
cnnlStatus_t cnnlGetBatchMatMulExHeuristicResult(cnnlMatMulHeuristicResult_t result, cnnlMatMulAlgo_t algo,
                                                 size_t* size);
cnnlStatus_t cnnlBatchMatMulEx(cnnlHandle_t handle, cnnlMatMulDescriptor_t desc, cnnlMatMulAlgo_t algo,
                               const void* alpha, cnnlTensorDescriptor_t a_desc, const void* a,
                               cnnlTensorDescriptor_t b_desc, const void* b, const void* beta,
                               cnnlTensorDescriptor_t c_desc, void* c, void* workspace, size_t workspace_size);

/** The boxes that stay, the best first. boxes [n,4] or [n,7] (x, y, z, dx, dy, dz, angle; no confidence, seen from
 * above), or the other way round; output: indices, or rows or columns of confidence and box; output_size int32. */
cnnlStatus_t cnnlCreateNmsDescriptor(cnnlNmsDescriptor_t* desc);
cnnlStatus_t cnnlDestroyNmsDescriptor(cnnlNmsDescriptor_t desc);
cnnlStatus_t cnnlSetNmsDescAttr(cnnlNmsDescriptor_t desc, cnnlNmsDescAttribute_t attribute, const void* value,
                                size_t bytes);
cnnlStatus_t cnnlGetNmsWorkspaceSize_v4(cnnlHandle_t handle, cnnlNmsDescriptor_t desc,
                                        cnnlTensorDescriptor_t boxes_desc, cnnlTensorDescriptor_t confidence_desc,
                                        size_t* size);
cnnlStatus_t cnnlNms_v2(cnnlHandle_t handle, cnnlNmsDescriptor_t desc, cnnlTensorDescriptor_t boxes_desc,
                        const void* boxes, cnnlTensorDescriptor_t confidence_desc, const void* confidence,
                        void* workspace, size_t workspace_size, cnnlTensorDescriptor_t output_desc, void* output,
                        void* output_size);

/** Deformable convolution in NHWC, as mmcv's; mask and bias may be null. pad: top, bottom, left, right. */
cnnlStatus_t cnnlCreateDCNDescriptor(cnnlDCNDescriptor_t* desc);
cnnlStatus_t cnnlDestroyDCNDescriptor(cnnlDCNDescriptor_t desc);
cnnlStatus_t cnnlSetDCNDescriptor(cnnlDCNDescriptor_t desc, int dim_count, const int pad[], const int stride[],
                                  const int dilation[], int deformable_group, int conv_group, int im2col_step,
                                  cnnlDataType_t compute_type);
cnnlStatus_t cnnlGetDCNForwardWorkspaceSize(cnnlHandle_t handle, cnnlDCNDescriptor_t desc,
                                            cnnlTensorDescriptor_t input_desc, cnnlTensorDescriptor_t offset_desc,
                                            cnnlTensorDescriptor_t mask_desc, cnnlTensorDescriptor_t filter_desc,
                                            cnnlTensorDescriptor_t bias_desc, cnnlTensorDescriptor_t output_desc,
                                            size_t* size);
cnnlStatus_t cnnlDCNForward(cnnlHandle_t handle, cnnlDCNDescriptor_t desc, cnnlTensorDescriptor_t input_desc,
                            const void* input, cnnlTensorDescriptor_t offset_desc, const void* offset,
                            cnnlTensorDescriptor_t mask_desc, const void* mask, cnnlTensorDescriptor_t filter_desc,
                            const void* filter, cnnlTensorDescriptor_t bias_desc, const void* bias, void* workspace,
                            size_t workspace_size, cnnlTensorDescriptor_t output_desc, void* output);
/** The vendor's spelling. */
cnnlStatus_t cnnlGetDCNBakcwardDataWorkspaceSize(cnnlHandle_t handle, cnnlDCNDescriptor_t desc,
                                                 cnnlTensorDescriptor_t input_desc, cnnlTensorDescriptor_t offset_desc,
                                                 cnnlTensorDescriptor_t mask_desc, cnnlTensorDescriptor_t filter_desc,
                                                 cnnlTensorDescriptor_t grad_output_desc,
                                                 cnnlTensorDescriptor_t grad_input_desc,
                                                 cnnlTensorDescriptor_t grad_offset_desc,
                                                 cnnlTensorDescriptor_t grad_mask_desc, size_t* size);
cnnlStatus_t cnnlDCNBackwardData(cnnlHandle_t handle, cnnlDCNDescriptor_t desc, cnnlTensorDescriptor_t input_desc,
                                 const void* input, cnnlTensorDescriptor_t offset_desc, const void* offset,
                                 cnnlTensorDescriptor_t mask_desc, const void* mask, cnnlTensorDescriptor_t filter_desc,
                                 const void* filter, cnnlTensorDescriptor_t grad_output_desc, const void* grad_output,
                                 void* workspace, size_t workspace_size, cnnlTensorDescriptor_t grad_input_desc,
                                 void* grad_input, cnnlTensorDescriptor_t grad_offset_desc, void* grad_offset,
                                 cnnlTensorDescriptor_t grad_mask_desc, void* grad_mask);
cnnlStatus_t cnnlGetDCNBackwardWeightWorkspaceSize(cnnlHandle_t handle, cnnlDCNDescriptor_t desc,
                                                   cnnlTensorDescriptor_t input_desc,
                                                   cnnlTensorDescriptor_t offset_desc, cnnlTensorDescriptor_t mask_desc,
                                                   cnnlTensorDescriptor_t grad_output_desc,
                                                   cnnlTensorDescriptor_t grad_filter_desc,
                                                   cnnlTensorDescriptor_t grad_bias_desc, size_t* size);
cnnlStatus_t cnnlDCNBackwardWeight(cnnlHandle_t handle, cnnlDCNDescriptor_t desc, cnnlTensorDescriptor_t input_desc,
                                   const void* input, cnnlTensorDescriptor_t offset_desc, const void* offset,
                                   cnnlTensorDescriptor_t mask_desc, const void* mask,
                                   cnnlTensorDescriptor_t grad_output_desc, const void* grad_output, void* workspace,
                                   size_t workspace_size, cnnlTensorDescriptor_t grad_filter_desc, void* grad_filter,
                                   cnnlTensorDescriptor_t grad_bias_desc, void* grad_bias);

/** Bilinear samples of boxes [r,5] (image, corners) in NHWC: pool_mode 1 is their mean, 0 the greatest and where it
 * lies. RoiPooling: the greatest pixel. */
cnnlStatus_t cnnlCreateRoiAlignDescriptor(cnnlRoiAlignDescriptor_t* desc);
cnnlStatus_t cnnlDestroyRoiAlignDescriptor(cnnlRoiAlignDescriptor_t desc);
cnnlStatus_t cnnlSetRoiAlignDescriptor_v2(cnnlRoiAlignDescriptor_t desc, int pooled_height, int pooled_width,
                                          int sampling_ratio, float spatial_scale, int pool_mode, bool aligned);
cnnlStatus_t cnnlRoiAlign_v2(cnnlHandle_t handle, cnnlRoiAlignDescriptor_t desc, cnnlTensorDescriptor_t input_desc,
                             const void* input, cnnlTensorDescriptor_t boxes_desc, const void* boxes,
                             cnnlTensorDescriptor_t output_desc, void* output, cnnlTensorDescriptor_t argmax_x_desc,
                             void* argmax_x, cnnlTensorDescriptor_t argmax_y_desc, void* argmax_y);
cnnlStatus_t cnnlRoiAlignBackward_v2(cnnlHandle_t handle, cnnlTensorDescriptor_t grads_desc, const void* grads,
                                     cnnlTensorDescriptor_t boxes_desc, const void* boxes,
                                     cnnlTensorDescriptor_t argmax_x_desc, const void* argmax_x,
                                     cnnlTensorDescriptor_t argmax_y_desc, const void* argmax_y, float spatial_scale,
                                     int sampling_ratio, bool aligned, int pool_mode,
                                     cnnlTensorDescriptor_t grads_image_desc, void* grads_image);
cnnlStatus_t cnnlRoiPoolingForward(cnnlHandle_t handle, cnnlPoolingMode_t mode, cnnlTensorDescriptor_t input_desc,
                                   const void* input, cnnlTensorDescriptor_t rois_desc, const void* rois,
                                   float spatial_scale, cnnlTensorDescriptor_t output_desc, void* output, int* argmax);
cnnlStatus_t cnnlRoiPoolingBackward(cnnlHandle_t handle, cnnlPoolingMode_t mode, cnnlTensorDescriptor_t grads_desc,
                                    const void* grads, cnnlTensorDescriptor_t rois_desc, const void* rois,
                                    cnnlTensorDescriptor_t argmax_desc, const int* argmax, float spatial_scale,
                                    cnnlTensorDescriptor_t grads_image_desc, void* grads_image);

/** Batch normalization over several processes, channels last; filter, bias and the moving moments may be null. */
cnnlStatus_t cnnlGetSyncBatchNormStatsWorkspaceSize(cnnlHandle_t handle, cnnlTensorDescriptor_t x_desc, size_t* size);
cnnlStatus_t cnnlSyncBatchNormStats_v2(cnnlHandle_t handle, cnnlTensorDescriptor_t x_desc, const void* x,
                                       void* workspace, size_t workspace_size, float eps,
                                       cnnlTensorDescriptor_t mean_desc, void* mean, cnnlTensorDescriptor_t invstd_desc,
                                       void* invstd);
cnnlStatus_t cnnlSyncBatchNormGatherStatsWithCounts(cnnlHandle_t handle, cnnlTensorDescriptor_t mean_all_desc,
                                                    const void* mean_all, cnnlTensorDescriptor_t invstd_all_desc,
                                                    const void* invstd_all, cnnlTensorDescriptor_t moving_mean_desc,
                                                    void* moving_mean, cnnlTensorDescriptor_t moving_var_desc,
                                                    void* moving_var, float momentum, float eps,
                                                    cnnlTensorDescriptor_t count_all_desc, const void* count_all,
                                                    cnnlTensorDescriptor_t mean_desc, void* mean,
                                                    cnnlTensorDescriptor_t invstd_desc, void* invstd);
cnnlStatus_t cnnlSyncBatchNormElemt(cnnlHandle_t handle, cnnlTensorDescriptor_t x_desc, const void* x,
                                    cnnlTensorDescriptor_t mean_desc, const void* mean,
                                    cnnlTensorDescriptor_t invstd_desc, const void* invstd,
                                    cnnlTensorDescriptor_t filter_desc, const void* filter,
                                    cnnlTensorDescriptor_t bias_desc, const void* bias, cnnlTensorDescriptor_t y_desc,
                                    void* y);
cnnlStatus_t cnnlGetSyncBatchnormBackwardReduceWorkspaceSize(cnnlHandle_t handle, cnnlTensorDescriptor_t x_desc,
                                                             size_t* size);
cnnlStatus_t cnnlSyncBatchnormBackwardReduce_v2(cnnlHandle_t handle, cnnlTensorDescriptor_t dz_desc, const void* dz,
                                                cnnlTensorDescriptor_t x_desc, const void* x,
                                                cnnlTensorDescriptor_t mean_desc, const void* mean,
                                                cnnlTensorDescriptor_t invstd_desc, const void* invstd, void* workspace,
                                                size_t workspace_size, cnnlTensorDescriptor_t dfilter_desc,
                                                void* dfilter, cnnlTensorDescriptor_t dbias_desc, void* dbias,
                                                cnnlTensorDescriptor_t sum_dy_desc, void* sum_dy,
                                                cnnlTensorDescriptor_t sum_dy_xmu_desc, void* sum_dy_xmu,
                                                bool needs_input_grad0, bool needs_input_grad1, bool needs_input_grad2);
cnnlStatus_t cnnlSyncBatchNormBackwardElemt(cnnlHandle_t handle, cnnlTensorDescriptor_t diff_y_desc, const void* diff_y,
                                            cnnlTensorDescriptor_t x_desc, const void* x,
                                            cnnlTensorDescriptor_t mean_desc, const void* mean,
                                            cnnlTensorDescriptor_t invstd_desc, const void* invstd,
                                            cnnlTensorDescriptor_t filter_desc, const void* filter,
                                            cnnlTensorDescriptor_t mean_dy_desc, const void* mean_dy,
                                            cnnlTensorDescriptor_t mean_dy_xmu_desc, const void* mean_dy_xmu,
                                            cnnlTensorDescriptor_t diff_x_desc, void* diff_x);
/** From sums, and the rows of each process in count. */
cnnlStatus_t cnnlSyncBatchNormBackwardElemtV2(
    cnnlHandle_t handle, cnnlTensorDescriptor_t diff_y_desc, const void* diff_y, cnnlTensorDescriptor_t x_desc,
    const void* x, cnnlTensorDescriptor_t mean_desc, const void* mean, cnnlTensorDescriptor_t invstd_desc,
    const void* invstd, cnnlTensorDescriptor_t filter_desc, const void* filter, cnnlTensorDescriptor_t sum_dy_desc,
    const void* sum_dy, cnnlTensorDescriptor_t sum_dy_xmu_desc, const void* sum_dy_xmu,
    cnnlTensorDescriptor_t count_desc, const void* count, cnnlTensorDescriptor_t diff_x_desc, void* diff_x);

#if defined(__cplusplus)
}
#endif

#endif /* NEUWARE_CNNL_H_ */
