// Who the task is; copies, barriers.
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "backends/mlu_emu/bang/bang.h"
#include "backends/mlu_emu/bang/copies.h"
#include "backends/mlu_emu/bang/nest.h"
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
    case LDRAM2NRAM:
      return {Space::kNram, Space::kLdram};
    case NRAM2LDRAM:
      return {Space::kLdram, Space::kNram};
    case LDRAM2GDRAM:
      return {Space::kGdram, Space::kLdram};
    case GDRAM2LDRAM:
      return {Space::kLdram, Space::kGdram};
    case LDRAM2SRAM:
      return {Space::kSram, Space::kLdram};
    case SRAM2LDRAM:
      return {Space::kLdram, Space::kSram};
    case LDRAM2WRAM:
      return {Space::kWram, Space::kLdram};
    case WRAM2LDRAM:
      return {Space::kLdram, Space::kWram};
    case LDRAM2LDRAM:
      return {Space::kLdram, Space::kLdram};
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

namespace {

Copy to_cluster(Copy c, int cluster) {
  Core::current().require(c.within(Space::kSram, Space::kSram), c.word, "only SRAM2SRAM goes to another cluster");
  c.dst_cluster = cluster;
  return c;
}

}  // namespace

void __memcpy(void* dst, const void* src, std::int64_t bytes, mluMemcpyDirection_t direction, int dst_cluster) {
  Core::current().copy(to_cluster(make_copy(__func__, dst, src, bytes, direction), dst_cluster));
}
void __memcpy(void* dst, const void* src, std::int64_t bytes, mluMemcpyDirection_t direction, std::int64_t dst_stride,
              std::int64_t src_stride, std::int64_t segments, int dst_cluster) {
  Core::current().copy(
      to_cluster(make_copy(__func__, dst, src, bytes, direction, dst_stride, src_stride, segments), dst_cluster));
}
void __memcpy(void* dst, const void* src, std::int64_t bytes, mluMemcpyDirection_t direction, std::int64_t dst_stride1,
              std::int64_t dst_segments1, std::int64_t dst_stride2, std::int64_t dst_segments2,
              std::int64_t src_stride1, std::int64_t src_segments1, std::int64_t src_stride2,
              std::int64_t src_segments2, int dst_cluster) {
  Core::current().copy(to_cluster(
      make_copy(__func__, dst, src, bytes, direction, {dst_stride1, dst_segments1, dst_stride2, dst_segments2},
                {src_stride1, src_segments1, src_stride2, src_segments2}),
      dst_cluster));
}
void __memcpy_async(void* dst, const void* src, std::int64_t bytes, mluMemcpyDirection_t direction,
                    std::int64_t dst_stride1, std::int64_t dst_segments1, std::int64_t dst_stride2,
                    std::int64_t dst_segments2, std::int64_t src_stride1, std::int64_t src_segments1,
                    std::int64_t src_stride2, std::int64_t src_segments2, int dst_cluster) {
  Core::current().copy_async(to_cluster(
      make_copy(__func__, dst, src, bytes, direction, {dst_stride1, dst_segments1, dst_stride2, dst_segments2},
                {src_stride1, src_segments1, src_stride2, src_segments2}),
      dst_cluster));
}
void __memcpy_async(void* dst, const void* src, std::int64_t bytes, mluMemcpyDirection_t direction, int dst_cluster) {
  Core::current().copy_async(to_cluster(make_copy(__func__, dst, src, bytes, direction), dst_cluster));
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
void __sync_all_mpu() {
  if (__is_mpu()) Core::current().arrive(__func__, Barrier::kMemoryCores);
}
void __sync_all_arrive(int id, int) {
  Core::current().come_by(__func__, {id, false});
}
void __sync_cluster_arrive(int id, int) {
  Core::current().come_by(__func__, {id, true});
}
void __sync_all_wait(int id, int count) {
  Core::current().wait_for(__func__, {id, false}, count);
}
void __sync_cluster_wait(int id, int count) {
  Core::current().wait_for(__func__, {id, true}, count);
}

}  // namespace mluops::emu::bang
