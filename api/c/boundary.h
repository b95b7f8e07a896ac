// Exceptions stop here: every C function that can fail runs its body through guard().
#pragma once

#include <exception>
#include <new>
#include <string>

#include "common/status.h"
#include "common/verbose.h"

namespace mluops {

inline mluOpStatus_t record_failure(const char* function, mluOpStatus_t code, const char* text) noexcept {
  try {
    const std::string line = std::string(function) + ": " + text;
    set_last_error_text(line.c_str());
    if (verbose_level() >= 1) verbose_line(std::string(status_name(code)) + " " + line);
  } catch (...) {
    set_last_error_text(text);
  }
  return code;
}

/// Runs body() -> Status; a failure's text becomes the thread's last error, prefixed with the function's name.
template <class Body>
mluOpStatus_t guard(const char* function, Body&& body) noexcept {
  try {
    const Status status = body();
    if (!status.failed()) return MLUOP_STATUS_SUCCESS;
    return record_failure(function, status.code(), status.text().c_str());
  } catch (const std::bad_alloc&) {
    return record_failure(function, MLUOP_STATUS_ALLOC_FAILED, "out of memory");
  } catch (const std::exception& e) {
    return record_failure(function, MLUOP_STATUS_INTERNAL_ERROR, e.what());
  } catch (...) {
    return record_failure(function, MLUOP_STATUS_INTERNAL_ERROR, "unknown exception");
  }
}

}  // namespace mluops
