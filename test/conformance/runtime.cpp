#include "test/conformance/runtime.h"

#include <dlfcn.h>

#include <new>
#include <stdexcept>

// Only the C ABI of a foreign library is known, not the types that its functions were compiled with.
#if defined(__clang__)
#define MLUOPS_CALLS_A_FOREIGN_LIBRARY __attribute__((no_sanitize("function")))
#else
#define MLUOPS_CALLS_A_FOREIGN_LIBRARY
#endif

namespace mluops::conformance {
namespace {

// cnrtMemTransDir_t, the same numbers in every version of the vendor's header.
constexpr int kHostToDevice = 0, kDeviceToHost = 2;

template <class Function>
Function symbol(const char* name) {
  return reinterpret_cast<Function>(dlsym(RTLD_DEFAULT, name));
}

}  // namespace

Runtime::Runtime()
    : malloc_(symbol<Malloc>("cnrtMalloc")),
      memcpy_(symbol<Memcpy>("cnrtMemcpy")),
      free_(symbol<One>("cnrtFree")),
      sync_(symbol<One>("cnrtQueueSync")),
      queue_(symbol<Make>("cnrtQueueCreate")) {}

MLUOPS_CALLS_A_FOREIGN_LIBRARY void* Runtime::make_queue() const {
  void* queue = nullptr;
  return queue_ != nullptr && queue_(&queue) == 0 ? queue : nullptr;
}

MLUOPS_CALLS_A_FOREIGN_LIBRARY void Runtime::wait(void* queue) const {
  if (sync_ != nullptr && queue != nullptr && sync_(queue) != 0) throw std::runtime_error("cnrtQueueSync failed");
}

MLUOPS_CALLS_A_FOREIGN_LIBRARY void* Runtime::allocate(std::size_t bytes) const {
  void* memory = nullptr;
  if (malloc_(&memory, bytes) != 0 || memory == nullptr) throw std::bad_alloc();
  return memory;
}

MLUOPS_CALLS_A_FOREIGN_LIBRARY void Runtime::release(void* memory) const {
  free_(memory);
}

MLUOPS_CALLS_A_FOREIGN_LIBRARY void Runtime::to_device(void* device, const void* host, std::size_t bytes) const {
  if (memcpy_(device, const_cast<void*>(host), bytes, kHostToDevice) != 0)
    throw std::runtime_error("cnrtMemcpy failed");
}

MLUOPS_CALLS_A_FOREIGN_LIBRARY void Runtime::to_host(void* host, const void* device, std::size_t bytes) const {
  if (memcpy_(host, const_cast<void*>(device), bytes, kDeviceToHost) != 0)
    throw std::runtime_error("cnrtMemcpy failed");
}

}  // namespace mluops::conformance
