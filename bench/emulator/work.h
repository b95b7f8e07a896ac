// What bench/emulator measures: loops, once as words on the emulated device, once compiled plainly.
#pragma once

#include <cnrt.h>

#include <cstdint>

namespace bench_emulator {

enum class Loop {
  kAddFloat,
  kAddInPlace,
  kScaleHalf,
  kFusedFloat,
  kCompareFloat,
  kHalfToFloat,
  kSumFloat,
  kTransposeFloat,
  kLoad,
};
inline constexpr int kLoops = 9;
inline constexpr const char* kLoopNames[kLoops] = {
    "__bang_add float",        "__bang_add float, in place", "__bang_mul_scalar half",
    "__bang_fusion FMA float", "__bang_gt_scalar float",     "__bang_half2float",
    "__bang_sum float",        "__bang_transpose float",     "__memcpy GDRAM2NRAM float",
};
inline constexpr int kMostLanes = 16384;
inline constexpr int kTransposeRows = 32;

/// The loop, `repeats` times over `lanes` lanes, on buffers of its own.
void run_plainly(Loop loop, int lanes, int repeats);
/// The loop as words of a launch of one task; `data`: kMostLanes floats of device memory.
void run_as_words(cnrtQueue_t queue, Loop loop, float* data, int lanes, int repeats);

/// c = a + b, once over whole tensors: what a kernel's loads, words and stores cost together.
void add_plainly(float* c, const float* a, const float* b, int64_t n);
void add_on_device(cnrtQueue_t queue, float* c, const float* a, const float* b, int64_t n);

/// Launches that do next to nothing.
void launch_empty(cnrtQueue_t queue, cnrtFunctionType_t type, unsigned tasks);
void launch_tiny(cnrtQueue_t queue, cnrtFunctionType_t type, unsigned tasks, float* data);

}  // namespace bench_emulator
