// Who the task is; copies, barriers, atomics.
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "backends/mlu_emu/bang/bang.h"
#include "backends/mlu_emu/bang/copies.h"
#include "backends/mlu_emu/bang/lanes.h"
#include "backends/mlu_emu/device/core.h"

namespace mluops::emu::bang {
namespace {

struct Sides {
  Space to, from;
};

Sides sides_of(const char* word, mluMemcpyDirection_t direction) {
  switch (direction) {
    case GDRAM2NRAM:
      return {Space::kNram, Space::kGdram};
    case NRAM2GDRAM:
      return {Space::kGdram, Space::kNram};
    case NRAM2NRAM:
      return {Space::kNram, Space::kNram};
    case GDRAM2GDRAM:
      return {Space::kGdram, Space::kGdram};
    case GDRAM2SRAM:
      return {Space::kSram, Space::kGdram};
    case SRAM2GDRAM:
      return {Space::kGdram, Space::kSram};
    case NRAM2SRAM:
      return {Space::kSram, Space::kNram};
    case SRAM2NRAM:
      return {Space::kNram, Space::kSram};
    case SRAM2SRAM:
      return {Space::kSram, Space::kSram};
    case GDRAM2WRAM:
      return {Space::kWram, Space::kGdram};
    case WRAM2GDRAM:
      return {Space::kGdram, Space::kWram};
    case NRAM2WRAM:
      return {Space::kWram, Space::kNram};
    case WRAM2NRAM:
      return {Space::kNram, Space::kWram};
    case SRAM2WRAM:
      return {Space::kWram, Space::kSram};
    case WRAM2SRAM:
      return {Space::kSram, Space::kWram};
    default:
      Core::current().fault(word, "unknown direction " + std::to_string(static_cast<int>(direction)));
  }
}

/// WRAM's lanes lie one behind the other; a plain copy gives each of them, or takes from it, as many bytes.
Copy plain_copy(const char* word, void* dst, const void* src, std::int64_t bytes, mluMemcpyDirection_t direction) {
  Copy c = make_copy(word, dst, src, bytes, direction);
  if (c.to != Space::kWram && c.from != Space::kWram) return c;
  Core& core = Core::current();
  const std::int64_t lanes = core.launch().settings.arch.wram_lanes();
  const std::string rule =
      "a plain copy from or to WRAM needs as many bytes for each of its " + std::to_string(lanes) + " lanes";
  core.require(bytes % lanes == 0, word, rule.c_str());
  c.pieces = lanes;
  c.bytes = c.dst_stride = c.src_stride = bytes / lanes;
  (c.to == Space::kWram ? c.dst_stride : c.src_stride) = core.memory(Space::kWram).bytes() / lanes;
  return c;
}

Copy make_copy(const char* word, void* dst, const void* src, std::int64_t bytes, mluMemcpyDirection_t direction,
               std::int64_t dst_stride, std::int64_t src_stride, std::int64_t segments) {
  Copy c = make_copy(word, dst, src, bytes, direction);
  c.pieces = segments + 1;
  c.dst_stride = dst_stride;
  c.src_stride = src_stride;
  return c;
}

/// One side of a copy of two nested rows of pieces.
struct Nest {
  std::int64_t stride1, segments1, stride2, segments2;

