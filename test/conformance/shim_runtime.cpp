// The shim's runtime. Apart from shim.cpp, where the stand-in cnrt.h defines the same names.
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <set>

namespace {

std::mutex mutex;
std::set<const void*> memory;

}  // namespace

extern "C" {

bool shim_owns(const void* data);
int cnrtMalloc(void** data, std::size_t bytes);
int cnrtFree(void* data);
int cnrtMemcpy(void* to, void* from, std::size_t bytes, int direction);

bool shim_owns(const void* data) {
  const std::lock_guard lock(mutex);
  return memory.contains(data);
}

int cnrtMalloc(void** data, std::size_t bytes) {
  *data = std::malloc(bytes + 1);
  const std::lock_guard lock(mutex);
  memory.insert(*data);
  return *data == nullptr ? 1 : 0;
}

int cnrtFree(void* data) {
  const std::lock_guard lock(mutex);
  memory.erase(data);
  std::free(data);
  return 0;
}

int cnrtMemcpy(void* to, void* from, std::size_t bytes, int) {
  std::memcpy(to, from, bytes);
  return 0;
}

}  // extern "C"
