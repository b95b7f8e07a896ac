// Exceptions end at the functions of a backend's struct, which C calls.
#pragma once

#include <exception>
#include <new>
#include <utility>

#include "mlu_op_types.h"

namespace mluops {

/// Runs body; its exceptions become statuses: ALLOC_FAILED for lack of memory, otherwise `failed`, with a text.
template <class Body>
mluOpStatus_t guarded(void (*set_error)(const char* text), mluOpStatus_t failed, Body&& body) noexcept {
  try {
    return std::forward<Body>(body)();
  } catch (const std::bad_alloc&) {
    set_error("out of memory");
    return MLUOP_STATUS_ALLOC_FAILED;
  } catch (const std::exception& e) {
    set_error(e.what());
  } catch (...) {
    set_error("unknown exception");
  }
  return failed;
}

}  // namespace mluops
