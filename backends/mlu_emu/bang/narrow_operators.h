// Arithmetic of a 16-bit float type: each operation rounds once, one with a number of another type is done on that
// number unrounded and gives the 16-bit type.
#pragma once

#include <type_traits>

#define MLUOPS_NARROW_ARITHMETIC(Type, op)                                     \
  inline Type operator op(Type a, Type b) {                                    \
    return Type(static_cast<float>(a) op static_cast<float>(b));               \
  }                                                                            \
  template <class A>                                                           \
  std::enable_if_t<std::is_arithmetic_v<A>, Type> operator op(Type a, A b) {   \
    return Type(static_cast<double>(a) op static_cast<double>(b));             \
  }                                                                            \
  template <class A>                                                           \
  std::enable_if_t<std::is_arithmetic_v<A>, Type> operator op(A a, Type b) {   \
    return Type(static_cast<double>(a) op static_cast<double>(b));             \
  }                                                                            \
  template <class B>                                                           \
  Type& operator op##=(Type& a, B b) {                                         \
    return a = a op b;                                                         \
  }                                                                            \
  template <class A>                                                           \
  std::enable_if_t<std::is_arithmetic_v<A>, A&> operator op##=(A& a, Type b) { \
    return a = static_cast<A>(a op static_cast<float>(b));                     \
  }
#define MLUOPS_NARROW_COMPARISON(Type, op)                                   \
  inline bool operator op(Type a, Type b) {                                  \
    return static_cast<float>(a) op static_cast<float>(b);                   \
  }                                                                          \
  template <class A>                                                         \
  std::enable_if_t<std::is_arithmetic_v<A>, bool> operator op(Type a, A b) { \
    return static_cast<double>(a) op static_cast<double>(b);                 \
  }                                                                          \
  template <class A>                                                         \
  std::enable_if_t<std::is_arithmetic_v<A>, bool> operator op(A a, Type b) { \
    return static_cast<double>(a) op static_cast<double>(b);                 \
  }
#define MLUOPS_NARROW_OPERATORS(Type) \
  MLUOPS_NARROW_ARITHMETIC(Type, +)   \
  MLUOPS_NARROW_ARITHMETIC(Type, -)   \
  MLUOPS_NARROW_ARITHMETIC(Type, *)   \
  MLUOPS_NARROW_ARITHMETIC(Type, /)   \
  MLUOPS_NARROW_COMPARISON(Type, ==)  \
  MLUOPS_NARROW_COMPARISON(Type, !=)  \
  MLUOPS_NARROW_COMPARISON(Type, <)   \
  MLUOPS_NARROW_COMPARISON(Type, <=)  \
  MLUOPS_NARROW_COMPARISON(Type, >)   \
  MLUOPS_NARROW_COMPARISON(Type, >=)
