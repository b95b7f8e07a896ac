// Kernels that host code launches by their address: cncc's rewriting makes each known to the runtime.
#pragma once

#include <cstddef>
#include <functional>
#include <tuple>
#include <utility>
#include <vector>

#include "neuware.h"

namespace neuware {

/// How a kernel is called with arguments that lie somewhere: a pointer to each.
struct KernelByAddress {
  const Unit* unit;
  const char* name;
  std::vector<std::size_t> sizes;                                     // of its parameters
  std::function<std::function<void()>(void* const* arguments)> call;  // copies them
};
void know_kernel(const void* address, const KernelByAddress& kernel);

template <class... A, std::size_t... kIndex>
std::function<void()> call_with(void (*kernel)(A...), void* const* arguments, std::index_sequence<kIndex...>) {
  const std::tuple<std::decay_t<A>...> values(*static_cast<const std::decay_t<A>*>(arguments[kIndex])...);
  return [=] { std::apply(kernel, values); };
}

/// Stands behind a kernel. `alias` is what programs call that know it by a name of C.
template <class... A>
bool know(const Unit& unit, const char* name, void (*kernel)(A...), void (*alias)() = nullptr) {
  const KernelByAddress known{&unit, name, {sizeof(std::decay_t<A>)...}, [kernel](void* const* arguments) {
                                return call_with(kernel, arguments, std::index_sequence_for<A...>());
                              }};
  know_kernel(reinterpret_cast<const void*>(kernel), known);
  if (alias != nullptr) know_kernel(reinterpret_cast<const void*>(alias), known);
  return true;
}

}  // namespace neuware
