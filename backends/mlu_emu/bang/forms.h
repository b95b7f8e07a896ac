// The forms of builtins that compute one function of lanes: of two vectors, of a vector and one value, of a vector and
// a shorter one that is repeated, of one vector.
#pragma once

#include <cstdint>

#include "backends/mlu_emu/bang/operands.h"

namespace mluops::emu::bang {

template <class T, class F>
void of_vectors(const char* name, T* dst, const T* a, const T* b, std::int64_t n, F f) {
  Word word(name);
  word.lanes(dst, a, b, n);
  word.settle(a, b, n, f);
  map(dst, a, b, n, f);
}

template <class T, class F>
void of_value(const char* name, T* dst, const T* a, T value, std::int64_t n, F f) {
  Word word(name);
  word.lanes(dst, a, n);
  const Wide<T> wide = value;
  word.settle(a, n, wide, f);
  map(dst, a, n, [=](Wide<T> x) { return f(x, wide); });
}

template <class T, class F>
void of_cycle(const char* name, T* dst, const T* a, const T* b, std::int64_t n, std::int64_t length, F f) {
  Word word(name);
  word.count(n);
  word.require(n == length || (length > 0 && n % length == 0), "the count must be a multiple of the cycle");
  word.source(a, n, "first source");
  word.cycled_source(b, length, n);
  word.destination(dst, n);
  for (std::int64_t at = 0; at < n; at += length) map(dst + at, a + at, b, length, f);
}

template <class T, class F>
void of_each(const char* name, T* dst, const T* a, std::int64_t n, F f) {
  Word word(name);
  word.lanes(dst, a, n);
  map(dst, a, n, f);
}

}  // namespace mluops::emu::bang
