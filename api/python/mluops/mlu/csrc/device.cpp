// Devices, streams, events: what torch asks of every accelerator. Times of events are those of the emulated machine.
#include "device.h"

#include <ATen/detail/PrivateUse1HooksInterface.h>
#include <ATen/native/Resize.h>
#include <c10/core/impl/DeviceGuardImplInterface.h>
#include <cn_api.h>

#include <cstring>
#include <mutex>
#include <vector>

namespace mluops_torch {
namespace {

using c10::Device;
using c10::DeviceIndex;
using c10::Stream;

thread_local c10::StreamId current_stream = 0;

/// The queues of streams. They are never destroyed: a stream is a number and may be anywhere.
struct Queues {
  std::mutex mutex;
  std::vector<cnrtQueue_t> all{nullptr};
};

Queues& queues() {
  static Queues& instance = *new Queues;
  return instance;
}

Stream stream_of(c10::StreamId id) {
  return Stream(Stream::UNSAFE, Device(kDevice, 0), id);
}

cnrtNotifier_t notifier_of(void* event) {
  return static_cast<cnrtNotifier_t>(event);
}

struct Guard final : c10::impl::DeviceGuardImplInterface {
  c10::DeviceType type() const override { return kDevice; }
  Device exchangeDevice(Device to) const override { return setDevice(to), getDevice(); }
  Device getDevice() const override { return Device(kDevice, 0); }
  void setDevice(Device to) const override { device_at(to.index()); }
  void uncheckedSetDevice(Device) const noexcept override {}
  DeviceIndex deviceCount() const noexcept override { return 1; }

  Stream getStream(Device) const noexcept override { return stream_of(current_stream); }
  Stream getDefaultStream(Device) const override { return stream_of(0); }
  Stream getStreamFromGlobalPool(Device device, bool) const override { return getNewStream(device, 0); }
  Stream getNewStream(Device, int) const override {
    cnrtQueue_t queue = nullptr;
    check(cnrtQueueCreate(&queue), "cnrtQueueCreate");
    const std::lock_guard<std::mutex> lock(queues().mutex);
    queues().all.push_back(queue);
    return stream_of(reinterpret_cast<c10::StreamId>(queue));
  }
  Stream exchangeStream(Stream to) const noexcept override {
    const c10::StreamId before = current_stream;
    current_stream = to.id();
    return stream_of(before);
  }
  // Work is done when the call that put it on a queue returns.
  bool queryStream(const Stream&) const override { return true; }
  void synchronizeStream(const Stream&) const override { raise_faults(); }
  void synchronizeDevice(const DeviceIndex) const { raise_faults(); }
  void* getStreamNativeHandle(const Stream stream) const { return queue_of(stream.id()); }

  void record(void** event, const Stream& stream, const DeviceIndex, const c10::EventFlag) const override {
    cnrtNotifier_t notifier = notifier_of(*event);
    if (notifier == nullptr) {
      check(cnrtNotifierCreate(&notifier), "cnrtNotifierCreate");
      *event = notifier;
    }
    check(cnrtPlaceNotifier(notifier, queue_of(stream.id())), "cnrtPlaceNotifier");
  }
  void block(void* event, const Stream& stream) const override {
    if (event == nullptr) return;
    check(cnrtQueueWaitNotifier(notifier_of(event), queue_of(stream.id()), 0), "cnrtQueueWaitNotifier");
  }
  bool queryEvent(void*) const override { return true; }
  void synchronizeEvent(void*) const { raise_faults(); }
  void destroyEvent(void* event, const DeviceIndex) const noexcept override {
    if (event != nullptr) cnrtNotifierDestroy(notifier_of(event));
  }
  double elapsedTime(void* start, void* end, const DeviceIndex) const {
    TORCH_CHECK(start != nullptr && end != nullptr, "mlu: an event that was not recorded has no time");
    return mluops_torch_elapsed(start, end) * 1e-3;
  }
};

C10_REGISTER_GUARD_IMPL(PrivateUse1, Guard);

struct Hooks final : at::PrivateUse1HooksInterface {
  bool isBuilt() const { return true; }
  bool isAvailable() const { return true; }
  bool hasPrimaryContext(DeviceIndex) const override { return true; }
  DeviceIndex deviceCount() const { return 1; }
  void setCurrentDevice(DeviceIndex index) const { device_at(index); }
  DeviceIndex getCurrentDevice() const { return 0; }
  DeviceIndex exchangeDevice(DeviceIndex index) const { return device_at(index), static_cast<DeviceIndex>(0); }
  DeviceIndex maybeExchangeDevice(DeviceIndex) const { return 0; }
  void init() const {}
  // Random numbers are the CPU's: operators that make them run there.
  const at::Generator& getDefaultGenerator(DeviceIndex) const override {
    static const at::Generator generator = at::globalContext().defaultGenerator(c10::Device(c10::kCPU));
    return generator;
  }
  at::Generator getNewGenerator(DeviceIndex) const {
    at::Generator generator = getDefaultGenerator(0).clone();
    generator.set_current_seed(c10::default_rng_seed_val);
    return generator;
  }
  Device getDeviceFromPtr(void*) const override { return Device(kDevice, 0); }
  bool isPinnedPtr(const void*) const override { return false; }
  c10::Allocator* getPinnedMemoryAllocator() const override { return c10::GetAllocator(c10::kCPU); }
  void resizePrivateUse1Bytes(const c10::Storage& storage, std::size_t bytes) const override {
    at::native::resize_bytes_cpu(storage.unsafeGetStorageImpl(), bytes);
  }
};

const bool registered = [] {
  at::RegisterPrivateUse1HooksInterface(new Hooks);
  return true;
}();

}  // namespace

Device device_at(DeviceIndex index) {
  TORCH_CHECK(index <= 0, "mlu:", static_cast<int>(index), ": the emulated machine is one device, mlu:0");
  return Device(kDevice, 0);
}

void check(cnrtRet_t status, const char* call) {
  if (status == cnrtSuccess) return;
  cnrtGetLastError();
  TORCH_CHECK(false, "mlu: ", call, ": ", cnrtGetErrorStr(status));
}

void raise_faults() {
  const std::lock_guard<std::mutex> lock(queues().mutex);
  for (const cnrtQueue_t queue : queues().all) {
    const std::string fault = cnrtExtTakeFault(queue);
    if (fault.empty()) continue;
    cnrtGetLastError();
    TORCH_CHECK(false, "mlu: ", fault);
  }
}

}  // namespace mluops_torch

void mluops_torch_properties(char* name, int length, std::int64_t* numbers) {
  if (cnDeviceGetName(name, length, 0) != CN_SUCCESS) name[0] = '\0';
  int clusters = 0, cores = 0, arch = 0;
  cnrtDeviceGetAttribute(&clusters, cnrtAttrClusterCount, 0);
  cnrtDeviceGetAttribute(&cores, cnrtAttrMcorePerCluster, 0);
  cnrtDeviceGetAttribute(&arch, cnrtAttrISAVersion, 0);
  std::size_t free_bytes = 0, bytes = 0;
  cnrtMemGetInfo(&free_bytes, &bytes);
  const std::int64_t all[] = {clusters, cores, arch, static_cast<std::int64_t>(bytes)};
  std::memcpy(numbers, all, sizeof(all));
}

double mluops_torch_elapsed(void* start, void* end) {
  float us = 0;
  cnrtNotifierDuration(mluops_torch::notifier_of(start), mluops_torch::notifier_of(end), &us);
  return us;
}
