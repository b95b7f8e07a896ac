// Words of BANG C: gathers, fills, single numbers, atomics.
// Counts are elements unless called bytes.
#pragma once

#include <cstdint>
#include <type_traits>

#include "backends/mlu_emu/bang/words/copies.h"
#include "backends/mlu_emu/bang/words/lane_types.h"

namespace mluops::emu::bang {

// Pieces of `bytes`. Gathers take piece i from base + offset[i] (bytes) to dst + i * stride, scatters from src + i *
// stride to base + offset[i]. With a mask only pieces whose bit is set move (bit i mod 8 of byte i / 8). The async ones
// are queued like __memcpy_async.
void __gather(void* dst, const void* base, const std::uint32_t* offset, std::int64_t bytes,
              mluMemcpyDirection_t direction, std::int64_t stride, std::int64_t n);
void __gather(void* dst, const void* base, const std::uint32_t* offset, const void* mask, std::int64_t bytes,
              mluMemcpyDirection_t direction, std::int64_t stride, std::int64_t n);
void __gather_async(void* dst, const void* base, const std::uint32_t* offset, std::int64_t bytes,
                    mluMemcpyDirection_t direction, std::int64_t stride, std::int64_t n);
void __gather_async(void* dst, const void* base, const std::uint32_t* offset, const void* mask, std::int64_t bytes,
                    mluMemcpyDirection_t direction, std::int64_t stride, std::int64_t n);
void __scatter(void* base, const void* src, const std::uint32_t* offset, std::int64_t bytes,
               mluMemcpyDirection_t direction, std::int64_t stride, std::int64_t n);
void __scatter(void* base, const void* src, const std::uint32_t* offset, const void* mask, std::int64_t bytes,
               mluMemcpyDirection_t direction, std::int64_t stride, std::int64_t n);
void __scatter_async(void* base, const void* src, const std::uint32_t* offset, std::int64_t bytes,
                     mluMemcpyDirection_t direction, std::int64_t stride, std::int64_t n);
void __scatter_async(void* base, const void* src, const std::uint32_t* offset, const void* mask, std::int64_t bytes,
                     mluMemcpyDirection_t direction, std::int64_t stride, std::int64_t n);
/// __gather_async from GDRAM with a mask.
void __bang_gather_async(void* dst, const void* base, const std::uint32_t* offset, const void* mask, std::int64_t bytes,
                         std::int64_t dst_stride, std::int64_t n);
/// Element i of src, `bytes` long, times[i] times; all of them one behind the other.
void __extension(void* dst, const void* src, const std::uint8_t* times, std::int64_t bytes,
                 mluMemcpyDirection_t direction, std::int64_t n);
/// n elements of GDRAM.
template <class T>
void __gdramset(T* dst, std::int64_t n, ValueOf<T> value);
/// n lanes of V in SRAM: the value's type selects the lane, as with __bang_write_value.
template <class V>
void __sramset(void* dst, std::int64_t n, V value);
/// Queued with the copies within NRAM: segments + 1 rows of n elements, `stride` bytes apart.
template <class T>
void __nramset_async(T* dst, std::int64_t n, ValueOf<T> value, std::int64_t stride, std::int64_t segments);
/// The address lies in device memory.
bool __is_dram(const void* address);
/// One number by the scalar core, checked.
template <class T>
T __load_gdram(const T* address);
template <class T>
T __load_sram(const T* address);
template <class T>
T __load_nram(const T* address);
template <class T>
void __store_gdram(T* address, ValueOf<T> value);
template <class T>
void __store_sram(T* address, ValueOf<T> value);
template <class T>
void __store_nram(T* address, ValueOf<T> value);

// ---- atomics -----------------------------------------------------------------------------------------------------

/// gdram[i] += nram[i], element-wise atomic, each sum rounded in T. No alignment rules.
template <class T>  // half, bfloat16, float, int32, uint32
void __bang_atomic_reduce_add(T* gdram, const T* nram, std::int64_t n);
/// __bang_atomic_reduce_add, queued on the device; here done at once, which no kernel that waits can tell apart.
template <class T>
void __bang_atomic_reduce_add_async(T* gdram, const T* nram, std::int64_t n) {
  __bang_atomic_reduce_add(gdram, nram, n);
}
/// The larger (smaller) of both in the same way.
template <class T>
void __bang_atomic_reduce_max(T* gdram, const T* nram, std::int64_t n);
template <class T>
void __bang_atomic_reduce_min(T* gdram, const T* nram, std::int64_t n);
/// __bang_atomic_reduce_add; what was there before goes to dst in NRAM, which may be nram.
template <class T>
void __bang_atomic_add(T* dst, T* gdram, const T* nram, std::int64_t n);
/// Adds two nested rows of pieces of n elements (counts less 1, strides in bytes).
template <class T>
void __bang_atomic_reduce_add(T* gdram, const T* nram, std::int64_t n, std::int64_t segments1, std::int64_t segments2,
                              std::int64_t dst_stride1, std::int64_t dst_stride2, std::int64_t src_stride1,
                              std::int64_t src_stride2);
/// gdram[0] += value.
template <class T, class = std::enable_if_t<!std::is_pointer_v<T>>>
void __bang_atomic_reduce_add(T* gdram, T value);
/// gdram[i] += value, for n elements.
template <class T>
void __bang_atomic_reduce_add(T* gdram, ValueOf<T> value, std::int64_t n);

}  // namespace mluops::emu::bang
