// Words that move memory in other ways than __memcpy: gathers, fills of GDRAM, queued fills, single numbers.
#include <string>
#include <utility>
#include <vector>

#include "backends/mlu_emu/bang/copies.h"
#include "backends/mlu_emu/bang/lanes.h"
#include "backends/mlu_emu/device/core.h"

namespace mluops::emu::bang {
namespace {

template <class T>
std::string bytes_of(T value) {
  return {reinterpret_cast<const char*>(&value), sizeof(value)};
}

/// Addresses at base + offset[i] and at dense + i * stride, for the pieces the mask allows.
struct Scattered {
  const char* word;
  const void *base, *dense;
  const std::uint32_t* offset;
  const void* mask;
  std::int64_t stride, n;

  std::vector<Piece> list(bool gather) const {
    constexpr int kByte = 8;
    Core& core = Core::current();
    core.require(n >= 0 && fits_32_bits(n), word, "the number of pieces must lie in [0, 2^31)");
    core.require(fits_32_bits(stride), word, "the stride must fit 32 bits");
    if (core.task().memory_core) return {};
    core.stored_source(word, "offset", offset, bytes_of_lanes<std::uint32_t>(n));
    if (mask != nullptr) core.stored_source(word, "mask", mask, (n + kByte - 1) / kByte);
    const auto* bits = static_cast<const std::uint8_t*>(mask);
    std::vector<Piece> pieces;
    for (std::int64_t i = 0; i < n; ++i) {
      if (bits != nullptr && ((bits[i / kByte] >> (i % kByte)) & 1) == 0) continue;
      const char* there = static_cast<const char*>(base) + offset[i];
      const char* here = static_cast<const char*>(dense) + i * stride;
      pieces.push_back(gather ? Piece{const_cast<char*>(here), there} : Piece{const_cast<char*>(there), here});
    }
    return pieces;
  }
};

}  // namespace

#define GATHER(name, copy, gather)                                                                         \
  void name(void* dst, const void* src, const std::uint32_t* offset, const void* mask, std::int64_t bytes, \
            mluMemcpyDirection_t direction, std::int64_t stride, std::int64_t n) {                         \
    const Scattered s{#name, (gather) ? src : dst, (gather) ? dst : src, offset, mask, stride, n};         \
    Core::current().copy(make_copy(#name, s.list(gather), bytes, direction));                              \
  }                                                                                                        \
  void name(void* dst, const void* src, const std::uint32_t* offset, std::int64_t bytes,                   \
            mluMemcpyDirection_t direction, std::int64_t stride, std::int64_t n) {                         \
    name(dst, src, offset, nullptr, bytes, direction, stride, n);                                          \
  }
GATHER(__gather, copy, true)
GATHER(__gather_async, copy_async, true)
GATHER(__scatter, copy, false)
GATHER(__scatter_async, copy_async, false)
#undef GATHER

void __bang_gather_async(void* dst, const void* base, const std::uint32_t* offset, const void* mask, std::int64_t bytes,
                         std::int64_t dst_stride, std::int64_t n) {
  const Scattered s{__func__, base, dst, offset, mask, dst_stride, n};
  Core::current().copy_async(make_copy(__func__, s.list(true), bytes, GDRAM2NRAM));
}

void __extension(void* dst, const void* src, const std::uint8_t* times, std::int64_t bytes,
                 mluMemcpyDirection_t direction, std::int64_t n) {
  Core& core = Core::current();
  if (core.task().memory_core) return;
  core.stored_source(__func__, "number of copies", times, n);
  std::vector<Piece> list;
  char* to = static_cast<char*>(dst);
  for (std::int64_t i = 0; i < n; ++i) {
    for (int k = 0; k < times[i]; ++k, to += bytes) list.push_back({to, static_cast<const char*>(src) + i * bytes});
  }
  core.copy(make_copy(__func__, std::move(list), bytes, direction));
}

template <class T>
void __gdramset(T* dst, std::int64_t n, ValueOf<T> value) {
  Copy c = make_copy(__func__, dst, nullptr, bytes_of_lanes<T>(n), NRAM2GDRAM);
  c.pattern = bytes_of(value);
  Core::current().copy(c);
}

template <class V>
void __sramset(void* dst, std::int64_t n, V value) {
  Copy c = make_copy(__func__, dst, nullptr, bytes_of_lanes<V>(n), NRAM2SRAM);
  c.pattern = bytes_of(value);
  Core::current().copy(c);
}

template <class T>
void __nramset_async(T* dst, std::int64_t n, ValueOf<T> value, std::int64_t stride, std::int64_t segments) {
  Copy c = make_copy(__func__, dst, nullptr, bytes_of_lanes<T>(n), NRAM2NRAM);
  c.pieces = segments + 1;
  c.dst_stride = stride;
  c.pattern = bytes_of(value);
  Core::current().copy_async(c);
}

void not_modelled(const char* word) {
  Core::current().fault(word, "this word is not modelled");
}

bool __is_dram(const void* address) {
  return Core::current().in_gdram(address);
}

#define LOAD_STORE(name, space)                                               \
  template <class T>                                                          \
  T __load_##name(const T* address) {                                         \
    Core::current().scalar_load(__func__, Space::space, address, sizeof(T));  \
    return *address;                                                          \
  }                                                                           \
  template <class T>                                                          \
  void __store_##name(T* address, ValueOf<T> value) {                         \
    Core::current().scalar_store(__func__, Space::space, address, sizeof(T)); \
    *address = value;                                                         \
  }
LOAD_STORE(gdram, kGdram)
LOAD_STORE(sram, kSram)
LOAD_STORE(nram, kNram)

#define OF_SPACE(name, T)             \
  template T __load_##name(const T*); \
  template void __store_##name(T*, ValueOf<T>)
#define SCATTERED(T)                                                                       \
  template void __gdramset(T*, std::int64_t, ValueOf<T>);                                  \
  template void __sramset(void*, std::int64_t, T);                                         \
  template void __nramset_async(T*, std::int64_t, ValueOf<T>, std::int64_t, std::int64_t); \
  OF_SPACE(gdram, T);                                                                      \
  OF_SPACE(sram, T);                                                                       \
  OF_SPACE(nram, T)
SCATTERED(half);
SCATTERED(bfloat16_t);
SCATTERED(float);
SCATTERED(double);
SCATTERED(std::int8_t);
SCATTERED(std::uint8_t);
SCATTERED(std::int16_t);
SCATTERED(std::uint16_t);
SCATTERED(std::int32_t);
SCATTERED(std::uint32_t);
SCATTERED(std::int64_t);
SCATTERED(std::uint64_t);

}  // namespace mluops::emu::bang
