// The cases through the C API of another mluOp library: --library LIB. A child process has LIB's functions in front of
// ours (LD_PRELOAD) and tells what came of each call; this process holds that against the reference and its own
// backends. So a LIB that crashes or hangs is a finding, and the two never share a handle.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "test/conformance/kit.h"

namespace mluops::conformance {

struct LibrarySettings {
  Settings kit;                               ///< of its backend and threads nothing is used
  std::string library;                        ///< path, or several with colons between: a runtime beside it
  std::vector<std::string> beside = {"cpu"};  ///< backends of ours
  int seconds = 60;                           ///< that a call may take
  std::vector<std::string> words;             ///< of the command line, for the child
  std::function<bool(const std::string& op)> chosen;
};

/// One call of LIB.
struct LibraryCase {
  std::string text, dtype;
  std::string verdict;              ///< equal, within, differs, refused, crashed
  std::vector<std::string> beside;  ///< of each backend of ours: equal, other, or refused
  std::string status, status_here;  ///< "0 MLUOP_STATUS_SUCCESS": of LIB, of the first backend beside
  std::string note;                 ///< what differs, or LIB's text
  std::string record;               ///< LIB's outputs as a line of text; "" where it refuses

  /// This library refuses it, LIB with another status or not. What LIB alone refuses is no fault of it.
  bool other_status() const;
};

struct LibraryResult {
  std::string op;
  bool absent = false;  ///< LIB has no such function
  std::vector<LibraryCase> cases;
  int count(const std::string& verdict) const;
  int statuses() const;  ///< of other_status
  bool good() const;
};

/// Calls visit for each operator as it is done. Throws std::runtime_error where LIB cannot be loaded.
void examine_library(const LibrarySettings& settings, const std::function<void(const LibraryResult&)>& visit);

/// The child: answers on file descriptor `out`, from the call with this number on.
int answer(const LibrarySettings& settings, int out, std::size_t first);

}  // namespace mluops::conformance
