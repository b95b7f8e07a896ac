// Streams of the device mlu, as extensions of torch_mlu use them. A stream's number is the address of its queue.
#pragma once

#include <c10/core/Device.h>
#include <c10/core/Stream.h>
#include <c10/core/impl/VirtualGuardImpl.h>
#include <c10/util/Exception.h>
#include <cnrt.h>

#include <functional>
#include <ostream>
#include <tuple>

namespace torch_mlu {

inline c10::impl::VirtualGuardImpl device_guard_of_mlu() {
  return c10::impl::VirtualGuardImpl(c10::DeviceType::PrivateUse1);
}

class MLUStream {
 public:
  explicit MLUStream(c10::Stream stream) : stream_(stream) {
    TORCH_CHECK(stream.device_type() == c10::DeviceType::PrivateUse1, "a stream of mlu was wanted, got one of ",
                stream.device());
  }

  bool operator==(const MLUStream& other) const noexcept { return stream_ == other.stream_; }
  bool operator!=(const MLUStream& other) const noexcept { return stream_ != other.stream_; }

  operator cnrtQueue_t() const { return stream(); }  // NOLINT: programs hand it to launches
  operator c10::Stream() const { return stream_; }   // NOLINT: and to torch
  cnrtQueue_t stream() const { return reinterpret_cast<cnrtQueue_t>(stream_.id()); }
  cnrtQueue_t queue() const { return stream(); }  // its older name
  c10::Stream unwrap() const { return stream_; }

  c10::DeviceType device_type() const { return stream_.device_type(); }
  c10::DeviceIndex device_index() const { return stream_.device_index(); }
  c10::Device device() const { return stream_.device(); }
  c10::StreamId id() const { return stream_.id(); }

  bool query() const { return device_guard_of_mlu().queryStream(stream_); }
  void synchronize() const { device_guard_of_mlu().synchronizeStream(stream_); }
  int priority() const { return 0; }
  static std::tuple<int, int> priority_range() { return {0, 0}; }

 private:
  c10::Stream stream_;
};

inline c10::Device device_of_mlu(c10::DeviceIndex index) {
  return {c10::DeviceType::PrivateUse1, index < 0 ? c10::DeviceIndex(0) : index};
}

inline MLUStream getCurrentMLUStream(c10::DeviceIndex index = -1) {
  return MLUStream(device_guard_of_mlu().getStream(device_of_mlu(index)));
}
inline MLUStream getDefaultMLUStream(c10::DeviceIndex index = -1) {
  return MLUStream(device_guard_of_mlu().getDefaultStream(device_of_mlu(index)));
}
inline MLUStream getStreamFromPool(bool = false, c10::DeviceIndex index = -1) {
  return MLUStream(device_guard_of_mlu().getNewStream(device_of_mlu(index)));
}
inline MLUStream getStreamFromExternal(cnrtQueue_t queue, c10::DeviceIndex index = -1) {
  return MLUStream(c10::Stream(c10::Stream::UNSAFE, device_of_mlu(index), reinterpret_cast<c10::StreamId>(queue)));
}
inline void setCurrentMLUStream(MLUStream stream) {
  device_guard_of_mlu().exchangeStream(stream.unwrap());
}
/// The queue that kernels are to be launched on.
inline cnrtQueue_t getCurMLUStream(c10::DeviceIndex index = -1) {
  return getCurrentMLUStream(index).stream();
}

inline std::ostream& operator<<(std::ostream& out, const MLUStream& stream) {
  return out << stream.unwrap();
}

}  // namespace torch_mlu

namespace std {
template <>
struct hash<torch_mlu::MLUStream> {
  size_t operator()(const torch_mlu::MLUStream& stream) const noexcept {
    return std::hash<c10::Stream>{}(stream.unwrap());
  }
};
}  // namespace std
