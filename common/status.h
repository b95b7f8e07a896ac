// Status of a step on the way from the C call to the kernel, with its text.
#pragma once

#include <string>
#include <utility>

#include "mlu_op_types.h"

namespace mluops {

/// The decision of a step: go on, finished early with SUCCESS, or failed with a text.
class [[nodiscard]] Status {
 public:
  static Status go_on() { return Status(MLUOP_STATUS_SUCCESS, false, {}); }
  static Status nothing_to_do() { return Status(MLUOP_STATUS_SUCCESS, true, {}); }
  static Status error(mluOpStatus_t code, std::string text) { return Status(code, true, std::move(text)); }
  static Status bad_param(std::string text) { return error(MLUOP_STATUS_BAD_PARAM, std::move(text)); }
  static Status not_supported(std::string text) { return error(MLUOP_STATUS_NOT_SUPPORTED, std::move(text)); }

  mluOpStatus_t code() const { return code_; }
  bool failed() const { return code_ != MLUOP_STATUS_SUCCESS; }
  /// True when the call is over: failed, or nothing to do.
  bool finished() const { return finished_; }
  const std::string& text() const { return text_; }

 private:
  Status(mluOpStatus_t code, bool finished, std::string text)
      : code_(code), finished_(finished), text_(std::move(text)) {}

  mluOpStatus_t code_;
  bool finished_;
  std::string text_;
};

/// Leaves the function when a step is over.
#define MLUOPS_RETURN_IF_FINISHED(expression)                         \
  do {                                                                \
    if (::mluops::Status s_ = (expression); s_.finished()) return s_; \
  } while (false)

/// The calling thread's last-error text. Never NULL; "" before any failure.
const char* last_error_text() noexcept;
void set_last_error_text(const char* text) noexcept;

/// Why a backend is about to refuse, as it told this thread through its set_error. Apart from the last-error text,
/// which must outlive calls that succeed.
const char* reason() noexcept;
void set_reason(const char* text) noexcept;

/// Whether a backend may return it: one of the enumerators.
bool is_status(mluOpStatus_t status) noexcept;
/// Name of the enumerator; "MLUOP_STATUS_UNKNOWN" for other values.
const char* status_name(mluOpStatus_t status) noexcept;

}  // namespace mluops
