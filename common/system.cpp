#include "common/system.h"

#include <sys/stat.h>

#ifdef _WIN32
#include <windows.h>

#include <cstdlib>
#else
#include <sched.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <memory>
#endif

namespace mluops {

bool is_folder(const std::string& path) {
  struct stat status;
  return stat(path.c_str(), &status) == 0 && S_ISDIR(status.st_mode);
}

#ifdef _WIN32

const char* secure_variable(const char* name) {
  return std::getenv(name);  // no program there has its file's rights
}

int processors_of_caller() {
  return 0;
}

int processors_of_process() {
  DWORD_PTR own = 0, all = 0;
  if (!GetProcessAffinityMask(GetCurrentProcess(), &own, &all)) return 0;
  return __builtin_popcountll(own);
}

std::int64_t process_number() {
  return GetCurrentProcessId();
}

bool mapped(std::uintptr_t address) {
  MEMORY_BASIC_INFORMATION area;
  // NOLINTNEXTLINE(performance-no-int-to-ptr): an address is all there is
  const SIZE_T known = VirtualQuery(reinterpret_cast<const void*>(address), &area, sizeof(area));
  return known != 0 && area.State == MEM_COMMIT;
}

/// Who may write is told by access control lists there, which are not looked at.
std::string why_not_trusted(const std::string& path) {
  struct stat file;
  if (stat(path.c_str(), &file) != 0) return "cannot be opened";
  return S_ISREG(file.st_mode) ? "" : "is no regular file";
}

#else

namespace {

int processors_of(pid_t thread) {
  cpu_set_t mask;
  return sched_getaffinity(thread, sizeof(mask), &mask) == 0 ? CPU_COUNT(&mask) : 0;
}

/// Whether anyone may put another file in the place of `path`: a folder that all may write to, unless only owners may
/// remove what is in it (the sticky bit).
bool replaceable_by_anyone(const struct stat& folder) {
  return (folder.st_mode & S_IWOTH) != 0 && (folder.st_mode & S_ISVTX) == 0;
}

}  // namespace

const char* secure_variable(const char* name) {
  return secure_getenv(name);
}

int processors_of_caller() {
  return processors_of(0);
}

int processors_of_process() {
  return processors_of(getpid());
}

std::int64_t process_number() {
  return getpid();
}

bool mapped(std::uintptr_t address) {
  const auto page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
  unsigned char resident = 0;
  // NOLINTNEXTLINE(performance-no-int-to-ptr): an address is all there is
  return address >= page && mincore(reinterpret_cast<void*>(address / page * page), 1, &resident) == 0;
}

std::string why_not_trusted(const std::string& path) {
  const std::unique_ptr<char, decltype(&std::free)> real(realpath(path.c_str(), nullptr), std::free);
  struct stat file;
  if (real == nullptr || stat(real.get(), &file) != 0) return "cannot be opened: " + std::string(strerror(errno));
  if (!S_ISREG(file.st_mode)) return "is no regular file";
  if ((file.st_mode & S_IWOTH) != 0) return "everybody may write to the file";
  std::string folder = real.get();
  do {
    folder.resize(folder.rfind('/'));
    const char* const name = folder.empty() ? "/" : folder.c_str();
    struct stat status;
    if (stat(name, &status) != 0) return "cannot look at folder " + std::string(name);
    if (replaceable_by_anyone(status)) return "everybody may write to folder " + std::string(name);
  } while (!folder.empty());
  return {};
}

#endif

}  // namespace mluops
