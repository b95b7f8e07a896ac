// libcndrv: what the driver tells about the one device and its context.
#include <bit>
#include <cctype>
#include <cstdio>
#include <mutex>
#include <string>

#include "backends/mlu_emu/neuware/include/cn_api.h"
#include "backends/mlu_emu/neuware/include/cnrt.h"
#include "backends/mlu_emu/neuware/runtime/machine.h"

/// Flags that programs may pass for the context.
struct CNcontext_st {
  std::mutex mutex;
  unsigned int visible_clusters;
  KernelClass union_limit;

  static CNcontext_st& instance() {
    static CNcontext_st context(neuware::Machine::instance().arch().clusters);
    return context;
  }

 private:
  /// The largest class the machine holds.
  explicit CNcontext_st(int clusters)
      : visible_clusters(static_cast<unsigned>(clusters)),
        union_limit(static_cast<KernelClass>(CN_KERNEL_CLASS_UNION * std::bit_floor(static_cast<unsigned>(clusters)))) {
  }
};

namespace {

constexpr int kTaskLimit = 65535;

bool is_ours(CNcontext context) {
  return context == nullptr || context == &CNcontext_st::instance();
}

CNresult context_to(CNcontext* context) {
  if (context == nullptr) return CN_ERROR_INVALID_VALUE;
  *context = &CNcontext_st::instance();
  return CN_SUCCESS;
}

CNresult version_to(int* major, int* minor, int* patch) {
  if (major == nullptr || minor == nullptr || patch == nullptr) return CN_ERROR_INVALID_VALUE;
  *major = 2, *minor = 15, *patch = 0;
  return CN_SUCCESS;
}

/// The memory's clock in kHz: two transfers a cycle over a bus of 1024 bits give the modelled bandwidth.
constexpr int kBusBits = 1024;
int memory_clock_khz() {
  constexpr double kBytesPerCycle = 2.0 * kBusBits / 8, kGiga = 1e9, kKilo = 1e3;
  return static_cast<int>(neuware::Machine::instance().settings().rates.gdram_gbps * kGiga / kBytesPerCycle / kKilo);
}

int value_of(CNdevice_attribute attribute, bool* known) {
  const mluops::emu::Arch& arch = neuware::Machine::instance().arch();
  constexpr double kKiloPerGiga = 1e6;
  switch (attribute) {
    case CN_DEVICE_ATTRIBUTE_MAX_CLUSTER_COUNT:
      return arch.clusters;
    case CN_DEVICE_ATTRIBUTE_MAX_CORE_COUNT_PER_CLUSTER:
      return arch.cores_per_cluster;
    case CN_DEVICE_ATTRIBUTE_NRAM_SIZE_PER_CORE:
      return static_cast<int>(arch.nram_bytes);
    case CN_DEVICE_ATTRIBUTE_WEIGHT_RAM_SIZE_PER_CORE:
      return static_cast<int>(arch.wram_bytes);
    case CN_DEVICE_ATTRIBUTE_MAX_SHARED_RAM_SIZE_PER_CLUSTER:
      return static_cast<int>(arch.sram_bytes);
    case CN_DEVICE_ATTRIBUTE_MLU_ISA_VERSION:
      return arch.number;
    case CN_DEVICE_ATTRIBUTE_CLUSTER_CLOCK_RATE:
      return static_cast<int>(neuware::Machine::instance().settings().rates.clock_ghz * kKiloPerGiga);
    case CN_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE:
      return memory_clock_khz();
    case CN_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH:
      return kBusBits;
    case CN_DEVICE_ATTRIBUTE_MAX_BLOCK_TASK_DIM_X:
    case CN_DEVICE_ATTRIBUTE_MAX_BLOCK_TASK_DIM_Y:
    case CN_DEVICE_ATTRIBUTE_MAX_BLOCK_TASK_DIM_Z:
      return kTaskLimit;
    case CN_DEVICE_ATTRIBUTE_MAX_L2_CACHE_SIZE:
    case CN_DEVICE_ATTRIBUTE_MAX_PERSISTING_L2_CACHE_SIZE:
    case CN_DEVICE_ATTRIBUTE_LINEAR_MAPPING_SUPPORTED:
    case CN_DEVICE_ATTRIBUTE_LINEAR_RECOMMEND_GRANULARITY:
      return 0;
  }
  *known = false;
  return 0;
}

}  // namespace

