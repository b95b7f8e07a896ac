// Exceptions stop here: every C function that can fail runs its body through guard().
#pragma once

#include <array>
#include <exception>
#include <initializer_list>
#include <new>
#include <string>
#include <type_traits>

#include "common/capture.h"
#include "common/handle.h"
#include "common/op/check.h"
#include "common/scalars.h"
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

/// guard() of a body, -> Status or void, that runs if these arguments are there.
template <class Body>
mluOpStatus_t guard(const char* function, std::initializer_list<op::Given> arguments, Body&& body) noexcept {
  return guard(function, [&]() -> Status {
    MLUOPS_RETURN_IF_FINISHED(op::are_given(arguments));
    if constexpr (std::is_void_v<decltype(body())>) {
      body();
      return Status::go_on();
    } else {
      return body();
    }
  });
}

/// guard() for an operator's function. What mluOpExtSetScalars gave ends with this call, whatever its status: it must
/// match the floats of the prototype. body(scalars) -> Status gets them in this order.
template <std::size_t kCount, class Body>
mluOpStatus_t guard_operator(const char* function, mluOpHandle_t handle, const FloatArg (&floats)[kCount],
                             Body&& body) noexcept {
  forget_tensors();
  return guard(function, [&]() -> Status {
    std::array<Scalar, kCount> scalars;
    const GivenScalars given = handle != nullptr ? handle->scalars.take() : GivenScalars();
    MLUOPS_RETURN_IF_FINISHED(match_scalars(given, floats, scalars));
    return body(scalars);
  });
}

/// For a function without floats.
template <class Body>
mluOpStatus_t guard_operator(const char* function, mluOpHandle_t handle, Body&& body) noexcept {
  forget_tensors();
  return guard(function, [&]() -> Status {
    if (handle != nullptr) MLUOPS_RETURN_IF_FINISHED(match_scalars(handle->scalars.take(), nullptr, 0, nullptr));
    return body();
  });
}

}  // namespace mluops
