// Memory and a queue of the runtime that LIB brought along, found at run time; the host's where it brought none.
#pragma once

#include <cstddef>
#include <vector>

#include "mlu_op.h"

namespace mluops::conformance {

/// cnrtMalloc, cnrtMemcpy, cnrtFree, cnrtQueueCreate, cnrtQueueSync, as far as the process has them.
class Runtime {
 public:
  Runtime();
  /// Whether tensors have to be copied to memory of a device.
  bool there() const { return malloc_ != nullptr && memcpy_ != nullptr && free_ != nullptr; }
  /// NULL where there is none.
  void* make_queue() const;
  void wait(void* queue) const;
  /// Throws std::bad_alloc.
  void* allocate(std::size_t bytes) const;
  void release(void* memory) const;
  void to_device(void* device, const void* host, std::size_t bytes) const;
  void to_host(void* host, const void* device, std::size_t bytes) const;

 private:
  using Malloc = int (*)(void**, std::size_t);
  using Memcpy = int (*)(void*, void*, std::size_t, int);
  using One = int (*)(void*);
  using Make = int (*)(void**);

  Malloc malloc_;
  Memcpy memcpy_;
  One free_, sync_;
  Make queue_;
};

}  // namespace mluops::conformance
