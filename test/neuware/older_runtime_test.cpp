// Names of the runtime before version 5, which older programs call.
#include <cnrt.h>
#include <gtest/gtest.h>

#include <cstdint>

namespace {

TEST(OlderRuntime, HandlesAreTheCards) {
  cnrtDev_t device = -1;
  ASSERT_EQ(cnrtInit(0), cnrtSuccess);
  ASSERT_EQ(cnrtGetDeviceHandle(&device, 0), cnrtSuccess);
  EXPECT_EQ(device, 0);
  ASSERT_EQ(cnrtSetCurrentDevice(device), cnrtSuccess);
  cnrtDev_t current = -1;
  ASSERT_EQ(cnrtGetCurrentDevice(&current), cnrtSuccess);
  EXPECT_EQ(current, 0);
  cnrtDestroy();
}

TEST(OlderRuntime, NoHandleOfACardThatIsNotThere) {
  unsigned int cards = 0;
  ASSERT_EQ(cnrtGetDeviceCount(&cards), cnrtSuccess);
  cnrtDev_t device = -1;
  EXPECT_EQ(cnrtGetDeviceHandle(&device, static_cast<int>(cards)), cnrtErrorNoDevice);
  EXPECT_EQ(cnrtGetDeviceHandle(&device, -1), cnrtErrorNoDevice);
  EXPECT_EQ(device, -1) << "untouched";
  EXPECT_EQ(cnrtGetDeviceHandle(nullptr, 0), cnrtErrorArgsInvalid);
}

TEST(OlderRuntime, QueuesAndNotifiers) {
  cnrtQueue_t queue = nullptr;
  ASSERT_EQ(cnrtCreateQueue(&queue), cnrtSuccess);
  cnrtNotifier_t start = nullptr, end = nullptr;
  ASSERT_EQ(cnrtCreateNotifier(&start), cnrtSuccess);
  ASSERT_EQ(cnrtCreateNotifier(&end), cnrtSuccess);
  ASSERT_EQ(cnrtPlaceNotifier(start, queue), cnrtSuccess);
  ASSERT_EQ(cnrtPlaceNotifier(end, queue), cnrtSuccess);
  EXPECT_EQ(cnrtSyncQueue(queue), cnrtSuccess);
  EXPECT_EQ(cnrtQueryQueue(queue), cnrtSuccess);
  float us = -1;
  EXPECT_EQ(cnrtNotifierDuration(start, end, &us), cnrtSuccess);
  EXPECT_EQ(us, 0) << "nothing ran between them";
  EXPECT_EQ(cnrtDestroyNotifier(&start), cnrtSuccess);
  EXPECT_EQ(cnrtDestroyNotifier(&end), cnrtSuccess);
  EXPECT_EQ(cnrtDestroyNotifier(nullptr), cnrtErrorArgsInvalid);
  EXPECT_EQ(cnrtDestroyQueue(queue), cnrtSuccess);
}

TEST(OlderRuntime, HalfOfOneNumber) {
  std::uint16_t bits = 0;
  ASSERT_EQ(cnrtConvertFloatToHalf(&bits, -2.5f), cnrtSuccess);
  EXPECT_EQ(bits, 0xc100);
  float back = 0;
  ASSERT_EQ(cnrtConvertHalfToFloat(&back, bits), cnrtSuccess);
  EXPECT_EQ(back, -2.5f);
  EXPECT_EQ(cnrtConvertFloatToHalf(nullptr, 1), cnrtErrorArgsInvalid);
}

}  // namespace
