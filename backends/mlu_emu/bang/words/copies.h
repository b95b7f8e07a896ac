// Words of BANG C: copies and barriers.
// Counts are elements unless called bytes.
#pragma once

#include <cstdint>

namespace mluops::emu::bang {

enum mluMemcpyDirection_t {
  GDRAM2NRAM,
  NRAM2GDRAM,
  NRAM2NRAM,
  GDRAM2GDRAM,
  GDRAM2SRAM,
  SRAM2GDRAM,
  NRAM2SRAM,
  SRAM2NRAM,
  SRAM2SRAM,
  GDRAM2WRAM,
  WRAM2GDRAM,
  NRAM2WRAM,
  WRAM2NRAM,
  SRAM2WRAM,
  WRAM2SRAM,
  LDRAM2NRAM,
  NRAM2LDRAM,
  LDRAM2GDRAM,
  GDRAM2LDRAM,
  LDRAM2SRAM,
  SRAM2LDRAM,
  LDRAM2WRAM,
  WRAM2LDRAM,
  LDRAM2LDRAM,
};

/// Copies, seen by everything after it. No alignment rules. NRAM2NRAM may overlap: memmove per segment.
void __memcpy(void* dst, const void* src, std::int64_t bytes, mluMemcpyDirection_t direction);
/// segments + 1 pieces of `bytes`, in ascending order; strides in bytes (32 bits on the device).
void __memcpy(void* dst, const void* src, std::int64_t bytes, mluMemcpyDirection_t direction, std::int64_t dst_stride,
              std::int64_t src_stride, std::int64_t segments);
/// Copies two nested rows of pieces: each side has its inner stride and count, then the outer ones (counts less 1).
void __memcpy(void* dst, const void* src, std::int64_t bytes, mluMemcpyDirection_t direction, std::int64_t dst_stride1,
              std::int64_t dst_segments1, std::int64_t dst_stride2, std::int64_t dst_segments2,
              std::int64_t src_stride1, std::int64_t src_segments1, std::int64_t src_stride2,
              std::int64_t src_segments2);
/// From this cluster's SRAM into that of another one.
void __memcpy(void* dst, const void* src, std::int64_t bytes, mluMemcpyDirection_t direction, int dst_cluster);
void __memcpy(void* dst, const void* src, std::int64_t bytes, mluMemcpyDirection_t direction, std::int64_t dst_stride,
              std::int64_t src_stride, std::int64_t segments, int dst_cluster);
void __memcpy(void* dst, const void* src, std::int64_t bytes, mluMemcpyDirection_t direction, std::int64_t dst_stride1,
              std::int64_t dst_segments1, std::int64_t dst_stride2, std::int64_t dst_segments2,
              std::int64_t src_stride1, std::int64_t src_segments1, std::int64_t src_stride2,
              std::int64_t src_segments2, int dst_cluster);
void __memcpy_async(void* dst, const void* src, std::int64_t bytes, mluMemcpyDirection_t direction, int dst_cluster);
void __memcpy_async(void* dst, const void* src, std::int64_t bytes, mluMemcpyDirection_t direction,
                    std::int64_t dst_stride1, std::int64_t dst_segments1, std::int64_t dst_stride2,
                    std::int64_t dst_segments2, std::int64_t src_stride1, std::int64_t src_segments1,
                    std::int64_t src_stride2, std::int64_t src_segments2, int dst_cluster);
/// An older copy within NRAM, of one piece or of as many as there are segments: they count from one here.
inline void __memcpy_nram_to_nram(void* dst, const void* src, std::int64_t bytes) {
  __memcpy(dst, src, bytes, NRAM2NRAM);
}
inline void __memcpy_nram_to_nram(void* dst, const void* src, std::int64_t bytes, std::int64_t dst_stride,
                                  std::int64_t src_stride, std::int64_t segments) {
  __memcpy(dst, src, bytes, NRAM2NRAM, dst_stride, src_stride, segments - 1);
}
/// Queues a copy: it happens at the next __sync(), __sync_io() (GDRAM), __sync_move() or __sync_compute() (NRAM2NRAM),
/// at a synchronous copy of its engine, or at the end of the task. Until then neither side may be touched, except by
/// later async copies of the same engine, which keep their order.
void __memcpy_async(void* dst, const void* src, std::int64_t bytes, mluMemcpyDirection_t direction);
void __memcpy_async(void* dst, const void* src, std::int64_t bytes, mluMemcpyDirection_t direction,
                    std::int64_t dst_stride, std::int64_t src_stride, std::int64_t segments);
void __memcpy_async(void* dst, const void* src, std::int64_t bytes, mluMemcpyDirection_t direction,
                    std::int64_t dst_stride1, std::int64_t dst_segments1, std::int64_t dst_stride2,
                    std::int64_t dst_segments2, std::int64_t src_stride1, std::int64_t src_segments1,
                    std::int64_t src_stride2, std::int64_t src_segments2);
/// Waits until the queued copies of this core are complete. A name with engines waits for the copies of those alone.
void __sync();
inline void __mlvm_sync() {
  __sync();
}
void __sync_io();
void __sync_move();
void __sync_compute();
void __sync_io_move_compute();
/// Waits for the engines whose flags are set. The first three flags are for the cores, the others for the memory core,
/// which waits for all of its engines here.
void __sync_io_move_compute(bool io, bool move, bool compute, bool memory_core_io, bool memory_core_move,
                            bool memory_core_compute);

/// This core is its cluster's memory core (is not): it serves SRAM, every other word passes it by.
bool __is_mpu();
bool __is_ipu();
/// Waits for the other cores of the cluster, its memory core included; of a BLOCK launch: for nobody.
void __sync_cluster();
/// Waits for the other cores of the cluster, not for its memory core.
void __sync_all_ipu_within_cluster();
/// Waits for the cores of all clusters that started together, with and without their memory cores, or for those alone.
void __sync_all();
void __sync_all_ipu();
void __sync_all_mpu();
/// Two halves of a barrier with a number: says that this core has come by, and waits until `count` cores have, those of
/// all clusters or of its own. Of the n-th wait with a number n * count cores.
void __sync_all_arrive(int id, int count);
void __sync_all_wait(int id, int count);
void __sync_cluster_arrive(int id, int count);
void __sync_cluster_wait(int id, int count);
/// No effect: cores run one at a time, and the translation of addresses is not modelled.
inline void __bang_lock(int, int) {}
inline void __bang_unlock(int, int) {}
inline void __prefetch_smmu(const void*, std::int64_t) {}
// Older names of barriers: each waits for the engine that copies in this direction, and one between two SRAMs for the
// other cores, too.
#define MLUOPS_EMU_IO_BARRIER(NAME) \
  inline void NAME() {              \
    __sync_io();                    \
  }
#define MLUOPS_EMU_MOVE_BARRIER(NAME) \
  inline void NAME() {                \
    __sync_move();                    \
  }
MLUOPS_EMU_IO_BARRIER(__sync_copy_dram_to_nram)
MLUOPS_EMU_IO_BARRIER(__sync_copy_nram_to_dram)
MLUOPS_EMU_IO_BARRIER(__sync_copy_dram_to_wram)
MLUOPS_EMU_IO_BARRIER(__sync_copy_wram_to_dram)
MLUOPS_EMU_IO_BARRIER(__sync_copy_dram_to_sram)
MLUOPS_EMU_IO_BARRIER(__sync_copy_sram_to_dram)
MLUOPS_EMU_MOVE_BARRIER(__sync_copy_nram_to_sram)
MLUOPS_EMU_MOVE_BARRIER(__sync_copy_sram_to_nram)
MLUOPS_EMU_MOVE_BARRIER(__sync_copy_wram_to_sram)
MLUOPS_EMU_MOVE_BARRIER(__sync_copy_sram_to_wram)
#undef MLUOPS_EMU_IO_BARRIER
#undef MLUOPS_EMU_MOVE_BARRIER
inline void __sync_copy_nram_to_nram() {
  __sync_compute();
}
inline void __sync_copy_sram_to_sram() {
  __sync_move();
  __sync_all();
}

}  // namespace mluops::emu::bang
