// Builtins of BANG C: gathers, fills, single numbers.
// Counts are elements unless called bytes.
#pragma once

#include <cstdint>
#include <type_traits>

#include "backends/mlu_emu/bang/half.h"
#include "backends/mlu_emu/bang/words/copies.h"
#include "backends/mlu_emu/bang/words/lane_types.h"

namespace mluops::emu::bang {

// Pieces of `bytes`. Gathers take piece i from base + offset[i] (bytes) to dst + i * stride, scatters from src + i *
// stride to base + offset[i]. With a mask only pieces whose bit is set move (bit i mod 8 of byte i / 8). The async ones
// are queued like __memcpy_async. Offsets have 8, 16 or 32 bits.
#define MLUOPS_EMU_DECLARE_PIECES(name)                                                                      \
  template <class O>                                                                                         \
  void name(void* dst, const void* src, const O* offset, std::int64_t bytes, mluMemcpyDirection_t direction, \
            std::int64_t stride, std::int64_t n);                                                            \
  template <class O>                                                                                         \
  void name(void* dst, const void* src, const O* offset, const void* mask, std::int64_t bytes,               \
            mluMemcpyDirection_t direction, std::int64_t stride, std::int64_t n);
MLUOPS_EMU_DECLARE_PIECES(__gather)
MLUOPS_EMU_DECLARE_PIECES(__gather_async)
MLUOPS_EMU_DECLARE_PIECES(__scatter)
MLUOPS_EMU_DECLARE_PIECES(__scatter_async)
#undef MLUOPS_EMU_DECLARE_PIECES
/// __gather_async from GDRAM with a mask.
void __bang_gather_async(void* dst, const void* base, const std::uint32_t* offset, const void* mask, std::int64_t bytes,
                         std::int64_t dst_stride, std::int64_t n);
/// Element i of src, `bytes` long, times[i] times; all of them one behind the other.
void __extension(void* dst, const void* src, const std::uint8_t* times, std::int64_t bytes,
                 mluMemcpyDirection_t direction, std::int64_t n);
// Fills: n lanes of V, the type of the value, whatever the pointer's is; segments + 1 rows of them, `stride` bytes
// apart; or two nested rows (counts less 1). A double fills lanes of float.
#define MLUOPS_EMU_DECLARE_SET(name)                                                                                \
  template <class V>                                                                                                \
  void name(void* dst, std::int64_t n, V value);                                                                    \
  template <class V>                                                                                                \
  void name(void* dst, std::int64_t n, V value, std::int64_t stride, std::int64_t segments);                        \
  template <class V>                                                                                                \
  void name(void* dst, std::int64_t n, V value, std::int64_t stride1, std::int64_t segments1, std::int64_t stride2, \
            std::int64_t segments2);
/// Fills of a memory. The ones with _async are queued with the copies of their engine.
MLUOPS_EMU_DECLARE_SET(__gdramset)
MLUOPS_EMU_DECLARE_SET(__ldramset)
MLUOPS_EMU_DECLARE_SET(__memset_nram)
MLUOPS_EMU_DECLARE_SET(__memset_nram_async)
MLUOPS_EMU_DECLARE_SET(__nramset_async)
MLUOPS_EMU_DECLARE_SET(__sramset)
MLUOPS_EMU_DECLARE_SET(__sramset_async)
#undef MLUOPS_EMU_DECLARE_SET
template <class V>
void __nramset(void* dst, std::int64_t n, V value, std::int64_t stride, std::int64_t segments) {
  __memset_nram(dst, n, value, stride, segments);
}
template <class V>
void __nramset(void* dst, std::int64_t n, V value, std::int64_t stride1, std::int64_t segments1, std::int64_t stride2,
               std::int64_t segments2) {
  __memset_nram(dst, n, value, stride1, segments1, stride2, segments2);
}
/// An older fill of n lanes: a pointer that has a type says which lanes, of a void* the value does.
template <class T, class V>
void __nramset(T* dst, std::int64_t n, V value) {
  if constexpr (std::is_void_v<T>) {
    __memset_nram(dst, n, value);
  } else {
    __memset_nram(dst, n, static_cast<T>(value));
  }
}
// With the lanes' type in the name.
inline void __nramset_half(half* dst, std::int64_t n, half value) {
  __memset_nram(dst, n, value);
}
inline void __nramset_short(std::int16_t* dst, std::int64_t n, std::int16_t value) {
  __memset_nram(dst, n, value);
}
inline void __nramset_int(std::int32_t* dst, std::int64_t n, std::int32_t value) {
  __memset_nram(dst, n, value);
}
inline void __nramset_float(float* dst, std::int64_t n, float value) {
  __memset_nram(dst, n, value);
}
inline void __nramset_unsigned_short(std::uint16_t* dst, std::int64_t n, std::uint16_t value) {
  __memset_nram(dst, n, value);
}
inline void __nramset_unsigned_int(std::uint32_t* dst, std::int64_t n, std::uint32_t value) {
  __memset_nram(dst, n, value);
}
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
