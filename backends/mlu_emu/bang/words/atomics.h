// Builtins of BANG C that change device memory in one step: each is a family of names, x types x with the old value or
// without x of vectors, one value or pieces. The ones with _async are queued on the device. Here they are done at
// once, and their operands are in use until a barrier.
// Counts are elements unless called bytes.
#pragma once

#include <cstdint>

#include "backends/mlu_emu/bang/words/lane_types.h"

namespace mluops::emu::bang {

/// While one exists, atomics are queued.
class QueuedAtomic {
 public:
  QueuedAtomic();
  ~QueuedAtomic();
  QueuedAtomic(const QueuedAtomic&) = delete;
  QueuedAtomic& operator=(const QueuedAtomic&) = delete;
};

// gdram[i] = f(gdram[i], operand[i]), each element at once, each result rounded in T; no alignment rules. The operand
// is a vector in NRAM or one value for all n elements. Without reduce_ what was there before goes to dst in NRAM, which
// may be the operand. The long forms take two nested rows of pieces of n elements: counts less 1, strides in bytes.
#define MLUOPS_EMU_ATOMIC_FORMS(name)                                                                          \
  template <class T>                                                                                           \
  void __bang_atomic_##name(T* dst, T* gdram, const T* nram, std::int64_t n);                                  \
  template <class T>                                                                                           \
  void __bang_atomic_##name(T* dst, T* gdram, ValueOf<T> value, std::int64_t n = 1);                           \
  template <class T>                                                                                           \
  void __bang_atomic_##name(T* dst, T* gdram, const T* nram, std::int64_t n, std::int64_t segments1,           \
                            std::int64_t segments2, std::int64_t dst_stride1, std::int64_t dst_stride2,        \
                            std::int64_t gdram_stride1, std::int64_t gdram_stride2, std::int64_t nram_stride1, \
                            std::int64_t nram_stride2);
#define MLUOPS_EMU_REDUCE_FORMS(name)                                                                                \
  template <class T>                                                                                                 \
  void __bang_atomic_##name(T* gdram, const T* nram, std::int64_t n);                                                \
  template <class T>                                                                                                 \
  void __bang_atomic_##name(T* gdram, ValueOf<T> value, std::int64_t n = 1);                                         \
  template <class T>                                                                                                 \
  void __bang_atomic_##name(T* gdram, const T* nram, std::int64_t n, std::int64_t segments1, std::int64_t segments2, \
                            std::int64_t gdram_stride1, std::int64_t gdram_stride2, std::int64_t nram_stride1,       \
                            std::int64_t nram_stride2);
// X(operation, its name with reduce_)
#define MLUOPS_EMU_ATOMIC_OPERATIONS(X) \
  X(add, reduce_add)                    \
  X(max, reduce_max)                    \
  X(min, reduce_min)                    \
  X(exch, reduce_exch)                  \
  X(and, reduce_and)                    \
  X(or, reduce_or)                      \
  X(xor, reduce_xor)                    \
  X(inc, reduce_inc)                    \
  X(dec, reduce_dec)                    \
  X(nan_max, nan_reduce_max)            \
  X(nan_min, nan_reduce_min)            \
  X(number_max, number_reduce_max)      \
  X(number_min, number_reduce_min)
#define MLUOPS_EMU_ASYNC(name)                                   \
  template <class T, class... Arguments>                         \
  void __bang_atomic_##name##_async(T* p, Arguments... others) { \
    const QueuedAtomic queued;                                   \
    __bang_atomic_##name(p, others...);                          \
  }
#define MLUOPS_EMU_DECLARE_ATOMIC(name, reduce) \
  MLUOPS_EMU_ATOMIC_FORMS(name)                 \
  MLUOPS_EMU_REDUCE_FORMS(reduce)               \
  MLUOPS_EMU_ASYNC(name)                        \
  MLUOPS_EMU_ASYNC(reduce)
/// gdram[i] = f(gdram[i], operand[i]) in one step: sum, larger (of a number and a NaN the number with number_, the NaN
/// with nan_), the operand, bits; inc counts up to the operand and starts again at 0, dec down from it.
MLUOPS_EMU_ATOMIC_OPERATIONS(MLUOPS_EMU_DECLARE_ATOMIC)
/// gdram[0] = value where it is `wanted`; what was there before goes to dst in NRAM.
template <class T>
void __bang_atomic_cas(T* dst, T* gdram, ValueOf<T> wanted, ValueOf<T> value);
template <class T>
void __bang_atomic_reduce_cas(T* gdram, ValueOf<T> wanted, ValueOf<T> value);
MLUOPS_EMU_ASYNC(cas)
MLUOPS_EMU_ASYNC(reduce_cas)

// Element i lies at base + offset[i] (bytes); with a mask only those whose bit is set change (bit i mod 8 of byte
// i / 8). All other operands lie in NRAM.
#define MLUOPS_EMU_DECLARE_DISCRETE(name, reduce)                                                             \
  template <class T, class O>                                                                                 \
  void __bang_discrete_atomic_##name(T* dst, const T* base, const O* offset, const T* nram, const void* mask, \
                                     std::int64_t n);                                                         \
  template <class T, class O>                                                                                 \
  void __bang_discrete_atomic_##name(T* dst, const T* base, const O* offset, const T* nram, std::int64_t n) { \
    __bang_discrete_atomic_##name(dst, base, offset, nram, nullptr, n);                                       \
  }
/// The same at scattered places; offsets are uint8, uint16 or uint32.
MLUOPS_EMU_ATOMIC_OPERATIONS(MLUOPS_EMU_DECLARE_DISCRETE)
template <class T, class O>
void __bang_discrete_atomic_cas(T* dst, const T* base, const O* offset, const T* wanted, const void* mask,
                                ValueOf<T> value, std::int64_t n);
template <class T, class O>
void __bang_discrete_atomic_cas(T* dst, const T* base, const O* offset, const T* wanted, ValueOf<T> value,
                                std::int64_t n) {
  __bang_discrete_atomic_cas(dst, base, offset, wanted, nullptr, value, n);
}

}  // namespace mluops::emu::bang
