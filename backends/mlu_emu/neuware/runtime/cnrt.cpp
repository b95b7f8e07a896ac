// The runtime's C functions but for errors.
#include "backends/mlu_emu/neuware/include/cnrt.h"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <utility>

#include "backends/mlu_emu/neuware/runtime/errors.h"
#include "backends/mlu_emu/neuware/runtime/findings.h"
#include "backends/mlu_emu/neuware/runtime/handles.h"
#include "backends/mlu_emu/neuware/runtime/machine.h"
#include "backends/mlu_emu/neuware/runtime/memory.h"
#include "backends/mlu_emu/neuware/runtime/queue.h"
#include "backends/mlu_emu/neuware/runtime/report_page.h"

using neuware::Blocks;
using neuware::keep;

namespace neuware {

cnrtQueue* queue_of(cnrtQueue_t queue) {
  static cnrtQueue standard;
  if (queue == nullptr) return &standard;
  return Handles<cnrtQueue>::instance().lives(queue) ? queue : nullptr;
}

namespace {

enum class Where { kHost, kDevice, kAnywhere };

/// The reason why one side of a copy is refused; "" if it is not.
std::string problem_of_side(const char* role, const void* pointer, std::size_t bytes, Where where) {
  const std::string block = Blocks::instance().at(pointer);
  const std::string here = std::string(role) + ", " + std::to_string(bytes) + " bytes: ";
  if (where == Where::kHost) return block.empty() ? "" : here + "wanted memory of the host, got " + block;
  if (Blocks::instance().contains(pointer, bytes) || (where == Where::kAnywhere && block.empty())) return "";
  return here +
         (block.empty() ? "wanted memory of the device, got an address in no block of it" : "outside of " + block);
}

/// Whether there is such a direction and each side of a copy lies where that says.
std::string problem_of_copy(const void* dst, const void* src, std::size_t bytes, cnrtMemTransDir_t direction) {
  if (direction < cnrtMemcpyHostToDev || direction > cnrtMemcpyNoDirection) {
    return "unknown direction " + std::to_string(static_cast<int>(direction));
  }
  const bool any = direction == cnrtMemcpyPeerToPeer || direction == cnrtMemcpyNoDirection;
  const bool to = direction == cnrtMemcpyHostToDev || direction == cnrtMemcpyDevToDev;
  const bool from = direction == cnrtMemcpyDevToHost || direction == cnrtMemcpyDevToDev;
  const auto wanted = [&](bool device) { return any ? Where::kAnywhere : device ? Where::kDevice : Where::kHost; };
  const std::string problem = problem_of_side("destination", dst, bytes, wanted(to));
  return problem.empty() ? problem_of_side("source", src, bytes, wanted(from)) : problem;
}

/// The call does nothing, and says why.
cnrtRet_t refuse(const char* call, const std::string& problem) {
  const std::string text = std::string(call) + ": " + problem;
  Findings::instance().add({mluops::emu::Severity::kFault, "", call, text, {}, {}});
  return keep_fault(cnrtErrorArgsInvalid, text);
}

/// Checks that the device memory that the host reads was written before.
void warn_never_written(const void* dst, const void* src, std::size_t bytes) {
  if (!Blocks::instance().at(dst).empty()) return;
  const std::string place = Blocks::instance().never_written(src, bytes);
  if (place.empty()) return;
  const std::string text = "cnrtMemcpy: source, " + std::to_string(bytes) + " bytes to the host: " + place +
                           " was never written since cnrtMalloc";
  Findings::instance().add({mluops::emu::Severity::kWarning, "", "cnrtMemcpy", text, {}, {}});
  keep_warning(text);
}

std::size_t host_memory() {
  return static_cast<std::size_t>(sysconf(_SC_PHYS_PAGES)) * static_cast<std::size_t>(sysconf(_SC_PAGE_SIZE));
}

template <class T>
cnrtRet_t create(T** handle) {
  if (handle == nullptr) return keep(cnrtErrorArgsInvalid);
  *handle = Handles<T>::instance().create();
  return keep(*handle == nullptr ? cnrtErrorNoMem : cnrtSuccess);
}

template <class T>
cnrtRet_t destroy(T* handle) {
  return keep(Handles<T>::instance().destroy(handle) ? cnrtSuccess : cnrtErrorArgsInvalid);
}

/// The queue's time goes on while the runtime fills or copies device memory by itself.
void spend(cnrtQueue& queue, const char* call, std::size_t moved, double gbps) {
  const auto bytes = static_cast<std::int64_t>(moved);
  mluops::emu::LaunchReport report;
  report.spec.kernel = call;
  report.traffic.push_back({"device memory", bytes, 0, bytes, mluops::emu::Access::kWrite});
  report.time = static_cast<double>(bytes) / gbps;
  constexpr double kMicrosecond = 1e3;
  queue.time_ns += report.time + Machine::instance().settings().rates.launch_us * kMicrosecond;
  if (ReportPage::instance().wanted()) ReportPage::instance().add("the runtime", std::move(report), {}, "");
}

bool lives(cnrtNotifier_t notifier) {
  return Handles<cnrtNotifier>::instance().lives(notifier);
}

}  // namespace
}  // namespace neuware

