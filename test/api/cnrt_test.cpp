// The runtime stand-in: what a sample program does around its operator call.
#include <gtest/gtest.h>

#include <chrono>
#include <thread>

#include "mlu_op.h"

namespace {

TEST(Cnrt, MemoryIsHostMemory) {
  void* device = nullptr;
  ASSERT_EQ(cnrtMalloc(&device, 1000), cnrtSuccess);
  int host[3] = {1, 2, 3}, back[3] = {};
  EXPECT_EQ(cnrtMemcpy(device, host, sizeof(host), cnrtMemcpyHostToDev), cnrtSuccess);
  EXPECT_EQ(cnrtMemcpy(back, device, sizeof(back), cnrtMemcpyDevToHost), cnrtSuccess);
  EXPECT_EQ(back[2], 3);
  EXPECT_EQ(cnrtMemset(device, 0, 1000), cnrtSuccess);
  EXPECT_EQ(static_cast<int*>(device)[0], 0);
  EXPECT_EQ(cnrtFree(device), cnrtSuccess);
  EXPECT_EQ(cnrtFree(nullptr), cnrtSuccess);
  EXPECT_EQ(cnrtMalloc(nullptr, 8), cnrtErrorArgsInvalid);
  EXPECT_EQ(cnrtMemcpy(nullptr, host, 4, cnrtMemcpyHostToDev), cnrtErrorArgsInvalid);
  EXPECT_EQ(cnrtMemset(nullptr, 0, 4), cnrtErrorArgsInvalid);
}

TEST(Cnrt, OneDevice) {
  unsigned int count = 0;
  int device = -1;
  EXPECT_EQ(cnrtGetDeviceCount(&count), cnrtSuccess);
  EXPECT_EQ(count, 1u);
  EXPECT_EQ(cnrtGetDevice(&device), cnrtSuccess);
  EXPECT_EQ(device, 0);
  EXPECT_EQ(cnrtSetDevice(0), cnrtSuccess);
  EXPECT_EQ(cnrtSetDevice(1), cnrtErrorArgsInvalid);
  EXPECT_STREQ(cnrtGetErrorStr(cnrtErrorArgsInvalid), "cnrtErrorArgsInvalid");
}

TEST(Cnrt, NotifiersMeasureTime) {
  cnrtQueue_t queue = nullptr;
  cnrtNotifier_t start = nullptr, end = nullptr;
  ASSERT_EQ(cnrtQueueCreate(&queue), cnrtSuccess);
  ASSERT_EQ(cnrtNotifierCreate(&start), cnrtSuccess);
  ASSERT_EQ(cnrtNotifierCreate(&end), cnrtSuccess);
  EXPECT_EQ(cnrtPlaceNotifier(start, queue), cnrtSuccess);
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  EXPECT_EQ(cnrtPlaceNotifier(end, queue), cnrtSuccess);
  EXPECT_EQ(cnrtQueueSync(queue), cnrtSuccess);
  float us = 0;
  EXPECT_EQ(cnrtNotifierDuration(start, end, &us), cnrtSuccess);
  EXPECT_GE(us, 19e3f);
  EXPECT_LT(us, 10e6f);
  float ms = 0;
  EXPECT_EQ(cnrtNotifierElapsedTime(start, end, &ms), cnrtSuccess);
  EXPECT_NEAR(ms, us * 1e-3f, 1e-3f);
  EXPECT_EQ(cnrtNotifierDuration(nullptr, end, &us), cnrtErrorArgsInvalid);
  EXPECT_EQ(cnrtNotifierDestroy(start), cnrtSuccess);
  EXPECT_EQ(cnrtNotifierDestroy(end), cnrtSuccess);
  EXPECT_EQ(cnrtQueueDestroy(queue), cnrtSuccess);
}

TEST(Cnrt, NoSizeIsTooLargeToBeRefused) {
  for (const std::size_t bytes : {SIZE_MAX, SIZE_MAX - 1, SIZE_MAX - 510, SIZE_MAX - 511, SIZE_MAX / 2}) {
    void* pointer = nullptr;
    EXPECT_EQ(cnrtMalloc(&pointer, bytes), cnrtErrorNoMem) << bytes;
    EXPECT_EQ(pointer, nullptr) << bytes;
  }
}

}  // namespace
