// The vendor's runtime, found at run time: a card, its memory and a queue.
#pragma once

#include <cstddef>
#include <string>

namespace mluops::device {

/// cnrtMalloc, cnrtMemcpy, cnrtFree, cnrtQueueCreate, cnrtQueueSync and others, as far as an object has them.
class Runtime {
 public:
  struct Version {
    int major = 0, minor = 0, patch = 0;
  };

  /// The runtime in an object that dlopen gave, or in those that it brought along; RTLD_DEFAULT: in the process.
  explicit Runtime(void* object);

  /// Whether tensors have to be copied to memory of a device.
  bool there() const { return malloc_ != nullptr && memcpy_ != nullptr && free_ != nullptr; }
  /// Name of a function without which no card can be used; "" where all are there.
  std::string missing() const;

  Version version() const;
  /// Throws std::runtime_error with the runtime's code.
  unsigned cards() const;
  void choose(int card) const;
  /// The card of the calling thread.
  int chosen() const;

  /// NULL where there is none.
  void* make_queue() const;
  void end_queue(void* queue) const;
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
  using Numbers = int (*)(int*, int*, int*);
  using Count = int (*)(unsigned*);
  using Get = int (*)(int*);
  using Set = int (*)(int);

  Malloc malloc_;
  Memcpy memcpy_;
  One free_, sync_, end_queue_;
  Make queue_;
  Numbers version_;
  Count count_;
  Get get_;
  Set set_;
};

/// A block of the device's memory with what a host block holds.
class DeviceMemory {
 public:
  DeviceMemory(const Runtime& runtime, const void* host, std::size_t bytes);
  /// What it holds is arbitrary.
  DeviceMemory(const Runtime& runtime, std::size_t bytes);
  DeviceMemory(DeviceMemory&& other) noexcept;
  DeviceMemory& operator=(DeviceMemory&&) = delete;
  ~DeviceMemory();

  void* get() const { return memory_; }
  void fetch(void* host) const { runtime_->to_host(host, memory_, bytes_); }

 private:
  const Runtime* runtime_;
  std::size_t bytes_;
  void* memory_;
};

}  // namespace mluops::device
