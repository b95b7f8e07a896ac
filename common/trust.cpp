#include "common/trust.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <utility>

namespace mluops {

#ifdef _WIN32

namespace {

std::FILE* open_named(const std::string& path) {
  return std::fopen(path.c_str(), "wb");
}

}  // namespace

const char* secure_variable(const char* name) {
  return std::getenv(name);  // no program there has its file's rights
}

/// Who may write is told by access control lists there, which are not looked at.
std::string why_not_trusted(const std::string& path) {
  struct stat file;
  if (stat(path.c_str(), &file) != 0) return "cannot be opened";
  return S_ISREG(file.st_mode) ? "" : "is no regular file";
}

#else

namespace {

constexpr uid_t kNoOwner = 65534;  ///< of files whose owner has no number in this container

bool of_another_user(const struct stat& status) {
  return status.st_uid != 0 && status.st_uid != geteuid();
}

/// Whether others may put another file in the place of one in this folder: a folder that all may write to, unless only
/// owners may remove what is in it (the sticky bit), or another user's.
std::string why_not_folder(const char* name) {
  struct stat status;
  if (stat(name, &status) != 0) return "cannot look at folder " + std::string(name);
  if ((status.st_mode & S_IWOTH) != 0 && (status.st_mode & S_ISVTX) == 0) {
    return "everybody may write to folder " + std::string(name);
  }
  if (of_another_user(status) && status.st_uid != kNoOwner) {
    return "folder " + std::string(name) + " belongs to another user";
  }
  return {};
}

std::FILE* open_named(const std::string& path) {
  constexpr int kFlags = O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC;
  constexpr mode_t kMode = 0666;  // less the umask
  int file = open(path.c_str(), kFlags | O_NOFOLLOW, kMode);
  struct stat link;
  if (file < 0 && errno == ELOOP && lstat(path.c_str(), &link) == 0) {
    errno = ELOOP;
    if (!of_another_user(link)) file = open(path.c_str(), kFlags, kMode);
  }
  return file < 0 ? nullptr : fdopen(file, "wb");
}

}  // namespace

const char* secure_variable(const char* name) {
#ifdef __GLIBC__
  return secure_getenv(name);
#else
  return issetugid() != 0 ? nullptr : std::getenv(name);
#endif
}

std::string why_not_trusted(const std::string& path) {
  const std::unique_ptr<char, decltype(&std::free)> real(realpath(path.c_str(), nullptr), std::free);
  struct stat file;
  if (real == nullptr || stat(real.get(), &file) != 0) return "cannot be opened: " + std::string(strerror(errno));
  if (!S_ISREG(file.st_mode)) return "is no regular file";
  if ((file.st_mode & S_IWOTH) != 0) return "everybody may write to the file";
  if (of_another_user(file)) return "the file belongs to another user";
  std::string folder = real.get(), why;
  do {
    folder.resize(folder.rfind('/'));
    why = why_not_folder(folder.empty() ? "/" : folder.c_str());
  } while (why.empty() && !folder.empty());
  return why;
}

#endif

std::string why_not_writable(const std::string& folder) {
  struct stat status;
  if (stat(folder.c_str(), &status) != 0) return strerror(errno);
  if (!S_ISDIR(status.st_mode)) return "it is no folder";
  return access(folder.c_str(), W_OK) == 0 ? "" : strerror(errno);
}

std::string folder_of(const std::string& path) {
#ifdef _WIN32
  const std::size_t slash = path.find_last_of("/\\");
#else
  const std::size_t slash = path.rfind('/');
#endif
  return slash == std::string::npos ? "." : path.substr(0, std::max<std::size_t>(slash, 1));
}

OutputFile::OutputFile(std::FILE* file, std::string path, bool made)
    : file_(file), path_(std::move(path)), made_(made) {
  if (file == nullptr) problem_ = errno == ELOOP ? "a symbolic link of another user" : strerror(errno);
}

OutputFile OutputFile::made_new(const std::string& path) {
  unlink(path.c_str());
  return {std::fopen(path.c_str(), "wbx"), path, true};  // x: never what another has put there meanwhile
}

OutputFile OutputFile::named(const std::string& path) {
  return {open_named(path), path, false};
}

void OutputFile::write(const void* data, std::size_t bytes) {
  if (!problem_.empty() || bytes == 0) return;
  if (std::fwrite(data, 1, bytes, file_.get()) != bytes) problem_ = strerror(errno);
}

std::string OutputFile::close() {
  std::FILE* const file = file_.release();
  if (file == nullptr) return problem_;
  if (std::fclose(file) != 0 && problem_.empty()) problem_ = strerror(errno);
  if (made_ && !problem_.empty()) unlink(path_.c_str());
  return problem_;
}

}  // namespace mluops