extern "C" {

cnrtRet_t cnrtGetLibVersion(int* major, int* minor, int* patch) {
  if (major == nullptr || minor == nullptr || patch == nullptr) return keep(cnrtErrorArgsInvalid);
  *major = 6, *minor = 15, *patch = 0;
  return cnrtSuccess;
}

// ---- the device ----

cnrtRet_t cnrtGetDeviceCount(unsigned int* count) {
  if (count == nullptr) return keep(cnrtErrorArgsInvalid);
  *count = static_cast<unsigned>(neuware::cards());
  return cnrtSuccess;
}
cnrtRet_t cnrtGetDevice(int* ordinal) {
  if (ordinal == nullptr) return keep(cnrtErrorArgsInvalid);
  *ordinal = neuware::current_card();
  return cnrtSuccess;
}
cnrtRet_t cnrtSetDevice(int ordinal) {
  if (ordinal >= 0 && ordinal < neuware::cards()) return neuware::current_card() = ordinal, cnrtSuccess;
  return neuware::keep_fault(cnrtErrorNoDevice, "cnrtSetDevice: card " + std::to_string(ordinal) + ": there are " +
                                                    std::to_string(neuware::cards()) +
                                                    ", from 0 on; MLUOP_EMU_CARDS says how many");
}
cnrtRet_t cnrtSyncDevice(void) {
  return cnrtQueueSync(nullptr);
}
cnrtRet_t cnrtDeviceReset(void) {
  *neuware::queue_of(nullptr) = cnrtQueue();
  return cnrtSuccess;
}

cnrtRet_t cnrtDeviceGetAttribute(int* value, cnrtDeviceAttr_t attribute, int ordinal) {
  if (value == nullptr || ordinal < 0 || ordinal >= neuware::cards()) return keep(cnrtErrorArgsInvalid);
  const mluops::emu::Arch& arch = neuware::Machine::instance().arch();
  switch (attribute) {
    case cnrtAttrClusterCount:
      return *value = arch.clusters, cnrtSuccess;
    case cnrtAttrMcorePerCluster:
      return *value = arch.cores_per_cluster, cnrtSuccess;
    case cnrtAttrNramSizePerMcore:
      return *value = static_cast<int>(arch.nram_bytes), cnrtSuccess;
    case cnrtAttrWramSizePerMcore:
      return *value = static_cast<int>(arch.wram_bytes), cnrtSuccess;
    case cnrtAttrMaxSramSizePerCluster:
      return *value = static_cast<int>(arch.sram_bytes), cnrtSuccess;
    case cnrtAttrISAVersion:
      return *value = arch.number, cnrtSuccess;
  }
  return keep(cnrtErrorArgsInvalid);
}

cnrtRet_t cnrtDeviceGetPCIBusId(char* id, int length, int ordinal) {
  if (id == nullptr || length <= 0 || ordinal < 0 || ordinal >= neuware::cards()) return keep(cnrtErrorArgsInvalid);
  std::snprintf(id, static_cast<std::size_t>(length), "0000:%02x:00.0", static_cast<unsigned>(ordinal));
  return cnrtSuccess;
}

// ---- queues ----

cnrtRet_t cnrtQueueCreate(cnrtQueue_t* queue) {
  return neuware::create(queue);
}
cnrtRet_t cnrtQueueDestroy(cnrtQueue_t queue) {
  return neuware::destroy(queue);
}
cnrtRet_t cnrtQueueSync(cnrtQueue_t queue) {
  const cnrtQueue* of = neuware::queue_of(queue);
  return keep(of == nullptr ? cnrtErrorArgsInvalid : of->error);
}
cnrtRet_t cnrtQueueQuery(cnrtQueue_t queue) {
  return cnrtQueueSync(queue);
}
const char* cnrtExtTakeFault(cnrtQueue_t queue) {
  thread_local std::string taken;
  taken.clear();
  if (cnrtQueue* of = neuware::queue_of(queue); of != nullptr) {
    taken.swap(of->fault);
    of->error = cnrtSuccess;
  }
  return taken.c_str();
}

// ---- memory ----

cnrtRet_t cnrtMalloc(void** pointer, size_t bytes) {
  if (pointer == nullptr) return keep(cnrtErrorArgsInvalid);
  *pointer = Blocks::instance().allocate(bytes);
  return keep(*pointer == nullptr ? cnrtErrorNoMem : cnrtSuccess);
}
cnrtRet_t cnrtMallocConstant(void** pointer, size_t bytes) {
  return cnrtMalloc(pointer, bytes);
}
cnrtRet_t cnrtFree(void* pointer) {
  if (pointer == nullptr || Blocks::instance().release(pointer)) return cnrtSuccess;
  const std::string block = Blocks::instance().at(pointer);
  return neuware::refuse("cnrtFree", block.empty() ? "wanted a block of device memory, got an address in none"
                                                   : "not the beginning of a block to free: " + block);
}

cnrtRet_t cnrtHostMalloc(void** pointer, size_t bytes) {
  if (pointer == nullptr || bytes == 0) return keep(cnrtErrorArgsInvalid);
  *pointer = std::malloc(bytes);
  return keep(*pointer == nullptr ? cnrtErrorNoMem : cnrtSuccess);
}
cnrtRet_t cnrtFreeHost(void* pointer) {
  std::free(pointer);
  return cnrtSuccess;
}

cnrtRet_t cnrtMemGetInfo(size_t* free_bytes, size_t* total_bytes) {
  const std::size_t total = neuware::host_memory(), used = Blocks::instance().allocated();
  if (free_bytes != nullptr) *free_bytes = total > used ? total - used : 0;
  if (total_bytes != nullptr) *total_bytes = total;
  return cnrtSuccess;
}

cnrtRet_t cnrtPointerGetAttributes(cnrtPointerAttributes_t* attributes, const void* pointer) {
  if (attributes == nullptr) return keep(cnrtErrorArgsInvalid);
  const bool device = Blocks::instance().contains(pointer, 1);
  *attributes = {device ? cnrtMemTypeDevice : cnrtMemTypeUnregistered, 0, const_cast<void*>(device ? pointer : nullptr),
                 const_cast<void*>(device ? nullptr : pointer)};
  return cnrtSuccess;
}

cnrtRet_t cnrtMemcpy(void* dst, void* src, size_t bytes, cnrtMemTransDir_t direction) {
  if (bytes == 0) return cnrtSuccess;
  if (dst == nullptr || src == nullptr) return keep(cnrtErrorArgsInvalid);
  const std::string problem = neuware::problem_of_copy(dst, src, bytes, direction);
  if (!problem.empty()) return neuware::refuse("cnrtMemcpy", problem);
  neuware::warn_never_written(dst, src, bytes);
  std::memmove(dst, src, bytes);
  if (direction == cnrtMemcpyHostToDev) Blocks::instance().overwritten(dst, bytes);
  return cnrtSuccess;
}
cnrtRet_t cnrtMemcpyAsync(void* dst, void* src, size_t bytes, cnrtQueue_t queue, cnrtMemTransDir_t direction) {
  cnrtQueue* on = neuware::queue_of(queue);
  if (on == nullptr) return keep(cnrtErrorArgsInvalid);
  const cnrtRet_t ret = cnrtMemcpy(dst, src, bytes, direction);
  const double read_and_write = neuware::Machine::instance().settings().rates.gdram_gbps / 2;
  if (ret == cnrtSuccess && bytes != 0 && direction == cnrtMemcpyDevToDev) {
    neuware::spend(*on, "cnrtMemcpy", bytes, read_and_write);
  }
  return ret;
}

cnrtRet_t cnrtMemset(void* pointer, int value, size_t bytes) {
  return cnrtMemsetAsync(pointer, value, bytes, nullptr);
}
cnrtRet_t cnrtMemsetAsync(void* pointer, int value, size_t bytes, cnrtQueue_t queue) {
  cnrtQueue* on = neuware::queue_of(queue);
  if (on == nullptr) return keep(cnrtErrorArgsInvalid);
  if (bytes == 0) return cnrtSuccess;
  const std::string problem = neuware::problem_of_side("destination", pointer, bytes, neuware::Where::kDevice);
  if (!problem.empty()) return neuware::refuse("cnrtMemset", problem);
  std::memset(pointer, value, bytes);
  Blocks::instance().overwritten(pointer, bytes);
  neuware::spend(*on, "cnrtMemset", bytes, neuware::Machine::instance().settings().rates.memset_gbps);
  return cnrtSuccess;
}

// ---- notifiers: times of the emulated machine ----

cnrtRet_t cnrtNotifierCreate(cnrtNotifier_t* notifier) {
  return neuware::create(notifier);
}
cnrtRet_t cnrtNotifierDestroy(cnrtNotifier_t notifier) {
  return neuware::destroy(notifier);
}
cnrtRet_t cnrtPlaceNotifier(cnrtNotifier_t notifier, cnrtQueue_t queue) {
  const cnrtQueue* of = neuware::queue_of(queue);
  if (of == nullptr || !neuware::lives(notifier)) return keep(cnrtErrorArgsInvalid);
  notifier->time_ns = of->time_ns;
  return cnrtSuccess;
}
cnrtRet_t cnrtWaitNotifier(cnrtNotifier_t notifier) {
  return keep(neuware::lives(notifier) ? cnrtSuccess : cnrtErrorArgsInvalid);
}
cnrtRet_t cnrtQueueWaitNotifier(cnrtNotifier_t notifier, cnrtQueue_t queue, unsigned int) {
  cnrtQueue* of = neuware::queue_of(queue);
  if (of == nullptr || !neuware::lives(notifier)) return keep(cnrtErrorArgsInvalid);
  of->time_ns = std::max(of->time_ns, notifier->time_ns);
  return cnrtSuccess;
}
cnrtRet_t cnrtNotifierDuration(cnrtNotifier_t start, cnrtNotifier_t end, float* us) {
  if (!neuware::lives(start) || !neuware::lives(end) || us == nullptr) return keep(cnrtErrorArgsInvalid);
  *us = static_cast<float>((end->time_ns - start->time_ns) * 1e-3);
  return cnrtSuccess;
}
cnrtRet_t cnrtNotifierElapsedTime(cnrtNotifier_t start, cnrtNotifier_t end, float* ms) {
  const cnrtRet_t ret = cnrtNotifierDuration(start, end, ms);
  if (ret == cnrtSuccess) *ms *= 1e-3f;
  return ret;
}
}
