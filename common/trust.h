// Who may name code that runs and files that are written: the rules of the library, of the emulated device's runtime
// and of the tools are here alone; those of the Python package are in _trust.py. SECURITY.md says them to users.
#pragma once

#include <cstddef>
#include <cstdio>
#include <memory>
#include <string>

namespace mluops {

/// A variable of the environment, nullptr in a program that runs with more rights than its caller (setuid, setgid,
/// capabilities): for all that name code or files.
const char* secure_variable(const char* name);

/// Empty when the code in a file may be run: a regular file that belongs to the process's user or to root, that not
/// everybody may write to, below folders of which the same holds (or that are sticky). The path is followed to where it
/// leads first.
std::string why_not_trusted(const std::string& path);

/// Empty when the process may make files in a folder.
std::string why_not_writable(const std::string& folder);
/// The folder of a file; "." where its name has none.
std::string folder_of(const std::string& path);

/// A file that is written. Errors are told at the end, by close().
class OutputFile {
 public:
  /// At a name that somebody else can foresee: always a new file. One that stands there is removed, a symbolic link
  /// too, which is not followed.
  static OutputFile made_new(const std::string& path);
  /// At the name the user gave. A symbolic link is followed only where the user or root has made it.
  static OutputFile named(const std::string& path);

  void write(const void* data, std::size_t bytes);
  void write(const std::string& text) { write(text.data(), text.size()); }
  /// Empty, or why not all of it is there. What made_new() began is then removed.
  std::string close();

 private:
  struct Closer {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };
  OutputFile(std::FILE* file, std::string path, bool made);

  std::unique_ptr<std::FILE, Closer> file_;
  std::string path_, problem_;
  bool made_;
};

}  // namespace mluops
