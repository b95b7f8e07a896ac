// Builtins that change device memory in one step.
#include <type_traits>

#include "backends/mlu_emu/bang/lanes.h"
#include "backends/mlu_emu/bang/nest.h"
#include "backends/mlu_emu/bang/saturation.h"
#include "backends/mlu_emu/bang/words.h"
#include "backends/mlu_emu/device/core.h"

namespace mluops::emu::bang {

QueuedAtomic::QueuedAtomic() {
  Core::current().queue_atomics(true);
}
QueuedAtomic::~QueuedAtomic() {
  Core::current().queue_atomics(false);
}

namespace {

// ---- what becomes of an element and its operand
// ----------------------------------------------------------------------

template <class T>
T wide_or_self(T x) {
  return x;
}
inline float wide_or_self(half x) {
  return x;
}
inline float wide_or_self(bfloat16_t x) {
  return x;
}

struct Add {
  template <class T>
  static T of(T old, T x) {
    if constexpr (std::is_integral_v<T>) {
      return static_cast<T>(static_cast<std::uint32_t>(old) + static_cast<std::uint32_t>(x));
    } else {
      return T(wide_or_self(old) + wide_or_self(x));
    }
  }
};
struct Max {
  template <class T>
  static T of(T old, T x) {
    return wide_or_self(old) < wide_or_self(x) ? x : old;
  }
};
struct Min {
  template <class T>
  static T of(T old, T x) {
    return wide_or_self(x) < wide_or_self(old) ? x : old;
  }
};
/// Given a number and a NaN: the number, or the NaN.
template <class Extreme, bool kNanWins>
struct WithNan {
  template <class T>
  static T of(T old, T x) {
    const bool old_is_nan = !(old == old), x_is_nan = !(x == x);
    if (old_is_nan || x_is_nan) return old_is_nan == kNanWins ? old : x;
    return Extreme::of(old, x);
  }
};
struct Exchange {
  template <class T>
  static T of(T, T x) {
    return x;
  }
};
struct And {
  template <class T>
  static T of(T old, T x) {
    return static_cast<T>(old & x);
  }
};
struct Or {
  template <class T>
  static T of(T old, T x) {
    return static_cast<T>(old | x);
  }
};
struct Xor {
  template <class T>
  static T of(T old, T x) {
    return static_cast<T>(old ^ x);
  }
};
struct Increment {
  template <class T>
  static T of(T old, T x) {
    return old >= x ? T(0) : static_cast<T>(old + 1);
  }
};
struct Decrement {
  template <class T>
  static T of(T old, T x) {
    return old == 0 || old > x ? x : static_cast<T>(old - 1);
  }
};

// By the names of the builtins.
using Of_add = Add;
using Of_max = Max;
using Of_min = Min;
using Of_exch = Exchange;
using Of_and = And;
using Of_or = Or;
using Of_xor = Xor;
using Of_inc = Increment;
using Of_dec = Decrement;
using Of_nan_max = WithNan<Max, true>;
using Of_nan_min = WithNan<Min, true>;
using Of_number_max = WithNan<Max, false>;
using Of_number_min = WithNan<Min, false>;

// ---- one use
// ---------------------------------------------------------------------------------------------------------

/// Both may be null.
struct InNram {
  void* old;
  const void* operand;
};

/// An atomic of this element and those operands is at work: the guide has all of them in the pipeline of copies to and
/// from device memory.
class Atomic {
 public:
  Atomic(const char* name, void* gdram, InNram nram, std::int64_t bytes)
      : name_(name),
        gdram_(static_cast<char*>(gdram)),
        nram_(nram),
        bytes_(bytes),
        order_(core_, Engine::kIo, core_.atomics_queued()) {}
  /// Behind the work: what a queued one uses until a barrier.
  void done() const {
    if (!core_.atomics_queued()) return;
    const auto* operand = static_cast<const char*>(nram_.operand);
    operand == nullptr ? core_.hold({name_, Space::kGdram, Space::kGdram, gdram_, gdram_, bytes_})
                       : core_.hold({name_, Space::kGdram, Space::kNram, gdram_, operand, bytes_});
    if (nram_.old == nullptr) return;
    core_.hold({name_, Space::kNram, Space::kGdram, static_cast<char*>(nram_.old), gdram_, bytes_});
  }

