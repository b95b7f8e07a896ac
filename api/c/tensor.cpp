#include "common/tensor_desc.h"

#include <limits>
#include <memory>
#include <span>

#include "api/c/boundary.h"
#include "common/op/check.h"
#include "mlu_op.h"

using namespace mluops;
using op::not_null;

namespace {

std::int64_t count_elements(std::span<const std::int64_t> dims) {
  std::int64_t product = 1;
  bool overflow = false;
  for (const std::int64_t d : dims) {
    if (d == 0) return 0;
    overflow = overflow || __builtin_mul_overflow(product, d, &product);
  }
  return overflow ? -1 : product;
}

/// Row-major strides; a product that leaves int64 stays at the largest value.
std::vector<std::int64_t> dense_strides(std::span<const std::int64_t> dims) {
  std::vector<std::int64_t> strides(dims.size());
  std::int64_t stride = 1;
  for (std::size_t i = dims.size(); i-- > 0;) {
    strides[i] = stride;
    if (__builtin_mul_overflow(stride, dims[i], &stride)) stride = INT64_MAX;
  }
  return strides;
}

template <class Int>
Status set_dims(mluOpTensorDescriptor_t desc, int dim_nb, const Int* sizes, const Int* strides) {
  if (dim_nb == 0) {
    if (desc->pointer_mode != MLUOP_POINTER_MODE_HOST) {
      return Status::bad_param("dimNb: wanted >= 1 (0 needs pointer mode HOST), got 0");
    }
    desc->dims.clear();
    desc->strides.clear();
    desc->elements = 1;
    return Status::go_on();
  }
  MLUOPS_RETURN_IF_FINISHED(op::in_range("dimNb", dim_nb, 1, INT32_MAX));
  MLUOPS_RETURN_IF_FINISHED(not_null("dimSize", sizes));
  const std::size_t n = static_cast<std::size_t>(dim_nb);
  for (std::size_t i = 0; i < n; ++i) MLUOPS_RETURN_IF_FINISHED(op::in_range("dimSize", sizes[i], 0, INT64_MAX));
  // All memory first: a descriptor that there is no memory to change stays what it was.
  std::vector<std::int64_t> new_dims(sizes, sizes + n);
  std::vector<std::int64_t> new_strides =
      strides != nullptr ? std::vector<std::int64_t>(strides, strides + n) : dense_strides(new_dims);
  desc->elements = count_elements(new_dims);
  desc->dims.swap(new_dims);
  desc->strides.swap(new_strides);
  return Status::go_on();
}

template <class Int>
Status set_all(mluOpTensorDescriptor_t desc, mluOpTensorLayout_t layout, mluOpDataType_t dtype, int dim_nb,
               const Int* sizes, const Int* strides) {
  MLUOPS_RETURN_IF_FINISHED(not_null("desc", desc));
  MLUOPS_RETURN_IF_FINISHED(op::in_range("layout", static_cast<int>(layout), 0, INT32_MAX));
  MLUOPS_RETURN_IF_FINISHED(op::in_range("dtype", static_cast<int>(dtype), 0, INT32_MAX));
  MLUOPS_RETURN_IF_FINISHED(set_dims(desc, dim_nb, sizes, strides));
  desc->layout = layout;
  desc->dtype = dtype;
  return Status::go_on();
}

template <class Int>
Status set_group(mluOpTensorDescriptor_t** group, const mluOpTensorLayout_t* layouts, const mluOpDataType_t* dtypes,
                 const int* dim_nbs, const Int* sizes, int count) {
  MLUOPS_RETURN_IF_FINISHED(op::are_given({{"group_desc", group},
                                           {"group_layout", layouts},
                                           {"group_dtype", dtypes},
                                           {"group_dimNb", dim_nbs},
                                           {"group_dimSize", sizes}}));
  MLUOPS_RETURN_IF_FINISHED(op::in_range("desc_num", count, 1, INT32_MAX));
  for (int i = 0; i < count; ++i) {
    MLUOPS_RETURN_IF_FINISHED(not_null("group_desc[i]", group[i]));
    MLUOPS_RETURN_IF_FINISHED(set_all<Int>(*group[i], layouts[i], dtypes[i], dim_nbs[i], sizes, nullptr));
    sizes += dim_nbs[i];
  }
  return Status::go_on();
}

/// Whether the caller's integers hold the values; the functions of int have a _v2 that reads any.
template <class Int>
Status fit(const char* name, const std::vector<std::int64_t>& values) {
  for (const std::int64_t v : values) {
    MLUOPS_RETURN_IF_FINISHED(op::in_range(name, v, std::numeric_limits<Int>::min(), std::numeric_limits<Int>::max()));
  }
  return Status::go_on();
}

template <class Value>
void put(Value* out, const Value& value) {
  if (out != nullptr) *out = value;
}

template <class Int>
void put_all(Int* out, const std::vector<std::int64_t>& values) {
  for (std::size_t i = 0; out != nullptr && i < values.size(); ++i) out[i] = static_cast<Int>(values[i]);
}

template <class Int>
Status get(mluOpTensorDescriptor_t desc, mluOpTensorLayout_t* layout, mluOpDataType_t* dtype, int* dim_nb, Int* sizes,
           Int* strides) {
  MLUOPS_RETURN_IF_FINISHED(not_null("desc", desc));
  if (sizes != nullptr) MLUOPS_RETURN_IF_FINISHED(fit<Int>("dimSize", desc->dims));
  if (strides != nullptr) MLUOPS_RETURN_IF_FINISHED(fit<Int>("dimStride", desc->strides));
  put(layout, desc->layout);
  put(dtype, desc->dtype);
  put(dim_nb, rank(*desc));
  put_all(sizes, desc->dims);
  put_all(strides, desc->strides);
  return Status::go_on();
}

template <class Int>
Status get_ex(mluOpTensorDescriptor_t desc, mluOpTensorLayout_t* layout, mluOpDataType_t* dtype, int* dim_nb,
              Int* sizes, Int* strides) {
  MLUOPS_RETURN_IF_FINISHED(op::are_given({{"desc", desc},
                                           {"layout", layout},
                                           {"dtype", dtype},
                                           {"dimNb", dim_nb},
                                           {"dimSize", sizes},
                                           {"dimStride", strides}}));
  return get(desc, layout, dtype, dim_nb, sizes, strides);
}

}  // namespace

