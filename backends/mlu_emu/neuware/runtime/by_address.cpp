// Launches of kernels by their address, with arguments in memory: of the runtime of today and of that before version 5.
#include <cstring>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "backends/mlu_emu/neuware/include/neuware_by_address.h"
#include "backends/mlu_emu/neuware/runtime/by_address.h"
#include "backends/mlu_emu/neuware/runtime/errors.h"
#include "backends/mlu_emu/neuware/runtime/handles.h"

struct cnrtKernelParamsBuffer {
  std::vector<std::vector<char>> values;
};

namespace neuware {
namespace {

struct Known {
  std::mutex mutex;
  std::map<const void*, KernelByAddress> kernels;
};
Known& known() {
  static Known& instance = *new Known;  // static destructors may still launch
  return instance;
}

cnrtRet_t refuse(const std::string& text) {
  return keep_fault(cnrtErrorLaunchInvalid, "cnrtInvokeKernel: " + text);
}

/// False, with the error kept, for what no kernel is.
bool find(const void* address, KernelByAddress& kernel) {
  Known& k = known();
  const std::lock_guard<std::mutex> lock(k.mutex);
  const auto found = k.kernels.find(address);
  if (found == k.kernels.end()) {
    refuse(address == nullptr ? "the kernel is a null pointer" : "the address is that of no kernel that cncc compiled");
    return false;
  }
  kernel = found->second;
  return true;
}

cnrtRet_t launch_known(const KernelByAddress& kernel, cnrtDim3_t dim, cnrtFunctionType_t type, void* const* arguments,
                       cnrtQueue_t queue) {
  for (std::size_t i = 0; i < kernel.sizes.size(); ++i) {
    if (arguments == nullptr || arguments[i] == nullptr) {
      return refuse(std::string(kernel.name) + ": argument " + std::to_string(i) + " is a null pointer");
    }
  }
  launch_tasks(*kernel.unit, kernel.name, dim, type, queue, kernel.call(arguments));
  return cnrtSuccess;
}

using Buffers = Handles<cnrtKernelParamsBuffer>;

}  // namespace

void know_kernel(const void* address, const KernelByAddress& kernel) {
  Known& k = known();
  const std::lock_guard<std::mutex> lock(k.mutex);
  k.kernels.insert_or_assign(address, kernel);
}

void forget_kernels(const Unit& unit) {
  Known& k = known();
  const std::lock_guard<std::mutex> lock(k.mutex);
  for (auto i = k.kernels.begin(); i != k.kernels.end();) i = i->second.unit == &unit ? k.kernels.erase(i) : next(i);
}

}  // namespace neuware

using neuware::Buffers;

extern "C" {

cnrtRet_t cnrtInvokeKernel(const void* kernel, cnrtDim3_t dim, cnrtFunctionType_t type, void** arguments,
                           size_t reserved, cnrtQueue_t queue) {
  (void)reserved;
  neuware::KernelByAddress known;
  return neuware::find(kernel, known) ? neuware::launch_known(known, dim, type, arguments, queue)
                                      : cnrtErrorLaunchInvalid;
}

cnrtRet_t cnrtGetKernelParamsBuffer(cnrtKernelParamsBuffer_t* params) {
  if (params == nullptr) return neuware::keep(cnrtErrorArgsInvalid);
  cnrtKernelParamsBuffer* buffer = Buffers::instance().create();
  if (buffer == nullptr) return neuware::keep(cnrtErrorNoMem);
  *params = buffer;
  return cnrtSuccess;
}

cnrtRet_t cnrtKernelParamsBufferAddParam(cnrtKernelParamsBuffer_t params, const void* data, size_t bytes) {
  if (data == nullptr || !Buffers::instance().lives(params)) return neuware::keep(cnrtErrorArgsInvalid);
  const char* begin = static_cast<const char*>(data);
  params->values.emplace_back(begin, begin + bytes);
  return cnrtSuccess;
}

cnrtRet_t cnrtDestroyKernelParamsBuffer(cnrtKernelParamsBuffer_t params) {
  return Buffers::instance().destroy(params) ? cnrtSuccess : neuware::keep(cnrtErrorArgsInvalid);
}

cnrtRet_t cnrtInvokeKernel_V2(const void* kernel, cnrtDim3_t dim, cnrtKernelParamsBuffer_t params,
                              cnrtFunctionType_t type, cnrtQueue_t queue) {
  neuware::KernelByAddress known;
  if (!neuware::find(kernel, known)) return cnrtErrorLaunchInvalid;
  const std::string name = known.name;
  if (!Buffers::instance().lives(params)) return neuware::refuse(name + ": the buffer of parameters is invalid");
  if (params->values.size() != known.sizes.size()) {
    return neuware::refuse(name + ": takes " + std::to_string(known.sizes.size()) + " parameters, " +
                           std::to_string(params->values.size()) + " were added");
  }
  std::vector<void*> arguments;
  for (std::size_t i = 0; i < known.sizes.size(); ++i) {
    if (params->values[i].size() != known.sizes[i]) {
      return neuware::refuse(name + ": parameter " + std::to_string(i) + " has " + std::to_string(known.sizes[i]) +
                             " bytes, " + std::to_string(params->values[i].size()) + " were added");
    }
    arguments.push_back(params->values[i].data());
  }
  return neuware::launch_known(known, dim, type, arguments.data(), queue);
}

}  // extern "C"