 private:
  Core& core_ = Core::current();
  const char* name_;
  char* gdram_;
  InNram nram_;
  std::int64_t bytes_;
  Core::InOrder order_;
};

/// n elements; `at(i)` is operand i, which may lie in NRAM. dst may be null.
template <class F, class T, class At>
void change(const char* name, T* dst, T* gdram, std::int64_t n, At at, const T* nram = nullptr) {
  Core& core = Core::current();
  const std::int64_t bytes = bytes_of_lanes<T>(n);
  const Atomic atomic(name, gdram, {dst, nram}, bytes);
  if (nram != nullptr) core.stored_source(name, "source", nram, bytes);
  const NonFinite rule = saturates_here() ? non_finite_of(name) : NonFinite::kStays;
  if (dst != nullptr) core.stored_destination(name, "destination", dst, bytes);
  core.atomic(name, gdram, bytes, [&] {
    for (std::int64_t i = 0; i < n; ++i) {
      const T old = gdram[i];
      gdram[i] = F::of(old, at(i));
      if (dst != nullptr) dst[i] = old;
      if constexpr (std::is_same_v<T, half> || std::is_same_v<T, float>) saturate(gdram + i, 1, rule);
    }
  });
  atomic.done();
}

template <class F, class T>
void by_vector(const char* name, T* dst, T* gdram, const T* nram, std::int64_t n) {
  change<F>(
      name, dst, gdram, n, [=](std::int64_t i) { return nram[i]; }, nram);
}

template <class F, class T>
void by_value(const char* name, T* dst, T* gdram, T value, std::int64_t n) {
  change<F>(name, dst, gdram, n, [=](std::int64_t) { return value; });
}

template <class T>
T* moved(T* p, std::int64_t bytes) {
  return p == nullptr ? nullptr : reinterpret_cast<T*>(reinterpret_cast<std::intptr_t>(p) + bytes);
}

template <class F, class T>
void by_pieces(const char* name, T* dst, T* gdram, const T* nram, std::int64_t n, const Nest& to, const Nest& at,
               const Nest& from) {
  Core::current().require(to.sensible() && at.sensible() && from.sensible(), name,
                          "the number of pieces must lie in [1, 2^31), strides must fit 32 bits");
  for (std::int64_t i = 0; i < at.pieces(); ++i) {
    by_vector<F>(name, moved(dst, to.offset(i)), moved(gdram, at.offset(i)), moved(nram, from.offset(i)), n);
  }
}

template <class F, class T, class O>
void discrete(const char* name, T* dst, const T* base, const O* offset, const T* nram, const void* mask,
              std::int64_t n) {
  constexpr int kByte = 8;
  Core& core = Core::current();
  const Core::InOrder order(core, Engine::kIo, false);
  core.stored_source(name, "offset", offset, bytes_of_lanes<O>(n));
  core.stored_source(name, "source", nram, bytes_of_lanes<T>(n));
  if (mask != nullptr) core.stored_source(name, "mask", mask, (n + kByte - 1) / kByte);
  const auto* bits = static_cast<const std::uint8_t*>(mask);
  for (std::int64_t i = 0; i < n; ++i) {
    if (bits != nullptr && ((bits[i / kByte] >> (i % kByte)) & 1) == 0) continue;
    by_value<F>(name, dst + i, moved(const_cast<T*>(base), static_cast<std::int64_t>(offset[i])), nram[i], 1);
  }
}

}  // namespace

#define WITH_OLD(name, operation)                                                                              \
  template <class T>                                                                                           \
  void __bang_atomic_##name(T* dst, T* gdram, const T* nram, std::int64_t n) {                                 \
    by_vector<operation>(__func__, dst, gdram, nram, n);                                                       \
  }                                                                                                            \
  template <class T>                                                                                           \
  void __bang_atomic_##name(T* dst, T* gdram, ValueOf<T> value, std::int64_t n) {                              \
    by_value<operation, T>(__func__, dst, gdram, value, n);                                                    \
  }                                                                                                            \
  template <class T>                                                                                           \
  void __bang_atomic_##name(T* dst, T* gdram, const T* nram, std::int64_t n, std::int64_t s1, std::int64_t s2, \
                            std::int64_t dst1, std::int64_t dst2, std::int64_t gdram1, std::int64_t gdram2,    \
                            std::int64_t nram1, std::int64_t nram2) {                                          \
    by_pieces<operation>(__func__, dst, gdram, nram, n, {dst1, s1, dst2, s2}, {gdram1, s1, gdram2, s2},        \
                         {nram1, s1, nram2, s2});                                                              \
  }
