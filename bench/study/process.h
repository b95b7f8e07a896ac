// Other programs that a study needs.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace bench {

/// Text in single quotes for the shell.
std::string shell_quoted(const std::string& text);

/// Standard output of a shell command, by lines. Throws std::runtime_error when it fails.
std::vector<std::string> lines_of(const std::string& command);

/// A shell command that answers each line it is given with one line.
class Companion {
 public:
  explicit Companion(const std::string& command);
  ~Companion();
  Companion(const Companion&) = delete;
  Companion& operator=(const Companion&) = delete;

  /// Its next line of output; none if it has ended.
  std::optional<std::string> listen();
  std::optional<std::string> ask(const std::string& line);

 private:
  int process_ = -1, channel_ = -1;
};

/// The fields of a line between tabs.
std::vector<std::string> fields_of(const std::string& line);

/// A new file with this text, removed when the object goes.
class TemporaryFile {
 public:
  explicit TemporaryFile(const std::string& text);
  ~TemporaryFile();
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

}  // namespace bench
