#include "backends/mlu_emu/neuware/runtime/source_line.h"

#include <dlfcn.h>
#include <elf.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fcntl.h>
#include <array>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string_view>

extern char** environ;

namespace neuware {
namespace {

/// A program with fixed addresses.
bool is_fixed(const std::string& path) {
  std::array<char, EI_NIDENT + sizeof(Elf64_Half)> head = {};
  std::ifstream(path, std::ios::binary).read(head.data(), head.size());
  return head[EI_NIDENT] == ET_EXEC;
}

std::string output_of(std::array<const char*, 8> command) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return {};
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
  posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  pid_t child = 0;
  const int failed =
      posix_spawnp(&child, command[0], &actions, nullptr, const_cast<char* const*>(command.data()), environ);
  posix_spawn_file_actions_destroy(&actions);
  close(ends[1]);
  std::string text;
  std::array<char, 4096> part;
  while (failed == 0) {
    const ssize_t n = ::read(ends[0], part.data(), part.size());
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) break;
    text.append(part.data(), static_cast<std::size_t>(n));
  }
  close(ends[0]);
  int status = 0;
  while (failed == 0 && waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return text;
}

/// Code that cncc inserted into the user's functions.
bool is_inserted(const std::string& file) {
  constexpr std::string_view kHeader = "/include/neuware.h";
  return file.size() >= kHeader.size() && file.compare(file.size() - kHeader.size(), kHeader.size(), kHeader) == 0;
}

/// The output of addr2line: the function in one line, file and line in the next; then those that it was inlined into.
SourceLine line_of(const Dl_info& module, std::uintptr_t at) {
  const std::string path = module.dli_fname;
  const std::string file = path.find('/') == std::string::npos ? "/proc/self/exe" : path;
  const std::uintptr_t offset = is_fixed(file) ? at : at - reinterpret_cast<std::uintptr_t>(module.dli_fbase);
  char hex[2 + 16 + 1];
  std::snprintf(hex, sizeof(hex), "%#llx", static_cast<unsigned long long>(offset));
  std::istringstream text(output_of({"addr2line", "-f", "-i", "-C", "-e", file.c_str(), hex, nullptr}));
  SourceLine found;
  for (std::string function, line; std::getline(text, function) && std::getline(text, line);) {
    if (function[0] == '?') break;
    line = line.substr(0, line.rfind(" (discriminator"));
    const std::size_t colon = line.rfind(':');
    const bool known = colon != std::string::npos && line[0] != '?';
    found = {known ? line.substr(0, colon) : "", known ? std::atoi(line.c_str() + colon + 1) : 0, function};
    if (!is_inserted(found.file)) break;
  }
  return found;
}

}  // namespace

SourceLine source_line(void* const* frames, int count, const void* in_module) {
  Dl_info wanted = {}, found = {};
  SourceLine line;
  if (dladdr(in_module, &wanted) == 0) return line;
  for (int i = 0; i < count; ++i) {
    if (dladdr(frames[i], &found) == 0 || found.dli_fbase != wanted.dli_fbase) continue;
    // Behind the first stand return addresses, past the call.
    line = line_of(found, reinterpret_cast<std::uintptr_t>(frames[i]) - (i > 0 ? 1 : 0));
    if (!is_inserted(line.file)) break;  // a check that is a call of its own has the user's function behind it
  }
  return line;
}

}  // namespace neuware
