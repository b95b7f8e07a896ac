// Handles and descriptors.
#include "backends/mlu_emu/neuware/cnnl/descriptors.h"

#include <algorithm>
#include <cstring>

using namespace cnnl;  // NOLINT: the C functions' own names are all global

namespace {

template <class T>
cnnlStatus_t create(const char* function, T** object) {
  return guarded(function, [&] {
    require(object != nullptr, "the argument must not be null");
    *object = new T();
  });
}

template <class T>
cnnlStatus_t destroy(const char* function, T* object) {
  return guarded(function, [&] {
    require(object != nullptr, "the argument must not be null");
    delete object;
  });
}

template <class I>
cnnlStatus_t set_tensor(const char* function, cnnlTensorDescriptor_t desc, cnnlTensorLayout_t layout,
                        cnnlDataType_t dtype, int dim_count, const I* dims, const I* strides) {
  return guarded(function, [&] {
    require(desc != nullptr, "desc must not be null");
    require(dim_count >= 0 && (dim_count == 0 || dims != nullptr), "dims must not be null");
    require(std::all_of(dims, dims + dim_count, [](I d) { return d >= 0; }), "a dimension must not be negative");
    size_of(dtype);
    desc->dtype = dtype;
    desc->layout = layout;
    desc->dims.assign(dims, dims + dim_count);
    desc->strides = strides == nullptr ? dense(desc->dims) : Dims(strides, strides + dim_count);
  });
}

cnnlStatus_t no_workspace(const char* function, size_t* size) {
  return guarded(function, [&] {
    require(size != nullptr, "size must not be null");
    *size = 0;
  });
}

/// An attribute of a descriptor, from as many bytes as it has.
template <class T>
void put(T& member, const void* value, size_t bytes) {
  require(bytes == sizeof(T), "the value must have " + std::to_string(sizeof(T)) + " bytes");
  std::memcpy(&member, value, sizeof(T));
}

}  // namespace

