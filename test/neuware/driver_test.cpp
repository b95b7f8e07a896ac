// libcndrv and libcndev: what they tell about the device agrees with the runtime.
#include <cn_api.h>
#include <cndev.h>
#include <cnrt.h>
#include <gtest/gtest.h>

#include <cstring>

namespace neuware_test {
namespace {

int attribute(CNdevice_attribute a) {
  int value = -1;
  EXPECT_EQ(cnDeviceGetAttribute(&value, a, 0), CN_SUCCESS);
  return value;
}

TEST(Driver, AgreesWithTheRuntime) {
  int clusters = 0, nram = 0;
  ASSERT_EQ(cnrtDeviceGetAttribute(&clusters, cnrtAttrClusterCount, 0), cnrtSuccess);
  ASSERT_EQ(cnrtDeviceGetAttribute(&nram, cnrtAttrNramSizePerMcore, 0), cnrtSuccess);
  EXPECT_EQ(attribute(CN_DEVICE_ATTRIBUTE_MAX_CLUSTER_COUNT), clusters);
  EXPECT_EQ(attribute(CN_DEVICE_ATTRIBUTE_NRAM_SIZE_PER_CORE), nram);
  EXPECT_EQ(attribute(CN_DEVICE_ATTRIBUTE_MLU_ISA_VERSION), 372);
  int value = 7;
  EXPECT_EQ(cnDeviceGetAttribute(&value, static_cast<CNdevice_attribute>(999), 0), CN_OPS_ERROR_NOT_SUPPORTED);
  EXPECT_EQ(value, 7);
  const char* result = nullptr;
  EXPECT_EQ(cnGetErrorString(CN_OPS_ERROR_NOT_SUPPORTED, &result), CN_SUCCESS);
  EXPECT_STREQ(result, "CN_OPS_ERROR_NOT_SUPPORTED");
  EXPECT_EQ(cnGetErrorName(static_cast<CNresult>(999), &result), CN_ERROR_INVALID_VALUE);
  char name[64];
  ASSERT_EQ(cnDeviceGetName(name, sizeof(name), 0), CN_SUCCESS);
  EXPECT_EQ(std::strncmp(name, "MLU370-X4", 9), 0) << name;
}

TEST(Driver, TheContextCanBeNarrowed) {
  CNcontext context = nullptr;
  ASSERT_EQ(cnCtxGetCurrent(&context), CN_SUCCESS);
  int all = 0, half = 0;
  ASSERT_EQ(cnGetCtxMaxParallelUnionTasks(context, CN_KERNEL_CLASS_UNION, &all), CN_SUCCESS);
  CNctxConfigParam before = {}, param = {};
  ASSERT_EQ(cnGetCtxConfigParam(context, CN_CTX_CONFIG_VISIBLE_CLUSTER, &before), CN_SUCCESS);
  param.visibleCluster = 0x0f;
  ASSERT_EQ(cnSetCtxConfigParam(context, CN_CTX_CONFIG_VISIBLE_CLUSTER, &param), CN_SUCCESS);
  ASSERT_EQ(cnGetCtxMaxParallelUnionTasks(context, CN_KERNEL_CLASS_UNION2, &half), CN_SUCCESS);
  EXPECT_EQ(half, 2);
  ASSERT_EQ(cnGetCtxConfigParam(context, CN_CTX_CONFIG_VISIBLE_CLUSTER_NUM, &param), CN_SUCCESS);
  EXPECT_EQ(param.visibleClusterNumber, 4u);
  param.visibleCluster = 0;
  EXPECT_EQ(cnSetCtxConfigParam(context, CN_CTX_CONFIG_VISIBLE_CLUSTER, &param), CN_ERROR_INVALID_VALUE);
  ASSERT_EQ(cnSetCtxConfigParam(context, CN_CTX_CONFIG_VISIBLE_CLUSTER, &before), CN_SUCCESS);
  ASSERT_EQ(cnGetCtxMaxParallelUnionTasks(context, CN_KERNEL_CLASS_UNION, &half), CN_SUCCESS);
  EXPECT_EQ(half, all);
}

TEST(Driver, MemoryIsTheRuntimes) {
  CNaddr address = 0;
  ASSERT_EQ(cnMallocConstant(&address, 256), CN_SUCCESS);
  EXPECT_EQ(cnrtMemset(reinterpret_cast<void*>(address), 0, 256), cnrtSuccess);
  EXPECT_EQ(cnFree(address), CN_SUCCESS);
  EXPECT_EQ(cnFree(address), CN_ERROR_INVALID_VALUE) << "freed twice";
  cnrtGetLastError();
}

TEST(Management, OneDevice) {
  ASSERT_EQ(cndevInit(0), CNDEV_SUCCESS);
  cndevDevice_t device = -1;
  EXPECT_EQ(cndevGetDeviceHandleByIndex(1, &device), CNDEV_ERROR_INVALID_ARGUMENT);
  ASSERT_EQ(cndevGetDeviceHandleByIndex(0, &device), CNDEV_SUCCESS);
  cndevDDRInfo_t memory = {};
  ASSERT_EQ(cndevGetDDRInfo(&memory, device), CNDEV_SUCCESS);
  EXPECT_EQ(memory.bandWidth, 307) << "GB/s of the cost model";
  cndevDeviceMaxPerformance_t peak = {};
  ASSERT_EQ(cndevGetDeviceMaxPerformance(&peak, device), CNDEV_SUCCESS);
  EXPECT_EQ(peak.fp16Tensor, 1500u) << "multiply-adds of the cost model";
  EXPECT_EQ(peak.int8Tensor, 3000u);
  EXPECT_EQ(peak.fp32Tensor, 375u);
  EXPECT_EQ(peak.fp32Vector, 175u) << "two operations for each of the cost model's 350 bytes";
  EXPECT_EQ(cndevGetDeviceMaxPerformance(nullptr, device), CNDEV_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(cndevGetDeviceMaxPerformance(&peak, 1), CNDEV_ERROR_INVALID_ARGUMENT);
  unsigned count = 1;
  cndevProcessInfo_t process = {};
  ASSERT_EQ(cndevGetProcessInfo(&count, &process, device), CNDEV_SUCCESS);
  EXPECT_EQ(count, 1u);
  EXPECT_GT(process.pid, 0u);
  EXPECT_EQ(cndevRelease(), CNDEV_SUCCESS);
}

}  // namespace
}  // namespace neuware_test
