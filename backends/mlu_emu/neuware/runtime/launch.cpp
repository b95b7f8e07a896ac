// kernel<<<dim, type, queue>>>(...)
#include <exception>

#include "backends/mlu_emu/neuware/runtime/errors.h"
#include "backends/mlu_emu/neuware/runtime/machine.h"
#include "backends/mlu_emu/neuware/runtime/memory.h"
#include "backends/mlu_emu/neuware/runtime/queue.h"

namespace neuware {
namespace {

constexpr int kUnknown = -1;

/// Clusters that start together; 0 for BLOCK.
int clusters_of(cnrtFunctionType_t type) {
  switch (type) {
    case cnrtFuncTypeBlock:
      return 0;
    case cnrtFuncTypeUnion1:
    case cnrtFuncTypeUnion2:
    case cnrtFuncTypeUnion4:
    case cnrtFuncTypeUnion8:
    case cnrtFuncTypeUnion16:
      return static_cast<int>(type) / static_cast<int>(cnrtFuncTypeUnion1);
    default:
      return kUnknown;
  }
}

std::string run(const Unit& unit, const mluops::emu::LaunchSpec& spec, const std::function<void()>& task,
                cnrtQueue& queue) {
  constexpr double kMicrosecond = 1e3;
  double time = 0;
  try {
    Machine& machine = Machine::of(unit.arch);
    const std::string fault = machine.run(unit, spec, task, &time);
    queue.time_ns += time + machine.settings().rates.launch_us * kMicrosecond;
    return fault;
  } catch (const std::exception& e) {
    return spec.kernel + ": the kernel threw an exception: " + e.what();
  } catch (...) {
    return spec.kernel + ": the kernel threw an exception";
  }
}

}  // namespace

void launch_tasks(const Unit& unit, const char* name, cnrtDim3_t dim, cnrtFunctionType_t type, cnrtQueue_t queue,
                  const std::function<void()>& task) {
  const std::string kernel = name;
  if (Machine::is_in_bad_fork()) {
    keep_fault(cnrtErrorLaunchInvalid,
               kernel +
                   ": this process was forked after its parent used the device and cannot use it: start a new one "
                   "(in Python: multiprocessing's start method spawn)");
    return;
  }
  cnrtQueue* on = queue_of(queue);
  if (on == nullptr) {
    keep_fault(cnrtErrorLaunchInvalid, kernel + ": the queue is invalid or was destroyed");
    return;
  }
  mluops::emu::LaunchSpec spec;
  spec.kernel = kernel;
  spec.clusters = clusters_of(type);
  spec.x = dim.x, spec.y = dim.y, spec.z = dim.z;
  spec.tensors = Blocks::instance().windows();
  const std::string fault = spec.clusters == kUnknown
                                ? kernel + ": unknown type of launch " + std::to_string(static_cast<int>(type))
                                : run(unit, spec, task, *on);
  if (fault.empty()) return;
  const cnrtRet_t error = keep_fault(spec.clusters == kUnknown ? cnrtErrorLaunchInvalid : cnrtErrorKernelFault, fault);
  if (on->error != cnrtSuccess) return;
  on->error = error;
  on->fault = fault;
}

}  // namespace neuware

extern "C" int cnrtExtIsInBadFork(void) {
  return neuware::Machine::is_in_bad_fork() ? 1 : 0;
}
