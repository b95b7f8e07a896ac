// Who the task is; copies, barriers, atomics.
#include "backends/mlu_emu/bang/bang.h"
#include "backends/mlu_emu/bang/lanes.h"
#include "backends/mlu_emu/device/core.h"

namespace mluops::emu::bang {
namespace {

Copy make_copy(const char* word, void* dst, const void* src, std::int64_t bytes, mluMemcpyDirection_t direction) {
  const bool to_nram = direction == GDRAM2NRAM || direction == NRAM2NRAM;
  const bool from_nram = direction == NRAM2GDRAM || direction == NRAM2NRAM;
  return {word,
          to_nram ? Space::kNram : Space::kGdram,
          from_nram ? Space::kNram : Space::kGdram,
          static_cast<char*>(dst),
          static_cast<const char*>(src),
          bytes};
}

Copy make_copy(const char* word, void* dst, const void* src, std::int64_t bytes, mluMemcpyDirection_t direction,
               std::int64_t dst_stride, std::int64_t src_stride, std::int64_t segments) {
  Copy c = make_copy(word, dst, src, bytes, direction);
  c.pieces = segments + 1;
  c.dst_stride = dst_stride;
  c.src_stride = src_stride;
  return c;
}

}  // namespace

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
  Core::current().copy(make_copy(__func__, dst, src, bytes, direction));
}
void __memcpy(void* dst, const void* src, std::int64_t bytes, mluMemcpyDirection_t direction, std::int64_t dst_stride,
              std::int64_t src_stride, std::int64_t segments) {
  Core::current().copy(make_copy(__func__, dst, src, bytes, direction, dst_stride, src_stride, segments));
}
void __memcpy_async(void* dst, const void* src, std::int64_t bytes, mluMemcpyDirection_t direction) {
  Core::current().copy_async(make_copy(__func__, dst, src, bytes, direction));
}
void __memcpy_async(void* dst, const void* src, std::int64_t bytes, mluMemcpyDirection_t direction,
                    std::int64_t dst_stride, std::int64_t src_stride, std::int64_t segments) {
  Core::current().copy_async(make_copy(__func__, dst, src, bytes, direction, dst_stride, src_stride, segments));
}

void __sync_io() {
  Core::current().wait(Engine::kIo);
}
void __sync_move() {
  Core::current().wait(Engine::kMove);
}
void __sync_compute() {
  Core::current().wait(Engine::kVector);
}
void __sync_io_move_compute() {
  __sync_io();
  __sync_move();
  __sync_compute();
}
void __sync() {
  __sync_io_move_compute();
}

template <class T>
void __bang_atomic_reduce_add(T* gdram, const T* nram, std::int64_t n) {
  const std::int64_t bytes = bytes_of_lanes<T>(n);
  Core& core = Core::current();
  core.unaligned_source(__func__, "source", nram, bytes);
  core.atomic(__func__, gdram, bytes, [&] { map(gdram, gdram, nram, n, [](auto a, auto b) { return a + b; }); });
}
template <class T, class>
void __bang_atomic_reduce_add(T* gdram, T value) {
  Core::current().atomic(__func__, gdram, sizeof(T), [&] { *gdram = static_cast<T>(*gdram + value); });
}
#define ATOMIC(T)                                                     \
  template void __bang_atomic_reduce_add(T*, const T*, std::int64_t); \
  template void __bang_atomic_reduce_add(T*, T)
ATOMIC(half);
ATOMIC(float);
ATOMIC(std::int32_t);

}  // namespace mluops::emu::bang
