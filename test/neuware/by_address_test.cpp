// Launches of kernels by their address: arguments in memory, by pointers or in the buffers of older programs.
#include <cmath>
#include <cstdint>
#include <string>

#include "test/neuware/device_memory.h"

struct Pair {
  int first;
  float second;
};
void ScaleByAddress(float* out, const float* in, float factor, int count);
void store_by_address(float* out, int);
void store_by_address(float* out, Pair pair, unsigned int);
namespace by_address {
void nothing();
}
extern "C" void OlderAddHalf(std::uint16_t* out, std::uint16_t* a, std::uint16_t b);

namespace neuware_test {
namespace {

class ByAddress : public WithQueue {
 protected:
  void expect_refused(cnrtRet_t got, const std::string& text) {
    EXPECT_EQ(got, cnrtErrorLaunchInvalid);
    EXPECT_EQ(cnrtGetLastError(), cnrtErrorLaunchInvalid);
    EXPECT_NE(std::string(cnrtExtGetLastFault()).find(text), std::string::npos) << cnrtExtGetLastFault();
    EXPECT_EQ(cnrtQueueSync(queue), cnrtSuccess) << "the queue is as before";
  }
  template <class T>
  void add(T value) {
    ASSERT_EQ(cnrtKernelParamsBufferAddParam(params, &value, sizeof(value)), cnrtSuccess);
  }

  const void* scale = reinterpret_cast<const void*>(&ScaleByAddress);
  const void* half_of_older = reinterpret_cast<const void*>(&OlderAddHalf);
  const cnrtDim3_t four{4, 1, 1}, one{1, 1, 1};
  cnrtKernelParamsBuffer_t params = nullptr;
};

TEST_F(ByAddress, ArgumentsAreCopiedAtTheCall) {
  OnDevice<float> in{std::vector<float>{1, 2, 3, 4, 5}}, out{5, -1.0f};
  float *to = out.data(), *from = in.data(), factor = 0.5f;
  int count = 5;
  void* arguments[] = {&to, &from, &factor, &count};
  ASSERT_EQ(cnrtInvokeKernel(scale, four, cnrtFuncTypeBlock, arguments, 0, queue), cnrtSuccess);
  expect_success();
  EXPECT_EQ(out.values(), (std::vector<float>{0.5f, 1, 1.5f, 2, 2.5f}));
}

TEST_F(ByAddress, OneOfTwoOfAName) {
  OnDevice<float> out{1, -1.0f};
  float* to = out.data();
  int number = 7;
  unsigned int rest = 8;
  Pair pair{2, 0.5f};
  void *first[] = {&to, &number}, *second[] = {&to, &pair, &rest};
  const auto with_pair = static_cast<void (*)(float*, Pair, unsigned int)>(&store_by_address);
  ASSERT_EQ(cnrtInvokeKernel(reinterpret_cast<const void*>(with_pair), one, cnrtFuncTypeBlock, second, 0, queue),
            cnrtSuccess);
  EXPECT_EQ(out.values()[0], 2.5f);
  const auto plain = static_cast<void (*)(float*, int)>(&store_by_address);
  ASSERT_EQ(cnrtInvokeKernel(reinterpret_cast<const void*>(plain), one, cnrtFuncTypeBlock, first, 0, queue),
            cnrtSuccess);
  EXPECT_EQ(out.values()[0], 1);
  EXPECT_EQ(
      cnrtInvokeKernel(reinterpret_cast<const void*>(&by_address::nothing), one, cnrtFuncTypeBlock, nullptr, 0, queue),
      cnrtSuccess)
      << "no parameters, no arguments";
  expect_success();
}

TEST_F(ByAddress, BuffersOfOlderPrograms) {
  OnDevice<std::uint16_t> in{64, std::uint16_t{0x3c00}}, out{64};
  ASSERT_EQ(cnrtGetKernelParamsBuffer(&params), cnrtSuccess);
  add(out.data());
  add(in.data());
  add(std::uint16_t{0x4000});
  ASSERT_EQ(cnrtInvokeKernel_V2(half_of_older, one, params, cnrtFuncTypeBlock, queue), cnrtSuccess);
  expect_success();
  EXPECT_EQ(out.values(), std::vector<std::uint16_t>(64, 0x4200)) << "1 + 2 in half";
  cnrtKernelInitParam_t init = -1;
  ASSERT_EQ(cnrtCreateKernelInitParam(&init), cnrtSuccess);
  ASSERT_EQ(cnrtInitKernelMemory(half_of_older, init), cnrtSuccess);
  ASSERT_EQ(cnrtInvokeKernel_V3(half_of_older, init, one, params, cnrtFuncTypeBlock, queue, nullptr), cnrtSuccess);
  expect_success();
  EXPECT_EQ(cnrtDestroyKernelInitParamAndMemory(init), cnrtSuccess);
  EXPECT_EQ(cnrtDestroyKernelParamsBuffer(params), cnrtSuccess);
}

TEST_F(ByAddress, WhatCannotBeCalledIsRefused) {
  void* arguments[] = {nullptr};
  int local = 0;
  expect_refused(cnrtInvokeKernel(nullptr, one, cnrtFuncTypeBlock, arguments, 0, queue), "is a null pointer");
  expect_refused(cnrtInvokeKernel(&local, one, cnrtFuncTypeBlock, arguments, 0, queue), "no kernel that cncc compiled");
  expect_refused(cnrtInvokeKernel(scale, one, cnrtFuncTypeBlock, nullptr, 0, queue),
                 "ScaleByAddress: argument 0 is a null pointer");
  expect_refused(cnrtInvokeKernel_V2(scale, one, nullptr, cnrtFuncTypeBlock, queue), "buffer of parameters is invalid");
  ASSERT_EQ(cnrtGetKernelParamsBuffer(&params), cnrtSuccess);
  add(&local);
  expect_refused(cnrtInvokeKernel_V2(scale, one, params, cnrtFuncTypeBlock, queue), "takes 4 parameters, 1 were added");
  add(&local);
  add(1.0);
  add(1);
  expect_refused(cnrtInvokeKernel_V2(scale, one, params, cnrtFuncTypeBlock, queue),
                 "parameter 2 has 4 bytes, 8 were added");
  EXPECT_EQ(cnrtDestroyKernelParamsBuffer(params), cnrtSuccess);
}

TEST_F(ByAddress, BuffersThatAreNotThere) {
  EXPECT_EQ(cnrtGetKernelParamsBuffer(nullptr), cnrtErrorArgsInvalid);
  EXPECT_EQ(cnrtDestroyKernelParamsBuffer(nullptr), cnrtErrorArgsInvalid);
  EXPECT_EQ(cnrtKernelParamsBufferAddParam(nullptr, &queue, 1), cnrtErrorArgsInvalid);
  ASSERT_EQ(cnrtGetKernelParamsBuffer(&params), cnrtSuccess);
  EXPECT_EQ(cnrtKernelParamsBufferAddParam(params, nullptr, 1), cnrtErrorArgsInvalid);
  EXPECT_EQ(cnrtDestroyKernelParamsBuffer(params), cnrtSuccess);
  EXPECT_EQ(cnrtDestroyKernelParamsBuffer(params), cnrtErrorArgsInvalid);
  cnrtGetLastError();
}

TEST_F(ByAddress, NamesOfTheLibraryOfCStayItsOwn) {
  volatile double zero = 0;
  EXPECT_EQ(std::exp(zero), 1);
}

}  // namespace
}  // namespace neuware_test
