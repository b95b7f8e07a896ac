// Device memory that frees itself, and a queue.
#pragma once

#include <cnrt.h>
#include <gtest/gtest.h>

#include <vector>

namespace neuware_test {

template <class T>
class OnDevice {
 public:
  explicit OnDevice(std::size_t count, T value = T()) : OnDevice(std::vector<T>(count, value)) {}
  explicit OnDevice(const std::vector<T>& values) : count_(values.size()) {
    EXPECT_EQ(cnrtMalloc(&data_, bytes()), cnrtSuccess);
    EXPECT_EQ(cnrtMemcpy(data_, const_cast<T*>(values.data()), bytes(), cnrtMemcpyHostToDev), cnrtSuccess);
  }
  OnDevice(const OnDevice&) = delete;
  OnDevice& operator=(const OnDevice&) = delete;
  ~OnDevice() { cnrtFree(data_); }

  T* data() { return static_cast<T*>(data_); }
  std::vector<T> values() {
    std::vector<T> v(count_);
    EXPECT_EQ(cnrtMemcpy(v.data(), data_, bytes(), cnrtMemcpyDevToHost), cnrtSuccess);
    return v;
  }

 private:
  std::size_t bytes() const { return count_ * sizeof(T); }
  std::size_t count_;
  void* data_ = nullptr;
};

class WithQueue : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(cnrtQueueCreate(&queue), cnrtSuccess);
    cnrtGetLastError();
  }
  void TearDown() override { EXPECT_EQ(cnrtQueueDestroy(queue), cnrtSuccess); }

  /// The launch before went well.
  void expect_success() {
    EXPECT_EQ(cnrtGetLastError(), cnrtSuccess) << cnrtExtGetLastFault();
    EXPECT_EQ(cnrtQueueSync(queue), cnrtSuccess);
  }
  /// The launch before failed, and its text names all `parts`.
  void expect_fault(const std::vector<std::string>& parts) {
    EXPECT_EQ(cnrtPeekAtLastError(), cnrtErrorKernelFault);
    EXPECT_EQ(cnrtGetLastError(), cnrtErrorKernelFault);
    EXPECT_EQ(cnrtGetLastError(), cnrtSuccess) << "asked once, forgotten";
    EXPECT_EQ(cnrtQueueSync(queue), cnrtErrorKernelFault);
    EXPECT_EQ(cnrtGetLastError(), cnrtErrorKernelFault) << "the queue stays in its error state";
    const std::string text = cnrtExtGetLastFault();
    for (const std::string& part : parts) EXPECT_NE(text.find(part), std::string::npos) << text << "\nlacks " << part;
  }

  cnrtQueue_t queue = nullptr;
};

}  // namespace neuware_test
