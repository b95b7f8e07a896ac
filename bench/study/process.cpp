#include "bench/study/process.h"

#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <sstream>
#include <stdexcept>

#include "bench/output/json.h"

namespace bench {

std::string shell_quoted(const std::string& text) {
  std::string out = "'";
  for (const char c : text) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

std::vector<std::string> lines_of(const std::string& command) {
  FILE* pipe = popen(command.c_str(), "r");
  if (pipe == nullptr) throw std::runtime_error("cannot run " + command);
  std::string text;
  std::array<char, 4096> part;
  while (const std::size_t n = std::fread(part.data(), 1, part.size(), pipe)) text.append(part.data(), n);
  if (pclose(pipe) != 0) throw std::runtime_error("failed: " + command);
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

Companion::Companion(const std::string& command) {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) throw std::runtime_error("cannot run " + command);
  channel_ = ends[0];
  process_ = fork();
  if (process_ == 0) {
    dup2(ends[1], STDIN_FILENO);
    dup2(ends[1], STDOUT_FILENO);
    execl("/bin/sh", "sh", "-c", command.c_str(), nullptr);
    _exit(127);
  }
  close(ends[1]);
}

Companion::~Companion() {
  close(channel_);
  if (process_ > 0) waitpid(process_, nullptr, 0);
}

std::optional<std::string> Companion::listen() {
  std::string line;
  for (char c = 0; recv(channel_, &c, 1, 0) == 1;) {
    if (c == '\n') return line;
    line += c;
  }
  return std::nullopt;
}

std::optional<std::string> Companion::ask(const std::string& line) {
  const std::string text = line + "\n";
  if (send(channel_, text.data(), text.size(), MSG_NOSIGNAL) != static_cast<ssize_t>(text.size())) return std::nullopt;
  return listen();
}

std::vector<std::string> fields_of(const std::string& line) {
  std::vector<std::string> fields;
  std::istringstream stream(line);
  for (std::string field; std::getline(stream, field, '\t');) fields.push_back(field);
  return fields;
}

TemporaryFile::TemporaryFile(const std::string& text)
    : path_((std::filesystem::temp_directory_path() / "mluops_bench.XXXXXX").string()) {
  const int file = mkstemp(path_.data());
  if (file < 0) throw std::runtime_error("cannot make a temporary file");
  close(file);
  write_file(path_, text);
}

TemporaryFile::~TemporaryFile() {
  std::remove(path_.c_str());
}

}  // namespace bench