mluOpStatus_t mluOpCreateTensorDescriptor(mluOpTensorDescriptor_t* desc) {
  return guard(__func__, {{"desc", desc}}, [&] { *desc = new mluOpTensorStruct; });
}

mluOpStatus_t mluOpCreateGroupTensorDescriptors(mluOpTensorDescriptor_t* group_desc[], const int desc_num) {
  return guard(__func__, {{"group_desc", group_desc}}, [&]() -> Status {
    MLUOPS_RETURN_IF_FINISHED(op::in_range("desc_num", desc_num, 1, INT32_MAX));
    for (int i = 0; i < desc_num; ++i) MLUOPS_RETURN_IF_FINISHED(not_null("group_desc[i]", group_desc[i]));
    std::vector<std::unique_ptr<mluOpTensorStruct>> made(static_cast<std::size_t>(desc_num));
    for (auto& desc : made) desc = std::make_unique<mluOpTensorStruct>();
    for (int i = 0; i < desc_num; ++i) *group_desc[i] = made[static_cast<std::size_t>(i)].release();
    return Status::go_on();
  });
}

mluOpStatus_t mluOpSetTensorDescriptor(mluOpTensorDescriptor_t desc, mluOpTensorLayout_t layout, mluOpDataType_t dtype,
                                       int dimNb, const int dimSize[]) {
  return guard(__func__, [&] { return set_all<int>(desc, layout, dtype, dimNb, dimSize, nullptr); });
}

mluOpStatus_t mluOpSetTensorDescriptor_v2(mluOpTensorDescriptor_t desc, mluOpTensorLayout_t layout,
                                          mluOpDataType_t dtype, int dimNb, const int64_t dimSize[]) {
  return guard(__func__, [&] { return set_all<int64_t>(desc, layout, dtype, dimNb, dimSize, nullptr); });
}

