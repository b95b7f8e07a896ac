// Builtins of BANG C: gathers, fills, single numbers.
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
// Fills: n lanes; segments + 1 rows of them, `stride` bytes apart; or two nested rows (counts less 1).
#define MLUOPS_EMU_DECLARE_SET(name)                                                                \
  template <class T>                                                                                \
  void name(T* dst, std::int64_t n, ValueOf<T> value);                                              \
  template <class T>                                                                                \
  void name(T* dst, std::int64_t n, ValueOf<T> value, std::int64_t stride, std::int64_t segments);  \
  template <class T>                                                                                \
  void name(T* dst, std::int64_t n, ValueOf<T> value, std::int64_t stride1, std::int64_t segments1, \
            std::int64_t stride2, std::int64_t segments2);
/// Fills of a memory with lanes of T. The ones with _async are queued with the copies of their engine.
MLUOPS_EMU_DECLARE_SET(__gdramset)
MLUOPS_EMU_DECLARE_SET(__ldramset)
MLUOPS_EMU_DECLARE_SET(__memset_nram_async)
MLUOPS_EMU_DECLARE_SET(__nramset_async)
MLUOPS_EMU_DECLARE_SET(__sramset_async)
#undef MLUOPS_EMU_DECLARE_SET
/// n lanes of V in SRAM: the value's type selects the lane, as with __bang_write_value.
template <class V>
void __sramset(void* dst, std::int64_t n, V value);
template <class V>
void __sramset(void* dst, std::int64_t n, V value, std::int64_t stride, std::int64_t segments);
template <class V>
void __sramset(void* dst, std::int64_t n, V value, std::int64_t stride1, std::int64_t segments1, std::int64_t stride2,
               std::int64_t segments2);
/// The address lies in that memory. LDRAM is what is none of the others'.
bool __is_dram(const void* address);
bool __is_nram(const void* address);
bool __is_wram(const void* address);
bool __is_sram(const void* address);
bool __is_ldram(const void* address);
/// One number by the scalar core, checked.
template <class T>
T __load_gdram(const T* address);
template <class T>
T __load_sram(const T* address);
template <class T>
T __load_nram(const T* address);
template <class T>
T __load_ldram(const T* address) {
  return *address;
}
template <class T>
void __store_gdram(T* address, ValueOf<T> value);
template <class T>
void __store_sram(T* address, ValueOf<T> value);
template <class T>
void __store_nram(T* address, ValueOf<T> value);
template <class T>
void __store_ldram(T* address, ValueOf<T> value) {
  *address = value;
}

}  // namespace mluops::emu::bang