  std::int64_t pieces() const { return (segments1 + 1) * (segments2 + 1); }
  std::int64_t offset(std::int64_t piece) const {
    return piece % (segments1 + 1) * stride1 + piece / (segments1 + 1) * stride2;
  }
  bool sensible() const {
    constexpr std::int64_t kLargest = std::numeric_limits<std::int32_t>::max();
    for (const std::int64_t count : {segments1, segments2}) {
      if (count < 0 || count >= kLargest) return false;
    }
    if (!fits_32_bits(stride1) || !fits_32_bits(stride2)) return false;
    return pieces() <= kLargest;
  }
};

Copy make_copy(const char* word, void* dst, const void* src, std::int64_t bytes, mluMemcpyDirection_t direction,
               const Nest& to, const Nest& from) {
  if (!to.sensible() || !from.sensible() || to.pieces() != from.pieces()) {
    Core::current().fault(word, "both sides must have as many pieces, fewer than 2^31, and strides of 32 bits");
  }
  std::vector<Piece> list;
  list.reserve(static_cast<std::size_t>(to.pieces()));
  for (std::int64_t i = 0; i < to.pieces(); ++i) {
    list.push_back({static_cast<char*>(dst) + to.offset(i), static_cast<const char*>(src) + from.offset(i)});
  }
  return make_copy(word, std::move(list), bytes, direction);
}

}  // namespace

Copy make_copy(const char* word, void* dst, const void* src, std::int64_t bytes, mluMemcpyDirection_t direction) {
  const auto [to, from] = sides_of(word, direction);
  return {word, to, from, static_cast<char*>(dst), static_cast<const char*>(src), bytes};
}

Copy make_copy(const char* word, std::vector<Piece> list, std::int64_t bytes, mluMemcpyDirection_t direction) {
  Copy c = make_copy(word, nullptr, nullptr, bytes, direction);
  c.pieces = static_cast<std::int64_t>(list.size());
  c.list = std::make_shared<const std::vector<Piece>>(std::move(list));
  return c;
}

const TaskBuiltins& task_builtins() {
  return Core::current().task();
}
char* nram_buffer() {
  return Core::current().nram().base();
}
std::int64_t nram_bytes() {
  return Core::current().nram().bytes();
}

void __memcpy(void* dst, const void* src, std::int64_t bytes, mluMemcpyDirection_t direction) {
  Core::current().copy(plain_copy(__func__, dst, src, bytes, direction));
}
void __memcpy(void* dst, const void* src, std::int64_t bytes, mluMemcpyDirection_t direction, std::int64_t dst_stride,
              std::int64_t src_stride, std::int64_t segments) {
  Core::current().copy(make_copy(__func__, dst, src, bytes, direction, dst_stride, src_stride, segments));
}
void __memcpy(void* dst, const void* src, std::int64_t bytes, mluMemcpyDirection_t direction, std::int64_t dst_stride1,
              std::int64_t dst_segments1, std::int64_t dst_stride2, std::int64_t dst_segments2,
              std::int64_t src_stride1, std::int64_t src_segments1, std::int64_t src_stride2,
              std::int64_t src_segments2) {
  Core::current().copy(make_copy(__func__, dst, src, bytes, direction,
                                 {dst_stride1, dst_segments1, dst_stride2, dst_segments2},
                                 {src_stride1, src_segments1, src_stride2, src_segments2}));
}

void __memcpy_async(void* dst, const void* src, std::int64_t bytes, mluMemcpyDirection_t direction) {
  Core::current().copy_async(plain_copy(__func__, dst, src, bytes, direction));
}
void __memcpy_async(void* dst, const void* src, std::int64_t bytes, mluMemcpyDirection_t direction,
                    std::int64_t dst_stride, std::int64_t src_stride, std::int64_t segments) {
  Core::current().copy_async(make_copy(__func__, dst, src, bytes, direction, dst_stride, src_stride, segments));
}

void __memcpy_async(void* dst, const void* src, std::int64_t bytes, mluMemcpyDirection_t direction,
                    std::int64_t dst_stride1, std::int64_t dst_segments1, std::int64_t dst_stride2,
                    std::int64_t dst_segments2, std::int64_t src_stride1, std::int64_t src_segments1,
                    std::int64_t src_stride2, std::int64_t src_segments2) {
  Core::current().copy_async(make_copy(__func__, dst, src, bytes, direction,
                                       {dst_stride1, dst_segments1, dst_stride2, dst_segments2},
                                       {src_stride1, src_segments1, src_stride2, src_segments2}));
}

void __sync_io() {
  Core::current().wait(Engine::kIo);
}
void __sync_move() {
  Core::current().wait(Engine::kMove);
}
/// Copies within NRAM, too, are complete behind this one.
void __sync_compute() {
  Core::current().wait(Engine::kVector);
  __sync_move();
}
void __sync_io_move_compute() {
  __sync_io();
  __sync_move();
  __sync_compute();
}
void __sync() {
  __sync_io_move_compute();
}
void __sync_io_move_compute(bool io, bool move, bool compute, bool, bool, bool) {
  if (__is_mpu()) return __sync();
  if (io) __sync_io();
  if (move) __sync_move();
  if (compute) __sync_compute();
}

bool __is_mpu() {
  return Core::current().task().memory_core;
}
bool __is_ipu() {
  return !__is_mpu();
}
void __sync_cluster() {
  Core::current().arrive(__func__, Barrier::kCluster);
}
void __sync_all_ipu_within_cluster() {
  Core::current().arrive(__func__, Barrier::kClusterCores);
}
void __sync_all() {
  Core::current().arrive(__func__, Barrier::kAll);
}
void __sync_all_ipu() {
  Core::current().arrive(__func__, Barrier::kAllCores);
}

namespace {

template <class T, class F>
void atomic(const char* word, T* gdram, const T* nram, std::int64_t n, F combine) {
  const std::int64_t bytes = bytes_of_lanes<T>(n);
  Core& core = Core::current();
  core.stored_source(word, "source", nram, bytes);
  core.atomic(word, gdram, bytes, [&] { map(gdram, gdram, nram, n, combine); });
}

constexpr auto kSum = [](auto a, auto b) { return a + b; };

}  // namespace

template <class T>
void __bang_atomic_reduce_add(T* gdram, const T* nram, std::int64_t n) {
  atomic(__func__, gdram, nram, n, kSum);
}
template <class T>
void __bang_atomic_add(T* dst, T* gdram, const T* nram, std::int64_t n) {
  const std::int64_t bytes = bytes_of_lanes<T>(n);
  Core& core = Core::current();
  core.stored_source(__func__, "source", nram, bytes);
  core.destination(__func__, "destination", dst, bytes);
  core.atomic(__func__, gdram, bytes, [&] {
    for (std::int64_t i = 0; i < n; ++i) {
      const T before = gdram[i];
      gdram[i] = static_cast<T>(before + nram[i]);
      dst[i] = before;
    }
  });
}
template <class T>
void __bang_atomic_reduce_max(T* gdram, const T* nram, std::int64_t n) {
  atomic(__func__, gdram, nram, n, [](auto a, auto b) { return a < b ? b : a; });
}
template <class T>
void __bang_atomic_reduce_min(T* gdram, const T* nram, std::int64_t n) {
  atomic(__func__, gdram, nram, n, [](auto a, auto b) { return b < a ? b : a; });
}
template <class T>
void __bang_atomic_reduce_add(T* gdram, const T* nram, std::int64_t n, std::int64_t segments1, std::int64_t segments2,
                              std::int64_t dst_stride1, std::int64_t dst_stride2, std::int64_t src_stride1,
                              std::int64_t src_stride2) {
  const Nest to{dst_stride1, segments1, dst_stride2, segments2}, from{src_stride1, segments1, src_stride2, segments2};
  Core::current().require(to.sensible(), __func__,
                          "the number of pieces must lie in [1, 2^31), strides must fit 32 bits");
  for (std::int64_t i = 0; i < to.pieces(); ++i) {
    atomic(__func__, reinterpret_cast<T*>(reinterpret_cast<char*>(gdram) + to.offset(i)),
           reinterpret_cast<const T*>(reinterpret_cast<const char*>(nram) + from.offset(i)), n, kSum);
  }
}
template <class T, class>
void __bang_atomic_reduce_add(T* gdram, T value) {
  Core::current().atomic(__func__, gdram, sizeof(T), [&] { *gdram = static_cast<T>(*gdram + value); });
}
template <class T>
void __bang_atomic_reduce_add(T* gdram, ValueOf<T> value, std::int64_t n) {
  Core::current().atomic(__func__, gdram, bytes_of_lanes<T>(n), [&] {
    for (std::int64_t i = 0; i < n; ++i) gdram[i] = static_cast<T>(gdram[i] + value);
  });
}
#define ATOMIC(T)                                                                                              \
  template void __bang_atomic_add(T*, T*, const T*, std::int64_t);                                             \
  template void __bang_atomic_reduce_add(T*, const T*, std::int64_t);                                          \
  template void __bang_atomic_reduce_max(T*, const T*, std::int64_t);                                          \
  template void __bang_atomic_reduce_min(T*, const T*, std::int64_t);                                          \
  template void __bang_atomic_reduce_add(T*, const T*, std::int64_t, std::int64_t, std::int64_t, std::int64_t, \
                                         std::int64_t, std::int64_t, std::int64_t);                            \
  template void __bang_atomic_reduce_add(T*, T)
#define ATOMIC_VALUE(T) template void __bang_atomic_reduce_add(T*, ValueOf<T>, std::int64_t)
ATOMIC_VALUE(half);
ATOMIC_VALUE(bfloat16_t);
ATOMIC_VALUE(float);
ATOMIC_VALUE(std::int32_t);
ATOMIC_VALUE(std::uint32_t);
ATOMIC(half);
ATOMIC(bfloat16_t);
ATOMIC(float);
ATOMIC(std::int32_t);
ATOMIC(std::uint32_t);

}  // namespace mluops::emu::bang
