// The vendor's builder of fused vector operations: fusor<float>(dst, src, n).mul(x).sqrt().add(y), each operation a
// word of its own that rounds its result.
#pragma once

#include <cstdint>
#include <type_traits>

#include "bang.h"

namespace bang::experimental {

template <class T>
class fusor {
 public:
  fusor(T* dst, const T* src, std::int64_t n) : dst_(dst), from_(src), n_(n) {}

  template <class V>
  fusor& add(V b) {
    return apply(
        b, [&](const T* x) { __bang_add(dst_, from_, x, n_); }, [&](T x) { __bang_add_scalar(dst_, from_, x, n_); });
  }
  template <class V>
  fusor& sub(V b) {
    return apply(
        b, [&](const T* x) { __bang_sub(dst_, from_, x, n_); }, [&](T x) { __bang_sub_scalar(dst_, from_, x, n_); });
  }
  template <class V>
  fusor& mul(V b) {
    return apply(
        b, [&](const T* x) { __bang_mul(dst_, from_, x, n_); }, [&](T x) { __bang_mul_scalar(dst_, from_, x, n_); });
  }
  template <class V>
  fusor& div(V b) {
    return apply(
        b, [&](const T* x) { __bang_div(dst_, from_, x, n_); }, [&](T x) { __bang_div(dst_, from_, x, n_); });
  }
  fusor& sqrt() {
    __bang_sqrt(dst_, from_, n_);
    return next();
  }
  fusor& abs() {
    __bang_abs(dst_, from_, n_);
    return next();
  }

 private:
  template <class V, class OfVector, class OfValue>
  fusor& apply(V b, OfVector of_vector, OfValue of_value) {
    if constexpr (std::is_pointer_v<V>) {
      of_vector(b);
    } else {
      of_value(static_cast<T>(b));
    }
    return next();
  }
  /// Behind the first operation the result is the source.
  fusor& next() {
    from_ = dst_;
    return *this;
  }

  T* dst_;
  const T* from_;
  std::int64_t n_;
};

}  // namespace bang::experimental