#define REDUCED(name, operation)                                                                                   \
  template <class T>                                                                                               \
  void __bang_atomic_##name(T* gdram, const T* nram, std::int64_t n) {                                             \
    by_vector<operation, T>(__func__, nullptr, gdram, nram, n);                                                    \
  }                                                                                                                \
  template <class T>                                                                                               \
  void __bang_atomic_##name(T* gdram, ValueOf<T> value, std::int64_t n) {                                          \
    by_value<operation, T>(__func__, nullptr, gdram, value, n);                                                    \
  }                                                                                                                \
  template <class T>                                                                                               \
  void __bang_atomic_##name(T* gdram, const T* nram, std::int64_t n, std::int64_t s1, std::int64_t s2,             \
                            std::int64_t gdram1, std::int64_t gdram2, std::int64_t nram1, std::int64_t nram2) {    \
    by_pieces<operation, T>(__func__, nullptr, gdram, nram, n, {gdram1, s1, gdram2, s2}, {gdram1, s1, gdram2, s2}, \
                            {nram1, s1, nram2, s2});                                                               \
  }
#define DISCRETE(name)                                                                                        \
  template <class T, class O>                                                                                 \
  void __bang_discrete_atomic_##name(T* dst, const T* base, const O* offset, const T* nram, const void* mask, \
                                     std::int64_t n) {                                                        \
    discrete<Of_##name>(__func__, dst, base, offset, nram, mask, n);                                          \
  }