extern "C" {

cnnlStatus_t cnnlCreate(cnnlHandle_t* handle) {
  return create(__func__, handle);
}
cnnlStatus_t cnnlDestroy(cnnlHandle_t handle) {
  return destroy(__func__, handle);
}
cnnlStatus_t cnnlSetQueue(cnnlHandle_t handle, cnrtQueue_t queue) {
  return guarded(__func__, [&] {
    require(handle != nullptr, "handle must not be null");
    handle->queue = queue;
  });
}
cnnlStatus_t cnnlGetQueue(cnnlHandle_t handle, cnrtQueue_t* queue) {
  return guarded(__func__, [&] {
    require(handle != nullptr && queue != nullptr, "handle and queue must not be null");
    *queue = handle->queue;
  });
}

const char* cnnlGetErrorString(cnnlStatus_t status) {
  switch (status) {
    case CNNL_STATUS_SUCCESS:
      return "CNNL_STATUS_SUCCESS";
    case CNNL_STATUS_NOT_INITIALIZED:
      return "CNNL_STATUS_NOT_INITIALIZED";
    case CNNL_STATUS_ALLOC_FAILED:
      return "CNNL_STATUS_ALLOC_FAILED";
    case CNNL_STATUS_BAD_PARAM:
      return "CNNL_STATUS_BAD_PARAM";
    case CNNL_STATUS_INTERNAL_ERROR:
      return "CNNL_STATUS_INTERNAL_ERROR";
    case CNNL_STATUS_ARCH_MISMATCH:
      return "CNNL_STATUS_ARCH_MISMATCH";
    case CNNL_STATUS_EXECUTION_FAILED:
      return "CNNL_STATUS_EXECUTION_FAILED";
    case CNNL_STATUS_NOT_SUPPORTED:
      return "CNNL_STATUS_NOT_SUPPORTED";
  }
  return "unknown cnnl status";
}

// ---- tensors ----

cnnlStatus_t cnnlCreateTensorDescriptor(cnnlTensorDescriptor_t* desc) {
  return create(__func__, desc);
}
cnnlStatus_t cnnlDestroyTensorDescriptor(cnnlTensorDescriptor_t desc) {
  return destroy(__func__, desc);
}
cnnlStatus_t cnnlSetTensorDescriptor(cnnlTensorDescriptor_t desc, cnnlTensorLayout_t layout, cnnlDataType_t dtype,
                                     int dim_count, const int dims[]) {
  return set_tensor<int>(__func__, desc, layout, dtype, dim_count, dims, nullptr);
}
cnnlStatus_t cnnlSetTensorDescriptor_v2(cnnlTensorDescriptor_t desc, cnnlTensorLayout_t layout, cnnlDataType_t dtype,
                                        int dim_count, const int64_t dims[]) {
  return set_tensor<int64_t>(__func__, desc, layout, dtype, dim_count, dims, nullptr);
}
cnnlStatus_t cnnlSetTensorDescriptorEx(cnnlTensorDescriptor_t desc, cnnlTensorLayout_t layout, cnnlDataType_t dtype,
                                       int dim_count, const int dims[], const int strides[]) {
  return set_tensor(__func__, desc, layout, dtype, dim_count, dims, strides);
}
cnnlStatus_t cnnlSetTensorDescriptorEx_v2(cnnlTensorDescriptor_t desc, cnnlTensorLayout_t layout, cnnlDataType_t dtype,
                                          int dim_count, const int64_t dims[], const int64_t strides[]) {
  return set_tensor(__func__, desc, layout, dtype, dim_count, dims, strides);
}

// ---- operations ----

cnnlStatus_t cnnlCreateTransposeDescriptor(cnnlTransposeDescriptor_t* desc) {
  return create(__func__, desc);
}
cnnlStatus_t cnnlDestroyTransposeDescriptor(cnnlTransposeDescriptor_t desc) {
  return destroy(__func__, desc);
}
cnnlStatus_t cnnlSetTransposeDescriptor(cnnlTransposeDescriptor_t desc, int dim_count, const int permute[]) {
  return guarded(__func__, [&] {
    require(desc != nullptr && permute != nullptr, "desc and permute must not be null");
    std::vector<int> order(permute, permute + dim_count);
    std::vector<int> sorted = order;
    std::sort(sorted.begin(), sorted.end());
    for (int i = 0; i < dim_count; ++i) {
      require(sorted[static_cast<std::size_t>(i)] == i, "permute must name each dimension once");
    }
    desc->permute = order;
  });
}
cnnlStatus_t cnnlGetTransposeWorkspaceSize(cnnlHandle_t, cnnlTensorDescriptor_t, cnnlTransposeDescriptor_t,
                                           size_t* size) {
  return no_workspace(__func__, size);
}

cnnlStatus_t cnnlGetAddNWorkspaceSize(cnnlHandle_t, const cnnlTensorDescriptor_t[], uint32_t, cnnlTensorDescriptor_t,
                                      size_t* size) {
  return no_workspace(__func__, size);
}

cnnlStatus_t cnnlCreateOpTensorDescriptor(cnnlOpTensorDescriptor_t* desc) {
  return create(__func__, desc);
}
cnnlStatus_t cnnlDestroyOpTensorDescriptor(cnnlOpTensorDescriptor_t desc) {
  return destroy(__func__, desc);
}
cnnlStatus_t cnnlSetOpTensorDescriptor(cnnlOpTensorDescriptor_t desc, cnnlOpTensorDesc_t op, cnnlDataType_t,
                                       cnnlNanPropagation_t) {
  return guarded(__func__, [&] {
    require(desc != nullptr, "desc must not be null");
    desc->op = op;
  });
}
cnnlStatus_t cnnlGetOpTensorWorkspaceSize(cnnlHandle_t, cnnlTensorDescriptor_t, cnnlTensorDescriptor_t,
                                          cnnlTensorDescriptor_t, size_t* size) {
  return no_workspace(__func__, size);
}

cnnlStatus_t cnnlCreateReduceDescriptor(cnnlReduceDescriptor_t* desc) {
  return create(__func__, desc);
}
cnnlStatus_t cnnlDestroyReduceDescriptor(cnnlReduceDescriptor_t desc) {
  return destroy(__func__, desc);
}
cnnlStatus_t cnnlSetReduceDescriptor_v2(cnnlReduceDescriptor_t desc, const int axes[], int axis_count,
                                        cnnlReduceOp_t op, cnnlDataType_t, cnnlNanPropagation_t,
                                        cnnlReduceIndices_t indices, cnnlIndicesType_t, float) {
  return guarded(__func__, [&] {
    require(desc != nullptr && axes != nullptr, "desc and axes must not be null");
    require(indices == CNNL_REDUCE_NO_INDICES, "indices are not supported", CNNL_STATUS_NOT_SUPPORTED);
    desc->op = op;
    desc->axes.assign(axes, axes + axis_count);
  });
}
cnnlStatus_t cnnlGetReduceOpWorkspaceSize_v2(cnnlHandle_t, cnnlTensorDescriptor_t, cnnlTensorDescriptor_t,
                                             cnnlTensorDescriptor_t, cnnlReduceDescriptor_t, size_t* size) {
  return no_workspace(__func__, size);
}

cnnlStatus_t cnnlGetTopKTensorWorkspaceSize(cnnlHandle_t, cnnlTensorDescriptor_t, int, int, bool,
                                            cnnlTensorDescriptor_t, cnnlTensorDescriptor_t, size_t* size) {
  return no_workspace(__func__, size);
}

cnnlStatus_t cnnlCreateUniqueDescriptor(cnnlUniqueDescriptor_t* desc) {
  return create(__func__, desc);
}
cnnlStatus_t cnnlDestroyUniqueDescriptor(cnnlUniqueDescriptor_t desc) {
  return destroy(__func__, desc);
}
cnnlStatus_t cnnlSetUniqueDescriptor(cnnlUniqueDescriptor_t desc, cnnlUniqueSort_t mode, int dim, bool return_inverse,
                                     bool return_counts) {
  return guarded(__func__, [&] {
    require(desc != nullptr, "desc must not be null");
    require(mode == CNNL_SORT_ASCEND, "only CNNL_SORT_ASCEND is supported", CNNL_STATUS_NOT_SUPPORTED);
    desc->dim = dim;
    desc->inverse = return_inverse;
    desc->counts = return_counts;
  });
}
cnnlStatus_t cnnlGetUniqueWorkspaceSize(cnnlHandle_t, cnnlUniqueDescriptor_t, cnnlTensorDescriptor_t, size_t* size) {
  return no_workspace(__func__, size);
}

cnnlStatus_t cnnlCreateMatMulDescriptor(cnnlMatMulDescriptor_t* desc) {
  return create(__func__, desc);
}
cnnlStatus_t cnnlDestroyMatMulDescriptor(cnnlMatMulDescriptor_t desc) {
  return destroy(__func__, desc);
}
cnnlStatus_t cnnlSetMatMulDescAttr(cnnlMatMulDescriptor_t desc, cnnlMatMulDescAttribute_t attribute, const void* value,
                                   size_t bytes) {
  return guarded(__func__, [&] {
    require(desc != nullptr && value != nullptr, "desc and value must not be null");
    require(bytes == sizeof(std::int32_t), "the value must have 4 bytes");
    std::int32_t number;
    std::memcpy(&number, value, sizeof(number));
    if (attribute == CNNL_MATMUL_DESC_TRANSA) desc->transpose_a = number != 0;
    if (attribute == CNNL_MATMUL_DESC_TRANSB) desc->transpose_b = number != 0;
  });
}
cnnlStatus_t cnnlCreateMatMulAlgo(cnnlMatMulAlgo_t* algo) {
  return create(__func__, algo);
}
cnnlStatus_t cnnlDestroyMatMulAlgo(cnnlMatMulAlgo_t algo) {
  return destroy(__func__, algo);
}
cnnlStatus_t cnnlCreateMatMulHeuristicResult(cnnlMatMulHeuristicResult_t* result) {
  return create(__func__, result);
}
cnnlStatus_t cnnlDestroyMatMulHeuristicResult(cnnlMatMulHeuristicResult_t result) {
  return destroy(__func__, result);
}
cnnlStatus_t cnnlGetMatMulAlgoHeuristic(cnnlHandle_t, cnnlMatMulDescriptor_t, cnnlTensorDescriptor_t,
                                        cnnlTensorDescriptor_t, cnnlTensorDescriptor_t, cnnlTensorDescriptor_t, void*,
                                        int requested, cnnlMatMulHeuristicResult_t results[], int* returned) {
  return guarded(__func__, [&] {
    require(requested > 0 && results != nullptr && returned != nullptr, "one algorithm must be asked for");
    *returned = 1;
  });
}
cnnlStatus_t cnnlGetMatMulHeuristicResult(cnnlMatMulHeuristicResult_t, cnnlMatMulAlgo_t, size_t* size) {
  return no_workspace(__func__, size);
}
cnnlStatus_t cnnlGetBatchMatMulExAlgoHeuristic(cnnlHandle_t handle, cnnlMatMulDescriptor_t desc,
                                               cnnlTensorDescriptor_t a_desc, cnnlTensorDescriptor_t b_desc,
                                               cnnlTensorDescriptor_t c_desc, void* preference, int requested,
                                               cnnlMatMulHeuristicResult_t results[], int* returned) {
  return cnnlGetMatMulAlgoHeuristic(handle, desc, a_desc, b_desc, c_desc, c_desc, preference, requested, results,
                                    returned);
}
cnnlStatus_t cnnlGetBatchMatMulExHeuristicResult(cnnlMatMulHeuristicResult_t, cnnlMatMulAlgo_t, size_t* size) {
  return no_workspace(__func__, size);
}

// ---- detection and batch normalization ----

cnnlStatus_t cnnlCreateNmsDescriptor(cnnlNmsDescriptor_t* desc) {
  return create(__func__, desc);
}
cnnlStatus_t cnnlDestroyNmsDescriptor(cnnlNmsDescriptor_t desc) {
  return destroy(__func__, desc);
}
cnnlStatus_t cnnlSetNmsDescAttr(cnnlNmsDescriptor_t desc, cnnlNmsDescAttribute_t attribute, const void* value,
                                size_t bytes) {
  return guarded(__func__, [&] {
    require(desc != nullptr && value != nullptr, "desc and value must not be null");
    switch (attribute) {
      case CNNL_NMS_DESC_BOX_MODE:
        return put(desc->box_mode, value, bytes);
      case CNNL_NMS_DESC_OUTPUT_MODE:
        return put(desc->output_mode, value, bytes);
      case CNNL_NMS_DESC_INPUT_LAYOUT:
        return put(desc->input_layout, value, bytes);
      case CNNL_NMS_DESC_IOU_THRESHOLD:
        return put(desc->iou_threshold, value, bytes);
      case CNNL_NMS_DESC_CONFIDENCE_THRESHOLD:
        return put(desc->confidence_threshold, value, bytes);
      case CNNL_NMS_DESC_MAX_OUTPUT_SIZE:
        return put(desc->max_output_size, value, bytes);
      case CNNL_NMS_DESC_OFFSET:
        return put(desc->offset, value, bytes);
      case CNNL_NMS_DESC_PAD_TO_MAX_OUTPUT_SIZE:
        return put(desc->pad, value, bytes);
    }
    require(false, "attribute must be one of cnnlNmsDescAttribute_t");
  });
}
cnnlStatus_t cnnlGetNmsWorkspaceSize_v4(cnnlHandle_t, cnnlNmsDescriptor_t, cnnlTensorDescriptor_t,
                                        cnnlTensorDescriptor_t, size_t* size) {
  return no_workspace(__func__, size);
}

cnnlStatus_t cnnlCreateDCNDescriptor(cnnlDCNDescriptor_t* desc) {
  return create(__func__, desc);
}
cnnlStatus_t cnnlDestroyDCNDescriptor(cnnlDCNDescriptor_t desc) {
  return destroy(__func__, desc);
}
cnnlStatus_t cnnlSetDCNDescriptor(cnnlDCNDescriptor_t desc, int dim_count, const int pad[], const int stride[],
                                  const int dilation[], int deformable_group, int conv_group, int im2col_step,
                                  cnnlDataType_t) {
  return guarded(__func__, [&] {
    require(desc != nullptr && pad != nullptr && stride != nullptr && dilation != nullptr,
            "desc, pad, stride and dilation must not be null");
    require(dim_count == 4, "dim_count: wanted 4, got " + std::to_string(dim_count));
    require(std::all_of(pad, pad + 4, [](int p) { return p >= 0; }), "pad must not be negative");
    require(std::min({stride[0], stride[1], dilation[0], dilation[1], deformable_group, conv_group, im2col_step}) > 0,
            "strides, dilations, groups and im2col_step must be positive");
    std::copy_n(pad, 4, desc->pad);
    std::copy_n(stride, 2, desc->stride);
    std::copy_n(dilation, 2, desc->dilation);
    desc->parts = deformable_group;
    desc->groups = conv_group;
  });
}
cnnlStatus_t cnnlGetDCNForwardWorkspaceSize(cnnlHandle_t, cnnlDCNDescriptor_t, cnnlTensorDescriptor_t,
                                            cnnlTensorDescriptor_t, cnnlTensorDescriptor_t, cnnlTensorDescriptor_t,
                                            cnnlTensorDescriptor_t, cnnlTensorDescriptor_t, size_t* size) {
  return no_workspace(__func__, size);
}
cnnlStatus_t cnnlGetDCNBakcwardDataWorkspaceSize(cnnlHandle_t, cnnlDCNDescriptor_t, cnnlTensorDescriptor_t,
                                                 cnnlTensorDescriptor_t, cnnlTensorDescriptor_t, cnnlTensorDescriptor_t,
                                                 cnnlTensorDescriptor_t, cnnlTensorDescriptor_t, cnnlTensorDescriptor_t,
                                                 cnnlTensorDescriptor_t, size_t* size) {
  return no_workspace(__func__, size);
}
cnnlStatus_t cnnlGetDCNBackwardWeightWorkspaceSize(cnnlHandle_t, cnnlDCNDescriptor_t, cnnlTensorDescriptor_t,
                                                   cnnlTensorDescriptor_t, cnnlTensorDescriptor_t,
                                                   cnnlTensorDescriptor_t, cnnlTensorDescriptor_t,
                                                   cnnlTensorDescriptor_t, size_t* size) {
  return no_workspace(__func__, size);
}

cnnlStatus_t cnnlCreateRoiAlignDescriptor(cnnlRoiAlignDescriptor_t* desc) {
  return create(__func__, desc);
}
cnnlStatus_t cnnlDestroyRoiAlignDescriptor(cnnlRoiAlignDescriptor_t desc) {
  return destroy(__func__, desc);
}
cnnlStatus_t cnnlSetRoiAlignDescriptor_v2(cnnlRoiAlignDescriptor_t desc, int pooled_height, int pooled_width,
                                          int sampling_ratio, float spatial_scale, int pool_mode, bool aligned) {
  return guarded(__func__, [&] {
    require(desc != nullptr, "desc must not be null");
    require(pooled_height > 0 && pooled_width > 0, "pooled_height and pooled_width must be positive");
    require(pool_mode == 0 || pool_mode == 1, "pool_mode must be 0 (maximum) or 1 (mean)");
    *desc = {pooled_height, pooled_width, sampling_ratio, spatial_scale, pool_mode == 1, aligned};
  });
}

cnnlStatus_t cnnlGetSyncBatchNormStatsWorkspaceSize(cnnlHandle_t, cnnlTensorDescriptor_t, size_t* size) {
  return no_workspace(__func__, size);
}
cnnlStatus_t cnnlGetSyncBatchnormBackwardReduceWorkspaceSize(cnnlHandle_t, cnnlTensorDescriptor_t, size_t* size) {
  return no_workspace(__func__, size);
}
}
