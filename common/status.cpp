#include "common/status.h"

#include <cstddef>

namespace mluops {
namespace {

// Fixed storage: setting an error must not fail for lack of memory.
constexpr std::size_t kTextSize = 2048;
thread_local char last_error[kTextSize] = "";
thread_local char last_reason[kTextSize] = "";

void copy_text(char (&to)[kTextSize], const char* text) noexcept {
  std::size_t i = 0;
  for (; text != nullptr && text[i] != '\0' && i + 1 < kTextSize; ++i) to[i] = text[i];
  to[i] = '\0';
}

}  // namespace

const char* last_error_text() noexcept {
  return last_error;
}

void set_last_error_text(const char* text) noexcept {
  copy_text(last_error, text);
}

const char* reason() noexcept {
  return last_reason;
}

void set_reason(const char* text) noexcept {
  copy_text(last_reason, text);
}

bool is_status(mluOpStatus_t status) noexcept {
  return static_cast<int>(status) >= MLUOP_STATUS_SUCCESS &&
         static_cast<int>(status) <= MLUOP_STATUS_NUMERICAL_OVERFLOW;
}

const char* status_name(mluOpStatus_t status) noexcept {
  switch (status) {
    case MLUOP_STATUS_SUCCESS:
      return "MLUOP_STATUS_SUCCESS";
    case MLUOP_STATUS_NOT_INITIALIZED:
      return "MLUOP_STATUS_NOT_INITIALIZED";
    case MLUOP_STATUS_ALLOC_FAILED:
      return "MLUOP_STATUS_ALLOC_FAILED";
    case MLUOP_STATUS_BAD_PARAM:
      return "MLUOP_STATUS_BAD_PARAM";
    case MLUOP_STATUS_INTERNAL_ERROR:
      return "MLUOP_STATUS_INTERNAL_ERROR";
    case MLUOP_STATUS_ARCH_MISMATCH:
      return "MLUOP_STATUS_ARCH_MISMATCH";
    case MLUOP_STATUS_EXECUTION_FAILED:
      return "MLUOP_STATUS_EXECUTION_FAILED";
    case MLUOP_STATUS_NOT_SUPPORTED:
      return "MLUOP_STATUS_NOT_SUPPORTED";
    case MLUOP_STATUS_NUMERICAL_OVERFLOW:
      return "MLUOP_STATUS_NUMERICAL_OVERFLOW";
  }
  return "MLUOP_STATUS_UNKNOWN";
}

}  // namespace mluops