extern "C" {

CNresult cnGetErrorName(CNresult error, const char** name) {
  if (name == nullptr) return CN_ERROR_INVALID_VALUE;
  *name = error == CN_SUCCESS                      ? "CN_SUCCESS"
          : error == CN_OPS_ERROR_NOT_SUPPORTED    ? "CN_OPS_ERROR_NOT_SUPPORTED"
          : error == CN_ERROR_INVALID_VALUE        ? "CN_ERROR_INVALID_VALUE"
          : error == CN_MEMORY_ERROR_OUT_OF_MEMORY ? "CN_MEMORY_ERROR_OUT_OF_MEMORY"
                                                   : nullptr;
  return *name == nullptr ? CN_ERROR_INVALID_VALUE : CN_SUCCESS;
}
CNresult cnGetErrorString(CNresult error, const char** text) {
  return cnGetErrorName(error, text);
}
CNresult cnGetLibVersion(int* major, int* minor, int* patch) {
  return version_to(major, minor, patch);
}
CNresult cnGetDriverVersion(int* major, int* minor, int* patch) {
  return version_to(major, minor, patch);
}

CNresult cnCtxGetCurrent(CNcontext* context) {
  return context_to(context);
}
CNresult cnCtxGetDevice(CNdev* device) {
  if (device == nullptr) return CN_ERROR_INVALID_VALUE;
  *device = 0;
  return CN_SUCCESS;
}
CNresult cnSharedContextAcquire(CNcontext* context, CNdev device) {
  return device == 0 ? context_to(context) : CN_ERROR_INVALID_VALUE;
}
CNresult cnQueueGetContext(CNqueue, CNcontext* context) {
  return context_to(context);
}

CNresult cnGetCtxConfigParam(CNcontext context, CNctxConfigParamType type, CNctxConfigParam* param) {
  if (!is_ours(context) || param == nullptr) return CN_ERROR_INVALID_VALUE;
  CNcontext_st& c = CNcontext_st::instance();
  const std::lock_guard<std::mutex> lock(c.mutex);
  switch (type) {
    case CN_CTX_CONFIG_VISIBLE_CLUSTER_NUM:
      param->visibleClusterNumber = c.visible_clusters;
      return CN_SUCCESS;
    case CN_CTX_CONFIG_VISIBLE_CLUSTER:
      param->visibleCluster = (std::uint64_t{1} << c.visible_clusters) - 1;
      return CN_SUCCESS;
    case CN_CTX_CONFIG_UNION_LIMIT:
      param->unionLimit = c.union_limit;
      return CN_SUCCESS;
  }
  return CN_ERROR_INVALID_VALUE;
}

CNresult cnSetCtxConfigParam(CNcontext context, CNctxConfigParamType type, CNctxConfigParam* param) {
  if (!is_ours(context) || param == nullptr) return CN_ERROR_INVALID_VALUE;
  CNcontext_st& c = CNcontext_st::instance();
  const auto most = static_cast<unsigned>(neuware::Machine::instance().arch().clusters);
  const std::lock_guard<std::mutex> lock(c.mutex);
  if (type == CN_CTX_CONFIG_UNION_LIMIT) {
    c.union_limit = param->unionLimit;
    return CN_SUCCESS;
  }
  const unsigned clusters = type == CN_CTX_CONFIG_VISIBLE_CLUSTER
                                ? static_cast<unsigned>(std::popcount(param->visibleCluster))
                                : param->visibleClusterNumber;
  if (clusters == 0 || clusters > most) return CN_ERROR_INVALID_VALUE;
  c.visible_clusters = clusters;
  return CN_SUCCESS;
}

CNresult cnGetCtxMaxParallelUnionTasks(CNcontext context, KernelClass kernel_class, int* number) {
  if (!is_ours(context) || number == nullptr) return CN_ERROR_INVALID_VALUE;
  CNctxConfigParam param = {};
  cnGetCtxConfigParam(context, CN_CTX_CONFIG_VISIBLE_CLUSTER_NUM, &param);
  const auto clusters = static_cast<int>(param.visibleClusterNumber);
  const int cores = neuware::Machine::instance().arch().cores_per_cluster;
  switch (kernel_class) {
    case CN_KERNEL_CLASS_NONE:
      return *number = 0, CN_SUCCESS;
    case CN_KERNEL_CLASS_BLOCK:
      return *number = clusters * cores, CN_SUCCESS;
    case CN_KERNEL_CLASS_UNION:
    case CN_KERNEL_CLASS_UNION2:
    case CN_KERNEL_CLASS_UNION4:
    case CN_KERNEL_CLASS_UNION8:
    case CN_KERNEL_CLASS_UNION16:
      return *number = clusters / (static_cast<int>(kernel_class) / CN_KERNEL_CLASS_UNION), CN_SUCCESS;
  }
  return CN_ERROR_INVALID_VALUE;
}

CNresult cnDeviceGetAttribute(int* value, CNdevice_attribute attribute, CNdev device) {
  if (value == nullptr || device != 0) return CN_ERROR_INVALID_VALUE;
  bool known = true;
  const int found = value_of(attribute, &known);
  if (!known) return CN_OPS_ERROR_NOT_SUPPORTED;
  *value = found;
  return CN_SUCCESS;
}

CNresult cnDeviceGetName(char* name, int length, CNdev device) {
  if (name == nullptr || length <= 0 || device != 0) return CN_ERROR_INVALID_VALUE;
  std::string card = neuware::Machine::instance().arch().card;
  for (char& c : card) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  std::snprintf(name, static_cast<std::size_t>(length), "%s (emulated)", card.c_str());
  return CN_SUCCESS;
}

CNresult cnMallocConstant(CNaddr* address, size_t bytes) {
  if (address == nullptr) return CN_ERROR_INVALID_VALUE;
  void* memory = nullptr;
  const cnrtRet_t status = cnrtMallocConstant(&memory, bytes);
  *address = reinterpret_cast<CNaddr>(memory);
  return status == cnrtSuccess      ? CN_SUCCESS
         : status == cnrtErrorNoMem ? CN_MEMORY_ERROR_OUT_OF_MEMORY
                                    : CN_ERROR_INVALID_VALUE;
}
CNresult cnFree(CNaddr address) {
  return cnrtFree(reinterpret_cast<void*>(address)) == cnrtSuccess ? CN_SUCCESS : CN_ERROR_INVALID_VALUE;
}
CNresult cnGetMemAttribute(void* value, CNmem_attribute attribute, CNaddr) {
  if (value == nullptr || attribute != CN_MEM_ATTRIBUTE_ISLINEAR) return CN_ERROR_INVALID_VALUE;
  *static_cast<int*>(value) = 0;
  return CN_SUCCESS;
}
}
