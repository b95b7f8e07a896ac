// libcndev: one healthy device, used by this process alone.
#include "backends/mlu_emu/neuware/include/cndev.h"

#include <unistd.h>

#include "backends/mlu_emu/neuware/runtime/machine.h"
#include "backends/mlu_emu/neuware/runtime/memory.h"

extern "C" {

cndevRet_t cndevInit(int) {
  return CNDEV_SUCCESS;
}
cndevRet_t cndevRelease(void) {
  return CNDEV_SUCCESS;
}
const char* cndevGetErrorString(cndevRet_t error) {
  return error == CNDEV_SUCCESS ? "success" : "invalid argument";
}
cndevRet_t cndevGetDeviceHandleByIndex(int index, cndevDevice_t* device) {
  if (device == nullptr || index != 0) return CNDEV_ERROR_INVALID_ARGUMENT;
  *device = 0;
  return CNDEV_SUCCESS;
}
cndevRet_t cndevGetProcessInfo(unsigned* count, cndevProcessInfo_t* info, cndevDevice_t device) {
  constexpr std::size_t kKiB = 1024;
  if (count == nullptr || device != 0) return CNDEV_ERROR_INVALID_ARGUMENT;
  if (info != nullptr && *count > 0) {
    info->pid = static_cast<unsigned>(getpid());
    info->physicalMemoryUsed = neuware::Blocks::instance().allocated() / kKiB;
  }
  *count = 1;
  return CNDEV_SUCCESS;
}
cndevRet_t cndevGetDDRInfo(cndevDDRInfo_t* info, cndevDevice_t device) {
  constexpr int kBits = 1024, kDecimals = 10;
  if (info == nullptr || device != 0) return CNDEV_ERROR_INVALID_ARGUMENT;
  const double rate = neuware::Machine::instance().settings().rates.gdram_gbps;
  info->dataWidth = kBits;
  info->bandWidth = static_cast<int>(rate);
  info->bandWidthDecimal = static_cast<int>(rate * kDecimals) % kDecimals;
  return CNDEV_SUCCESS;
}
cndevRet_t cndevGetFrequencyInfo(cndevFrequencyInfo_t* info, cndevDevice_t device) {
  constexpr double kMegaPerGiga = 1e3;
  if (info == nullptr || device != 0) return CNDEV_ERROR_INVALID_ARGUMENT;
  info->boardFreq = static_cast<int>(neuware::Machine::instance().settings().rates.clock_ghz * kMegaPerGiga);
  return CNDEV_SUCCESS;
}
cndevRet_t cndevGetDeviceMaxPerformance(cndevDeviceMaxPerformance_t* info, cndevDevice_t device) {
  constexpr double kOperations = 2;
  if (info == nullptr || device != 0) return CNDEV_ERROR_INVALID_ARGUMENT;
  const auto& rates = neuware::Machine::instance().settings().rates;
  const auto multiply_adds = [&](double times) { return static_cast<uint64_t>(rates.tensor_macs_cycle * times); };
  const auto operations = [&](int bytes) {
    return static_cast<uint64_t>(rates.vector_bytes_cycle * kOperations / bytes);
  };
  info->int8Tensor = multiply_adds(2);
  info->int16Tensor = info->fp16Tensor = info->bf16Tensor = multiply_adds(1);
  info->fp32Tensor = multiply_adds(0.25);
  info->int8Vector = operations(1);
  info->fp16Vector = info->bf16Vector = info->int16Vector = operations(2);
  info->fp32Vector = operations(4);
  return CNDEV_SUCCESS;
}
}
