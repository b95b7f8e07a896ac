// The vendor's switches for case files, over the capture of this library.
#include <sys/stat.h>

#include <cstdlib>
#include <cstring>
#include <mutex>

#include "api/c/boundary.h"
#include "common/op/check.h"
#include "mlu_op.h"

using namespace mluops;

namespace {

/// What the program has asked for: valid for all threads.
struct GenCase {
  std::mutex mutex;
  std::string folder = ".";
  int mode = 0;
};

GenCase& gen_case() {
  static GenCase only;
  return only;
}

/// Modes 1 and 2 capture, the first without the bytes of tensors.
Status apply_gen_case(const std::string& folder, int mode) {
  if (mode != 1 && mode != 2) return set_capture({});
  CaptureSettings settings{folder};
  if (mode == 1) settings.bytes = 0;
  return set_capture(std::move(settings));
}

Status is_directory(const char* path) {
  struct stat about = {};
  if (stat(path, &about) == 0 && S_ISDIR(about.st_mode)) return Status::go_on();
  return Status::bad_param(op::text_of("path: wanted a folder that exists, got ", path));
}

/// The folder's name, in the caller's memory or in memory of its own.
char* copy_of(const std::string& folder, char* buffer, std::size_t size, mluOpStatus_t& status) {
  const std::size_t bytes = folder.size() + 1;
  if (buffer != nullptr && size < bytes) {
    status = record_failure("mluOpGetGenCaseDirectory", MLUOP_STATUS_BAD_PARAM,
                            op::text_of("bufferSize: wanted at least ", bytes, ", got ", size).c_str());
    return nullptr;
  }
  if (buffer == nullptr) buffer = static_cast<char*>(std::malloc(bytes));
  if (buffer == nullptr) {
    status = record_failure("mluOpGetGenCaseDirectory", MLUOP_STATUS_ALLOC_FAILED, "out of memory");
    return nullptr;
  }
  std::memcpy(buffer, folder.c_str(), bytes);
  return buffer;
}

}  // namespace

void mluOpSetGenCaseMode(int mode) {
  (void)guard(__func__, [&]() -> Status {
    GenCase& wanted = gen_case();
    const std::lock_guard lock(wanted.mutex);
    wanted.mode = mode;
    MLUOPS_RETURN_IF_FINISHED(apply_gen_case(wanted.folder, mode));
    if (mode == 3) return Status::not_supported("mode: wanted 0, 1 or 2, got 3; MLUOP_VERBOSE=2 prints calls");
    return Status::go_on();
  });
}

mluOpStatus_t mluOpSetGenCaseDirectory(const char* path) {
  return guard(__func__, {{"path", path}}, [&]() -> Status {
    MLUOPS_RETURN_IF_FINISHED(is_directory(path));
    GenCase& wanted = gen_case();
    const std::lock_guard lock(wanted.mutex);
    if (wanted.mode == 1 || wanted.mode == 2) MLUOPS_RETURN_IF_FINISHED(apply_gen_case(path, wanted.mode));
    wanted.folder = path;
    return Status::go_on();
  });
}

const char* mluOpGetGenCaseDirectory(char* buffer, size_t bufferSize, size_t* pathLen, mluOpStatus_t* status) {
  mluOpStatus_t outcome = MLUOP_STATUS_SUCCESS;
  char* made = nullptr;
  try {
    GenCase& wanted = gen_case();
    const std::lock_guard lock(wanted.mutex);
    made = copy_of(wanted.folder, buffer, bufferSize, outcome);
    if (made != nullptr && pathLen != nullptr) *pathLen = wanted.folder.size();
  } catch (...) {
    outcome = MLUOP_STATUS_INTERNAL_ERROR;
  }
  if (status != nullptr) *status = outcome;
  return made;
}
