#include "common/system.h"

#include <sys/stat.h>

namespace mluops {

// The rest is in system_linux.cpp, system_macos.cpp and system_windows.cpp.
bool is_folder(const std::string& path) {
  struct stat status;
  return stat(path.c_str(), &status) == 0 && S_ISDIR(status.st_mode);
}

}  // namespace mluops