mluOpStatus_t mluOpSetGroupTensorDescriptors(mluOpTensorDescriptor_t* group_desc[],
                                             const mluOpTensorLayout_t group_layout[],
                                             const mluOpDataType_t group_dtype[], const int group_dimNb[],
                                             const int group_dimSize[], const int desc_num) {
  return guard(__func__,
               [&] { return set_group(group_desc, group_layout, group_dtype, group_dimNb, group_dimSize, desc_num); });
}

mluOpStatus_t mluOpSetGroupTensorDescriptors_v2(mluOpTensorDescriptor_t* group_desc[],
                                                const mluOpTensorLayout_t group_layout[],
                                                const mluOpDataType_t group_dtype[], const int group_dimNb[],
                                                const int64_t group_dimSize[], const int desc_num) {
  return guard(__func__,
               [&] { return set_group(group_desc, group_layout, group_dtype, group_dimNb, group_dimSize, desc_num); });
}

mluOpStatus_t mluOpSetTensorDescriptorEx(mluOpTensorDescriptor_t desc, mluOpTensorLayout_t layout,
                                         mluOpDataType_t dtype, int dimNb, const int dimSize[], const int dimStride[]) {
  return guard(__func__, {{"dimSize", dimSize}, {"dimStride", dimStride}},
               [&] { return set_all(desc, layout, dtype, dimNb, dimSize, dimStride); });
}

mluOpStatus_t mluOpSetTensorDescriptorEx_v2(mluOpTensorDescriptor_t desc, mluOpTensorLayout_t layout,
                                            mluOpDataType_t dtype, int dimNb, const int64_t dimSize[],
                                            const int64_t dimStride[]) {
  return guard(__func__, {{"dimSize", dimSize}, {"dimStride", dimStride}},
               [&] { return set_all(desc, layout, dtype, dimNb, dimSize, dimStride); });
}

mluOpStatus_t mluOpSetTensorDescriptorDim(mluOpTensorDescriptor_t desc, int dimNb, const int* dimSize) {
  return guard(__func__, {{"desc", desc}}, [&] { return set_dims<int>(desc, dimNb, dimSize, nullptr); });
}

mluOpStatus_t mluOpSetTensorDescriptorDim_v2(mluOpTensorDescriptor_t desc, int dimNb, const int64_t* dimSize) {
  return guard(__func__, {{"desc", desc}}, [&] { return set_dims<int64_t>(desc, dimNb, dimSize, nullptr); });
}

mluOpStatus_t mluOpSetTensorDescriptorOnchipDataType(mluOpTensorDescriptor_t desc, mluOpDataType_t onchip_dtype) {
  return guard(__func__, {{"desc", desc}}, [&] { desc->onchip_dtype = onchip_dtype; });
}

mluOpStatus_t mluOpSetTensorDescriptorPosition(mluOpTensorDescriptor_t desc, int position) {
  return guard(__func__, {{"desc", desc}}, [&] { desc->position = position; });
}

mluOpStatus_t mluOpSetTensorDescriptorPositionAndScale(mluOpTensorDescriptor_t desc, int position, float scale) {
  return guard(__func__, {{"desc", desc}}, [&] {
    desc->position = position;
    desc->scale = scale;
  });
}

mluOpStatus_t mluOpSetTensorDescriptorPositionScaleAndOffset(mluOpTensorDescriptor_t desc, int position, float scale,
                                                             int offset) {
  return guard(__func__, {{"desc", desc}}, [&] {
    desc->position = position;
    desc->scale = scale;
    desc->offset = offset;
  });
}

mluOpStatus_t mluOpSetTensorDescriptorPointerMode(mluOpTensorDescriptor_t desc, mluOpPointerMode_t pointer_mode) {
  return guard(__func__, {{"desc", desc}}, [&]() -> Status {
    MLUOPS_RETURN_IF_FINISHED(op::in_range("pointer_mode", static_cast<int>(pointer_mode), 0, INT32_MAX));
    desc->pointer_mode = pointer_mode;
    return Status::go_on();
  });
}

mluOpStatus_t mluOpGetTensorDescriptorEx(const mluOpTensorDescriptor_t desc, mluOpTensorLayout_t* layout,
                                         mluOpDataType_t* dtype, int* dimNb, int dimSize[], int dimStride[]) {
  return guard(__func__, [&] { return get_ex(desc, layout, dtype, dimNb, dimSize, dimStride); });
}

