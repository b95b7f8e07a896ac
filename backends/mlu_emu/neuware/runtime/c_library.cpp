#include "backends/mlu_emu/neuware/runtime/c_library.h"

#include <dlfcn.h>
#include <link.h>

#include <algorithm>
#include <cstdint>
#include <string_view>

namespace neuware {
namespace {

struct Code {
  std::uintptr_t begin = 0, end = 0;

  bool has(const void* address) const {
    const auto at = reinterpret_cast<std::uintptr_t>(address);
    return at >= begin && at < end;
  }
};

Code c_library;

/// Keeps the code of the object that has abort().
int look_for_abort(dl_phdr_info* object, std::size_t, void* abort_address) {
  for (int i = 0; i < object->dlpi_phnum; ++i) {
    const ElfW(Phdr)& part = object->dlpi_phdr[i];
    if (part.p_type != PT_LOAD || (part.p_flags & PF_X) == 0) continue;
    const std::uintptr_t begin = object->dlpi_addr + part.p_vaddr;
    const Code code{begin, begin + part.p_memsz};
    if (!code.has(abort_address)) continue;
    c_library = code;
    return 1;
  }
  return 0;
}

bool takes_a_lock(std::string_view name) {
  const auto begins = [name](std::string_view part) { return name.substr(0, part.size()) == part; };
  const auto has = [name](std::string_view part) { return name.find(part) != std::string_view::npos; };
  constexpr std::string_view kBeginnings[] = {"malloc", "calloc", "realloc", "free",   "memalign", "aligned_alloc",
                                              "posix_", "valloc", "pvalloc", "__libc", "_IO_",     "dl",
                                              "_dl",    "exit",   "atexit",  "__cxa_", "fopen",    "fclose"};
  constexpr std::string_view kParts[] = {"printf", "scanf", "puts",   "putc",  "getc",
                                         "gets",   "fread", "fwrite", "fflush"};
  return std::any_of(std::begin(kBeginnings), std::end(kBeginnings), begins) ||
         std::any_of(std::begin(kParts), std::end(kParts), has);
}

}  // namespace

void find_c_library() {
  dl_iterate_phdr(look_for_abort, dlsym(RTLD_DEFAULT, "abort"));
}

bool cannot_be_left(void* const* frame, int frames) {
  int inside = 0;
  while (inside < frames && c_library.has(frame[inside])) ++inside;
  if (inside < 2) return false;  // a function that calls none, as strlen: it holds nothing
  Dl_info entry = {};            // of the function that was called from outside
  const bool known = dladdr(static_cast<const char*>(frame[inside - 1]) - 1, &entry) != 0 && entry.dli_sname != nullptr;
  return known && takes_a_lock(entry.dli_sname);
}

}  // namespace neuware
