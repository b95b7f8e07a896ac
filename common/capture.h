// MLUOP_CAPTURE=DIR: calls kept as files that mluops_replay runs again. A file holds the problem as the backend saw it
// and the tensors, inputs before the call, outputs before and after it; no operator has code of its own here.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "common/members.h"
#include "common/status.h"
#include "common/tensor_desc.h"
#include "mluops/backend_types.h"

namespace mluops {

struct CaptureSettings {
  std::string folder;          ///< "": nothing is kept
  std::string operators = {};  ///< parts of names, between commas; empty: all
  long long calls = 1000;      ///< most files of a process
  long long bytes = 64 << 20;  ///< larger tensors are left out
};

/// Whether this process captures: as MLUOP_CAPTURE says, or set_capture since. Every call asks, so it is one load.
bool capturing() noexcept;
/// From now on, for all calls of the process; counts its files anew.
Status set_capture(CaptureSettings settings);

/// A call begins on this thread: what a refused one has noted is not its.
void forget_tensors() noexcept;
/// A tensor of the call that is being checked on this thread (op::note_tensors).
void note_tensor(const char* name, const TensorDesc* desc, const void* data, bool output);

/// An array that the problem points to and the prototype has no descriptor for.
void note_array(const char* name, mluOpDataType_t dtype, const void* data, std::int64_t count);

/// One call on its way to a file. Inert where nothing is captured or the file would be one too many; a file that cannot
/// be written is left out, with a line on stderr where MLUOP_VERBOSE asks: the call itself never fails for it.
class Capture {
 public:
  Capture(const char* op, const void* problem, std::size_t bytes, std::span<const Member> members);
  bool active() const { return active_; }
  /// `text`: the problem, as in common/case_text.h.
  void finish(const char* backend, const mluopsCall& call, const std::string& text) noexcept;

  /// What the bytes of a tensor are, and where in the problem its address stands.
  struct Tensor {
    std::string name;
    bool output;
    TensorDesc desc;
    const void* data;
    std::int64_t offset = -1;  ///< -1: nowhere
    std::vector<unsigned char> before = {};
    bool kept = false;  ///< small enough for its bytes to be in the file
    std::int64_t bytes() const { return desc.elements * static_cast<std::int64_t>(dtype_size(desc.dtype)); }
  };

 private:
  void start();
  bool place_tensor(const Member& member);
  std::vector<unsigned char> numbers() const;
  void write_file(const char* backend, const mluopsCall& call, const std::string& text) const;
  std::string header(const char* backend, const mluopsCall& call, const std::string& text, double ms) const;

  bool active_ = false;
  std::shared_ptr<const CaptureSettings> settings_;
  const char* op_;
  const unsigned char* problem_;
  std::size_t size_;
  std::span<const Member> members_;
  std::vector<Tensor> tensors_;
  std::chrono::steady_clock::time_point begin_;
};

}  // namespace mluops