mluOpStatus_t mluOpGetTensorDescriptorEx_v2(const mluOpTensorDescriptor_t desc, mluOpTensorLayout_t* layout,
                                            mluOpDataType_t* dtype, int* dimNb, int64_t dimSize[],
                                            int64_t dimStride[]) {
  return guard(__func__, [&] { return get_ex(desc, layout, dtype, dimNb, dimSize, dimStride); });
}

mluOpStatus_t mluOpGetTensorDescriptor(const mluOpTensorDescriptor_t desc, mluOpTensorLayout_t* layout,
                                       mluOpDataType_t* dtype, int* dimNb, int dimSize[]) {
  return guard(__func__, [&] { return get<int>(desc, layout, dtype, dimNb, dimSize, nullptr); });
}

mluOpStatus_t mluOpGetTensorDescriptor_v2(const mluOpTensorDescriptor_t desc, mluOpTensorLayout_t* layout,
                                          mluOpDataType_t* dtype, int* dimNb, int64_t dimSize[]) {
  return guard(__func__, [&] { return get<int64_t>(desc, layout, dtype, dimNb, dimSize, nullptr); });
}

mluOpStatus_t mluOpGetTensorDescriptorOnchipDataType(const mluOpTensorDescriptor_t desc,
                                                     mluOpDataType_t* onchip_dtype) {
  return guard(__func__, {{"desc", desc}, {"onchip_dtype", onchip_dtype}}, [&] { *onchip_dtype = desc->onchip_dtype; });
}

mluOpStatus_t mluOpGetTensorDescriptorPosition(const mluOpTensorDescriptor_t desc, int* position) {
  return guard(__func__, {{"desc", desc}, {"position", position}}, [&] { *position = desc->position; });
}

mluOpStatus_t mluOpGetTensorDescriptorPositionAndScale(const mluOpTensorDescriptor_t desc, int* position,
                                                       float* scale) {
  return guard(__func__, {{"desc", desc}, {"scale", scale}, {"position", position}}, [&] {
    *position = desc->position;
    *scale = desc->scale;
  });
}

mluOpStatus_t mluOpGetTensorDescriptorPositionScaleAndOffset(const mluOpTensorDescriptor_t desc, int* position,
                                                             float* scale, int* offset) {
  return guard(__func__, {{"desc", desc}, {"scale", scale}, {"offset", offset}, {"position", position}}, [&] {
    *position = desc->position;
    *scale = desc->scale;
    *offset = desc->offset;
  });
}

mluOpStatus_t mluOpGetTensorDescriptorPointerMode(const mluOpTensorDescriptor_t desc,
                                                  mluOpPointerMode_t* pointer_mode) {
  return guard(__func__, {{"desc", desc}, {"pointer_mode", pointer_mode}}, [&] { *pointer_mode = desc->pointer_mode; });
}

uint64_t mluOpGetTensorElementNum(const mluOpTensorDescriptor_t desc) {
  return desc != nullptr && desc->elements > 0 ? static_cast<uint64_t>(desc->elements) : 0;
}

mluOpStatus_t mluOpResetTensorDescriptor(mluOpTensorDescriptor_t desc) {
  return guard(__func__, {{"desc", desc}}, [&] { *desc = mluOpTensorStruct{}; });
}

mluOpStatus_t mluOpDestroyTensorDescriptor(mluOpTensorDescriptor_t desc) {
  return guard(__func__, {{"desc", desc}}, [&] { delete desc; });
}

mluOpStatus_t mluOpDestroyGroupTensorDescriptors(mluOpTensorDescriptor_t* group_desc[], const int desc_num) {
  return guard(__func__, {{"group_desc", group_desc}}, [&]() -> Status {
    MLUOPS_RETURN_IF_FINISHED(op::in_range("desc_num", desc_num, 1, INT32_MAX));
    for (int i = 0; i < desc_num; ++i) {
      MLUOPS_RETURN_IF_FINISHED(not_null("group_desc[i]", group_desc[i]));
      MLUOPS_RETURN_IF_FINISHED(not_null("*group_desc[i]", *group_desc[i]));
    }
    for (int i = 0; i < desc_num; ++i) delete *group_desc[i];
    return Status::go_on();
  });
}
