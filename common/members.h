// What stands where in an operator's problem: its numbers and its pointers, those of nested structs too.
#pragma once

#include <cstddef>
#include <span>
#include <type_traits>

#include "mluops/backend_types.h"

namespace mluops {

struct Member {
  std::size_t offset, bytes;
  bool pointer;
};

/// A pointer, numbers, or an array of structs of numbers, without padding.
template <class T>
constexpr Member member_at(std::size_t offset) {
  using Element = std::remove_all_extents_t<T>;
  constexpr bool kNumbers = std::is_arithmetic_v<Element> || std::is_enum_v<Element>;
  constexpr bool kStructs = std::is_array_v<T> && std::is_class_v<Element>;
  static_assert(std::is_pointer_v<T> || kNumbers || (kStructs && std::has_unique_object_representations_v<Element>));
  return {offset, sizeof(T), std::is_pointer_v<T>};
}

/// Whether the bytes between the members have no room for a pointer.
constexpr bool lack_no_pointer(std::span<const Member> members, std::size_t size) {
  std::size_t end = 0;
  for (const Member& m : members) {
    if (m.offset < end || m.offset - end >= sizeof(void*)) return false;
    end = m.offset + m.bytes;
  }
  return size - end < sizeof(void*);
}

// members_of(problem) for every operator, beside its rules (common/op/<family>.cpp).
namespace op {
#define MLUOPS_OPERATOR(name, Problem) std::span<const Member> members_of(const Problem& problem);
#include "mluops/operators.inc"
}  // namespace op

#define MLUOPS_AT(name) member_at<decltype(P::name)>(offsetof(P, name))
#define MLUOPS_MEMBERS(Problem, ...)                           \
  std::span<const Member> members_of(const Problem&) {         \
    using P = Problem;                                         \
    static constexpr Member kMembers[] = {__VA_ARGS__};        \
    static_assert(lack_no_pointer(kMembers, sizeof(Problem))); \
    return kMembers;                                           \
  }

}  // namespace mluops