#define DEFINE(name, reduce) \
  WITH_OLD(name, Of_##name)  \
  REDUCED(reduce, Of_##name) \
  DISCRETE(name)
MLUOPS_EMU_ATOMIC_OPERATIONS(DEFINE)

namespace {

template <class T>
void compare_and_swap(const char* name, T* dst, T* gdram, T wanted, T value) {
  Core& core = Core::current();
  const Atomic atomic(name, gdram, {dst, nullptr}, sizeof(T));
  if (dst != nullptr) core.stored_destination(name, "destination", dst, sizeof(T));
  core.atomic(name, gdram, sizeof(T), [&] {
    const T old = *gdram;
    if (old == wanted) *gdram = value;
    if (dst != nullptr) *dst = old;
  });
  atomic.done();
}

template <class T, class O>
void discrete_swap(const char* name, T* dst, const T* base, const O* offset, const T* wanted, const void* mask, T value,
                   std::int64_t n) {
  constexpr int kByte = 8;
  Core& core = Core::current();
  const Core::InOrder order(core, Engine::kIo, false);
  core.stored_source(name, "offset", offset, bytes_of_lanes<O>(n));
  core.stored_source(name, "source", wanted, bytes_of_lanes<T>(n));
  if (mask != nullptr) core.stored_source(name, "mask", mask, (n + kByte - 1) / kByte);
  const auto* bits = static_cast<const std::uint8_t*>(mask);
  for (std::int64_t i = 0; i < n; ++i) {
    if (bits != nullptr && ((bits[i / kByte] >> (i % kByte)) & 1) == 0) continue;
    compare_and_swap(name, dst + i, moved(const_cast<T*>(base), static_cast<std::int64_t>(offset[i])), wanted[i],
                     value);
  }
}

}  // namespace

template <class T>
void __bang_atomic_cas(T* dst, T* gdram, ValueOf<T> wanted, ValueOf<T> value) {
  compare_and_swap<T>(__func__, dst, gdram, wanted, value);
}
template <class T>
void __bang_atomic_reduce_cas(T* gdram, ValueOf<T> wanted, ValueOf<T> value) {
  compare_and_swap<T>(__func__, nullptr, gdram, wanted, value);
}
template <class T, class O>
void __bang_discrete_atomic_cas(T* dst, const T* base, const O* offset, const T* wanted, const void* mask,
                                ValueOf<T> value, std::int64_t n) {
  discrete_swap<T, O>(__func__, dst, base, offset, wanted, mask, value, n);
}

// ---- which types
// -----------------------------------------------------------------------------------------------------

using I = std::int64_t;
#define OLD_OF(name, T)                                      \
  template void __bang_atomic_##name(T*, T*, const T*, I);   \
  template void __bang_atomic_##name(T*, T*, ValueOf<T>, I); \
  template void __bang_atomic_##name(T*, T*, const T*, I, I, I, I, I, I, I, I, I);
#define REDUCED_OF(name, T)                              \
  template void __bang_atomic_##name(T*, const T*, I);   \
  template void __bang_atomic_##name(T*, ValueOf<T>, I); \
  template void __bang_atomic_##name(T*, const T*, I, I, I, I, I, I, I);
#define DISCRETE_OF(name, T, O) \
  template void __bang_discrete_atomic_##name(T*, const T*, const O*, const T*, const void*, I);
#define OF_TYPE(name, reduce, T)      \
  OLD_OF(name, T)                     \
  REDUCED_OF(reduce, T)               \
  DISCRETE_OF(name, T, std::uint8_t)  \
  DISCRETE_OF(name, T, std::uint16_t) \
  DISCRETE_OF(name, T, std::uint32_t)
#define OF_FLOATS(name, reduce)     \
  OF_TYPE(name, reduce, half)       \
  OF_TYPE(name, reduce, bfloat16_t) \
  OF_TYPE(name, reduce, float)
#define OF_INTEGERS(name, reduce)      \
  OF_TYPE(name, reduce, std::int16_t)  \
  OF_TYPE(name, reduce, std::uint16_t) \
  OF_TYPE(name, reduce, std::int32_t)  \
  OF_TYPE(name, reduce, std::uint32_t)
#define OF_NUMBERS(name, reduce) \
  OF_FLOATS(name, reduce)        \
  OF_INTEGERS(name, reduce)
OF_NUMBERS(add, reduce_add)
OF_NUMBERS(max, reduce_max)
OF_NUMBERS(min, reduce_min)
OF_NUMBERS(exch, reduce_exch)
OF_INTEGERS(and, reduce_and)
OF_INTEGERS(or, reduce_or)
OF_INTEGERS(xor, reduce_xor)
OF_INTEGERS(inc, reduce_inc)
OF_INTEGERS(dec, reduce_dec)
OF_FLOATS(nan_max, nan_reduce_max)
OF_FLOATS(nan_min, nan_reduce_min)
OF_FLOATS(number_max, number_reduce_max)
OF_FLOATS(number_min, number_reduce_min)
#define SWAPS(T)                                                      \
  template void __bang_atomic_cas(T*, T*, ValueOf<T>, ValueOf<T>);    \
  template void __bang_atomic_reduce_cas(T*, ValueOf<T>, ValueOf<T>); \
  SWAPS_BY(T, std::uint8_t)                                           \
  SWAPS_BY(T, std::uint16_t)                                          \
  SWAPS_BY(T, std::uint32_t)
#define SWAPS_BY(T, O) \
  template void __bang_discrete_atomic_cas(T*, const T*, const O*, const T*, const void*, ValueOf<T>, I);
SWAPS(half)
SWAPS(bfloat16_t)
SWAPS(float)
SWAPS(std::int16_t)
SWAPS(std::uint16_t)
SWAPS(std::int32_t)
SWAPS(std::uint32_t)

}  // namespace mluops::emu::bang
