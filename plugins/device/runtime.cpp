#include "plugins/device/runtime.h"

#include <dlfcn.h>

#include <new>
#include <stdexcept>
#include <utility>

// Only the C ABI of a foreign library is known, not the types that its functions were compiled with.
#if defined(__clang__)
#define MLUOPS_CALLS_A_FOREIGN_LIBRARY __attribute__((no_sanitize("function")))
#else
#define MLUOPS_CALLS_A_FOREIGN_LIBRARY
#endif

namespace mluops::device {
namespace {

// cnrtMemTransDir_t, the same numbers in every version of the vendor's header.
constexpr int kHostToDevice = 0, kDeviceToHost = 2;

template <class Function>
Function symbol(void* object, const char* name) {
  return reinterpret_cast<Function>(dlsym(object, name));
}

void demand(int code, const char* function) {
  if (code != 0) throw std::runtime_error(std::string(function) + " returned " + std::to_string(code));
}

}  // namespace

Runtime::Runtime(void* object)
    : malloc_(symbol<Malloc>(object, "cnrtMalloc")),
      memcpy_(symbol<Memcpy>(object, "cnrtMemcpy")),
      free_(symbol<One>(object, "cnrtFree")),
      sync_(symbol<One>(object, "cnrtQueueSync")),
      end_queue_(symbol<One>(object, "cnrtQueueDestroy")),
      queue_(symbol<Make>(object, "cnrtQueueCreate")),
      version_(symbol<Numbers>(object, "cnrtGetLibVersion")),
      count_(symbol<Count>(object, "cnrtGetDeviceCount")),
      get_(symbol<Get>(object, "cnrtGetDevice")),
      set_(symbol<Set>(object, "cnrtSetDevice")) {}

std::string Runtime::missing() const {
  const std::pair<const char*, bool> wanted[] = {
      {"cnrtMalloc", malloc_ != nullptr},
      {"cnrtMemcpy", memcpy_ != nullptr},
      {"cnrtFree", free_ != nullptr},
      {"cnrtQueueCreate", queue_ != nullptr},
      {"cnrtQueueSync", sync_ != nullptr},
      {"cnrtQueueDestroy", end_queue_ != nullptr},
      {"cnrtGetLibVersion", version_ != nullptr},
      {"cnrtGetDevice", get_ != nullptr},
      {"cnrtGetDeviceCount", count_ != nullptr},
      {"cnrtSetDevice", set_ != nullptr},
  };
  for (const auto& [name, there] : wanted) {
    if (!there) return name;
  }
  return "";
}

MLUOPS_CALLS_A_FOREIGN_LIBRARY Runtime::Version Runtime::version() const {
  Version v;
  demand(version_(&v.major, &v.minor, &v.patch), "cnrtGetLibVersion");
  return v;
}

MLUOPS_CALLS_A_FOREIGN_LIBRARY unsigned Runtime::cards() const {
  unsigned count = 0;
  demand(count_(&count), "cnrtGetDeviceCount");
  return count;
}

MLUOPS_CALLS_A_FOREIGN_LIBRARY void Runtime::choose(int card) const {
  demand(set_(card), "cnrtSetDevice");
}

MLUOPS_CALLS_A_FOREIGN_LIBRARY int Runtime::chosen() const {
  int card = 0;
  demand(get_(&card), "cnrtGetDevice");
  return card;
}

MLUOPS_CALLS_A_FOREIGN_LIBRARY void* Runtime::make_queue() const {
  void* queue = nullptr;
  return queue_ != nullptr && queue_(&queue) == 0 ? queue : nullptr;
}

MLUOPS_CALLS_A_FOREIGN_LIBRARY void Runtime::end_queue(void* queue) const {
  end_queue_(queue);
}

MLUOPS_CALLS_A_FOREIGN_LIBRARY void Runtime::wait(void* queue) const {
  if (sync_ != nullptr && queue != nullptr) demand(sync_(queue), "cnrtQueueSync");
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
  demand(memcpy_(device, const_cast<void*>(host), bytes, kHostToDevice), "cnrtMemcpy");
}

MLUOPS_CALLS_A_FOREIGN_LIBRARY void Runtime::to_host(void* host, const void* device, std::size_t bytes) const {
  demand(memcpy_(host, const_cast<void*>(device), bytes, kDeviceToHost), "cnrtMemcpy");
}

DeviceMemory::DeviceMemory(const Runtime& runtime, std::size_t bytes)
    : runtime_(&runtime), bytes_(bytes), memory_(runtime.allocate(bytes)) {}

DeviceMemory::DeviceMemory(const Runtime& runtime, const void* host, std::size_t bytes) : DeviceMemory(runtime, bytes) {
  runtime.to_device(memory_, host, bytes);
}

DeviceMemory::DeviceMemory(DeviceMemory&& other) noexcept
    : runtime_(other.runtime_), bytes_(other.bytes_), memory_(std::exchange(other.memory_, nullptr)) {}

DeviceMemory::~DeviceMemory() {
  if (memory_ != nullptr) runtime_->release(memory_);
}

}  // namespace mluops::device
