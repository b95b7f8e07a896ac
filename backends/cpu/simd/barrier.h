// Optimisation barriers: what a compiler must not know or keep, so that the registers are left to vectors.
#pragma once

#include <hwy/base.h>

namespace mluops::cpu {

/// Returns x, of which the compiler then knows nothing, in a general register. Else some compilers keep it,
/// its parts, or what follows from it in vector registers or in 16 general ones.
template <class X>
HWY_INLINE X value_barrier(X x) {
  asm("" : "+r"(x));
  return x;
}

/// A vector that is in a register: GCC loads again for each use what it can, where loads are short of ports.
template <class V>
HWY_INLINE V vector_barrier(V v) {
#if HWY_ARCH_X86 && HWY_COMPILER_GCC_ACTUAL
  asm("" : "+v"(v.raw));
#endif
  return v;
}

/// value_barrier in this place of the program: prefetches of x are not collected and done at once.
template <class X>
HWY_INLINE void order_barrier(X& x) {
  asm volatile("" : "+r"(x));
}

/// What is read of `at` from here on comes out of memory: no register has to keep it.
template <class At>
HWY_INLINE void reload_barrier(const At& at) {
  asm volatile("" : : "r"(&at) : "memory");
}

}  // namespace mluops::cpu
