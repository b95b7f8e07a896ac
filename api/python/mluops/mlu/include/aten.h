// What extensions written for the first torch_mlu include: device memory, queues, the device's attributes, log lines.
#pragma once

#include <ATen/ATen.h>
#include <cn_api.h>
#include <cnrt.h>

#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "aten/utils/cnnl_util.h"
#include "framework/core/MLUStream.h"
#include "framework/core/device.h"
#include "utils/cnlog.h"

#ifndef TORCH_MLU_CHECK
#define TORCH_MLU_CHECK TORCH_CHECK
#endif

using at::Tensor;  // extensions name it so

namespace torch_mlu {

inline cnrtQueue_t getCurQueue(c10::DeviceIndex index = -1) {
  return getCurMLUStream(index);
}
inline MLUStream getCurrentQueue(c10::DeviceIndex index = -1) {
  return getCurrentMLUStream(index);
}

inline int64_t getDeviceAttr(cnrtDeviceAttr_t attribute) {
  int value = 0;
  const cnrtRet_t status = cnrtDeviceGetAttribute(&value, attribute, current_device());
  if (status == cnrtSuccess) return value;
  cnrtGetLastError();
  TORCH_CHECK(false, "mlu: cnrtDeviceGetAttribute of ", static_cast<int>(attribute), ": ", cnrtGetErrorStr(status));
}

inline cnrtDataType_t toCnrtDtype(const caffe2::TypeMeta& type) {
  switch (c10::typeMetaToScalarType(type)) {
    case c10::ScalarType::Half:
      return CNRT_FLOAT16;
    case c10::ScalarType::Float:
      return CNRT_FLOAT32;
    case c10::ScalarType::Double:
      return CNRT_FLOAT64;
    case c10::ScalarType::Char:
      return CNRT_INT8;
    case c10::ScalarType::Short:
      return CNRT_INT16;
    case c10::ScalarType::Int:
      return CNRT_INT32;
    case c10::ScalarType::Long:
      return CNRT_INT64;
    case c10::ScalarType::Byte:
      return CNRT_UINT8;
    case c10::ScalarType::Bool:
      return CNRT_BOOL;
    default:
      TORCH_CHECK_TYPE(false, "mlu: the runtime has no number for tensors of type ", type.name());
  }
}

}  // namespace torch_mlu

namespace torch_mlu::cnnl::ops {

using torch_mlu::cnnl_contiguous;

/// The format in which channels lie last, of tensors of 4 and 5 dimensions; others have no such format.
inline c10::MemoryFormat get_channels_last_memory_format(int64_t dim) {
  if (dim == 4) return c10::MemoryFormat::ChannelsLast;
  return dim == 5 ? c10::MemoryFormat::ChannelsLast3d : c10::MemoryFormat::Contiguous;
}

}  // namespace torch_mlu::cnnl::ops
