#pragma once

namespace mluops {

/// Version of this library, from the project's CMakeLists.txt.
const char* library_version() noexcept;

}  // namespace mluops
