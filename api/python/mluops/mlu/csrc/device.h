// The device mlu of torch over the runtime of the emulated machine. Compiled once for each torch, see ../_glue.py.
#pragma once

#include <ATen/ATen.h>
#include <c10/core/Allocator.h>
#include <c10/core/Stream.h>
#include <cnrt.h>

namespace mluops_torch {

constexpr c10::DeviceType kDevice = c10::DeviceType::PrivateUse1;

/// The one device; raises where `index` is that of another.
c10::Device device_at(c10::DeviceIndex index);
c10::Allocator& allocator();
/// The stream's queue: a stream's number is its queue's address, 0 for the default queue.
inline cnrtQueue_t queue_of(c10::StreamId id) {
  return reinterpret_cast<cnrtQueue_t>(id);
}
/// Raises what a kernel on any queue did that the device would not bear; it is forgotten then.
void raise_faults();
/// Raises for a call of the runtime that failed.
void check(cnrtRet_t status, const char* call);

}  // namespace mluops_torch

// What ../_runtime.py asks.
extern "C" {
std::size_t mluops_torch_memory_allocated();
std::size_t mluops_torch_max_memory_allocated();
void mluops_torch_reset_peak_memory();
/// Microseconds between two events, by their handles.
double mluops_torch_elapsed(void* start, void* end);
/// Writes the device's name and returns its clusters, cores of one, architecture, memory.
void mluops_torch_properties(char* name, int length, std::int64_t* numbers);
}
