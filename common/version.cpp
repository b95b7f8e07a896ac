#include "common/version.h"

namespace mluops {

const char* library_version() noexcept {
  return MLUOPS_VERSION;
}

}  // namespace mluops
