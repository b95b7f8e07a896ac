// Words that move memory in other ways than __memcpy: gathers, fills of GDRAM, queued fills, single numbers.
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "backends/mlu_emu/bang/copies.h"
#include "backends/mlu_emu/bang/lanes.h"
#include "backends/mlu_emu/bang/nest.h"
#include "backends/mlu_emu/device/core.h"

namespace mluops::emu::bang {
namespace {

template <class T>
std::string bytes_of(T value) {
  return {reinterpret_cast<const char*>(&value), sizeof(value)};
}

/// Addresses at base + offset[i] and at dense + i * stride, for the pieces the mask allows.
template <class O>
struct Scattered {
  const char* word;
  const void *base, *dense;
  const O* offset;
  const void* mask;
  std::int64_t stride, n;

  /// The engine that does it reads offsets and mask, behind what is queued on it.
  std::vector<Piece> list(bool gather, Engine engine, bool queued) const {
    constexpr int kByte = 8;
    Core& core = Core::current();
    if (core.task().memory_core) return {};
    const Core::InOrder order(core, engine, queued);
    core.require(n >= 0 && fits_32_bits(n), word, "the number of pieces must lie in [0, 2^31)");
    core.require(fits_32_bits(stride), word, "the stride must fit 32 bits");
    core.stored_source(word, "offset", offset, bytes_of_lanes<O>(n));
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

/// The engine of pieces that go that way.
Engine engine_of(const char* word, mluMemcpyDirection_t direction) {
  return make_copy(word, std::vector<Piece>(), 0, direction).engine();
}

}  // namespace

#define PIECES_OF(name, O)                                                                                          \
  template void name(void*, const void*, const O*, std::int64_t, mluMemcpyDirection_t, std::int64_t, std::int64_t); \
  template void name(void*, const void*, const O*, const void*, std::int64_t, mluMemcpyDirection_t, std::int64_t,   \
                     std::int64_t);
#define PIECES(name, copy, gather, queued)                                                                         \
  template <class O>                                                                                               \
  void name(void* dst, const void* src, const O* offset, const void* mask, std::int64_t bytes,                     \
            mluMemcpyDirection_t direction, std::int64_t stride, std::int64_t n) {                                 \
    const Scattered<O> s{#name, (gather) ? src : dst, (gather) ? dst : src, offset, mask, stride, n};              \
    Core::current().copy(make_copy(#name, s.list(gather, engine_of(#name, direction), queued), bytes, direction)); \
  }                                                                                                                \
  template <class O>                                                                                               \
  void name(void* dst, const void* src, const O* offset, std::int64_t bytes, mluMemcpyDirection_t direction,       \
            std::int64_t stride, std::int64_t n) {                                                                 \
    name(dst, src, offset, static_cast<const void*>(nullptr), bytes, direction, stride, n);                        \
  }                                                                                                                \
  PIECES_OF(name, std::uint8_t)                                                                                    \
  PIECES_OF(name, std::uint16_t)                                                                                   \
  PIECES_OF(name, std::uint32_t)
PIECES(__gather, copy, true, false)
PIECES(__gather_async, copy_async, true, true)
PIECES(__scatter, copy, false, false)
PIECES(__scatter_async, copy_async, false, true)
#undef PIECES

void __bang_gather_async(void* dst, const void* base, const std::uint32_t* offset, const void* mask, std::int64_t bytes,
                         std::int64_t dst_stride, std::int64_t n) {
  const Scattered<std::uint32_t> s{__func__, base, dst, offset, mask, dst_stride, n};
  Core::current().copy_async(make_copy(__func__, s.list(true, Engine::kIo, true), bytes, GDRAM2NRAM));
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

namespace {

template <class V>
using Lane = std::conditional_t<std::is_same_v<V, double>, float, V>;

/// Rows of n lanes of a value.
template <class V>
Copy filled(const char* name, void* dst, std::int64_t n, V value, mluMemcpyDirection_t direction,
            std::int64_t stride = 0, std::int64_t segments = 0) {
  Copy c = make_copy(name, dst, nullptr, bytes_of_lanes<Lane<V>>(n), direction);
  c.pieces = segments + 1;
  c.dst_stride = stride;
  c.pattern = bytes_of(static_cast<Lane<V>>(value));
  return c;
}

/// Nested rows, one fill for each of the outer ones.
template <class V, class Do>
void fill_nested(const char* name, void* dst, std::int64_t n, V value, mluMemcpyDirection_t direction, const Nest& rows,
                 Do&& run) {
  Core::current().require(rows.sensible(), name,
                          "the number of pieces must lie in [1, 2^31), strides must fit 32 bits");
  for (std::int64_t i = 0; i <= rows.segments2; ++i) {
    run(filled(name, static_cast<char*>(dst) + i * rows.stride2, n, value, direction, rows.stride1, rows.segments1));
  }
}

}  // namespace

#define SET(name, direction, act)                                                                                   \
  template <class V>                                                                                                \
  void name(void* dst, std::int64_t n, V value) {                                                                   \
    Core::current().act(filled(#name, dst, n, value, direction));                                                   \
  }                                                                                                                 \
  template <class V>                                                                                                \
  void name(void* dst, std::int64_t n, V value, std::int64_t stride, std::int64_t segments) {                       \
    Core::current().act(filled(#name, dst, n, value, direction, stride, segments));                                 \
  }                                                                                                                 \
  template <class V>                                                                                                \
  void name(void* dst, std::int64_t n, V value, std::int64_t stride1, std::int64_t segments1, std::int64_t stride2, \
            std::int64_t segments2) {                                                                               \
    fill_nested(#name, dst, n, value, direction, {stride1, segments1, stride2, segments2},                          \
                [](const Copy& c) { Core::current().act(c); });                                                     \
  }
SET(__gdramset, NRAM2GDRAM, copy)
SET(__ldramset, NRAM2LDRAM, copy)
SET(__memset_nram, NRAM2NRAM, copy)
SET(__memset_nram_async, NRAM2NRAM, copy_async)
SET(__nramset_async, NRAM2NRAM, copy_async)
SET(__sramset, NRAM2SRAM, copy)
SET(__sramset_async, NRAM2SRAM, copy_async)
#undef SET

void not_modelled(const char* word) {
  Core::current().fault(word, "this builtin is not modelled");
}

bool __is_dram(const void* address) {
  return Core::current().in_gdram(address);
}
bool __is_nram(const void* address) {
  return Core::current().in(Space::kNram, address);
}
bool __is_wram(const void* address) {
  return Core::current().in(Space::kWram, address);
}
bool __is_sram(const void* address) {
  return Core::current().in(Space::kSram, address);
}
bool __is_ldram(const void* address) {
  return !__is_dram(address) && !__is_nram(address) && !__is_wram(address) && !__is_sram(address);
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
using I = std::int64_t;
#define SET_OF(name, V)                  \
  template void name(void*, I, V);       \
  template void name(void*, I, V, I, I); \
  template void name(void*, I, V, I, I, I, I)
#define SCATTERED(T)              \
  SET_OF(__gdramset, T);          \
  SET_OF(__ldramset, T);          \
  SET_OF(__memset_nram, T);       \
  SET_OF(__memset_nram_async, T); \
  SET_OF(__nramset_async, T);     \
  SET_OF(__sramset, T);           \
  SET_OF(__sramset_async, T);     \
  OF_SPACE(gdram, T);             \
  OF_SPACE(sram, T);              \
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
// Types of their own in C++, of the size of one above.
SCATTERED(bool);
SCATTERED(char);
using OtherLong = std::conditional_t<std::is_same_v<std::int64_t, long>, long long, long>;
SCATTERED(OtherLong);
SCATTERED(std::make_unsigned_t<OtherLong>);

}  // namespace mluops::emu::bang
