// What the declarations of builtins say about the types of lanes.
#pragma once

#include <type_traits>

namespace mluops::emu::bang {

template <class T>
struct Same {
  using type = T;
};
template <class T>
using ValueOf = typename Same<T>::type;  // converts to the pointer's element type

}  // namespace mluops::emu::bang
