// Tensors and a handle of the compute library.
#pragma once

#include <cnnl.h>

#include <numeric>

#include "test/neuware/device_memory.h"

namespace neuware_test {

class Desc {
 public:
  Desc(cnnlDataType_t dtype, const std::vector<int>& dims, cnnlTensorLayout_t layout = CNNL_LAYOUT_ARRAY) {
    EXPECT_EQ(cnnlCreateTensorDescriptor(&desc_), CNNL_STATUS_SUCCESS);
    EXPECT_EQ(cnnlSetTensorDescriptor(desc_, layout, dtype, static_cast<int>(dims.size()), dims.data()),
              CNNL_STATUS_SUCCESS);
  }
  Desc(cnnlDataType_t dtype, const std::vector<int>& dims, const std::vector<int>& strides) : Desc(dtype, dims) {
    EXPECT_EQ(cnnlSetTensorDescriptorEx(desc_, CNNL_LAYOUT_ARRAY, dtype, static_cast<int>(dims.size()), dims.data(),
                                        strides.data()),
              CNNL_STATUS_SUCCESS);
  }
  Desc(const Desc&) = delete;
  Desc& operator=(const Desc&) = delete;
  ~Desc() { cnnlDestroyTensorDescriptor(desc_); }
  operator cnnlTensorDescriptor_t() const { return desc_; }  // NOLINT(google-explicit-constructor)

 private:
  cnnlTensorDescriptor_t desc_ = nullptr;
};

inline Desc floats(const std::vector<int>& dims) {
  return {CNNL_DTYPE_FLOAT, dims};
}
inline Desc image_floats(const std::vector<int>& dims) {
  return {CNNL_DTYPE_FLOAT, dims, CNNL_LAYOUT_NHWC};
}
inline Desc ints(const std::vector<int>& dims) {
  return {CNNL_DTYPE_INT32, dims};
}

inline std::vector<float> counting(std::size_t n) {
  std::vector<float> v(n);
  std::iota(v.begin(), v.end(), 0.0f);
  return v;
}

class Cnnl : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(cnnlCreate(&handle), CNNL_STATUS_SUCCESS);
    ASSERT_EQ(cnnlSetQueue(handle, nullptr), CNNL_STATUS_SUCCESS);
  }
  void TearDown() override { EXPECT_EQ(cnnlDestroy(handle), CNNL_STATUS_SUCCESS); }
  cnnlHandle_t handle = nullptr;
};

}  // namespace neuware_test
