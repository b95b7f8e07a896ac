/* The structs of the plugin ABI, with the problems by name alone. Plugins include mluops/backend.h, which has both. */
#ifndef MLUOPS_BACKEND_TYPES_H_
#define MLUOPS_BACKEND_TYPES_H_

#include <stddef.h>
#include <stdint.h>

#include "mluops/call.h"

#if defined(__cplusplus)
extern "C" {
#endif

/** Raised when a problem that exists changes; plugins of another version are left out. Members are only appended, which
 * does not raise it: struct_size says which a struct has.
 */
#define MLUOPS_BACKEND_ABI_VERSION 2

/** Name of the data symbol a plugin exports. */
#define MLUOPS_BACKEND_SYMBOL "mluops_backend"

/* The problems by name alone: mluops/problem.h has all, mluops/problem/<family>.h one family's. */
#define MLUOPS_OPERATOR(name, Problem) struct Problem;
#include "mluops/operators.inc"

/** A backend. Operator members may be NULL: not provided. Each returns SUCCESS, NOT_SUPPORTED (before any output
 *  was touched: the next backend of a chain is asked), ALLOC_FAILED, EXECUTION_FAILED or INTERNAL_ERROR, and sets a
 *  text for all but SUCCESS. `context` is what create gave; calls with one context are serialised by the library. */
typedef struct {
  uint32_t abi_version; /**< MLUOPS_BACKEND_ABI_VERSION it was compiled with */
  uint32_t struct_size; /**< sizeof(mluopsBackend) it was compiled with; members beyond count as NULL */
  const char* name;     /**< [a-z0-9_]+, unique */
  const char* description;

  /** Makes the per-handle context; NULL member: no context. Anything but SUCCESS: unusable here (text through
   *  set_error). */
  mluOpStatus_t (*create)(void (*set_error)(const char* text), void** context);
  void (*destroy)(void* context);
  /** BAD_PARAM for an unknown key or value, with what was wanted through set_error. NULL: no options. */
  mluOpStatus_t (*set_option)(void* context, const char* key, const char* value, void (*set_error)(const char* text));
  /** The text for key into buffer as snprintf does; returns the whole length, or -1 for an unknown key. */
  int64_t (*query)(void* context, const char* key, char* buffer, size_t size);

  /* One member an operator, in the order of the list. */
#define MLUOPS_OPERATOR(name, Problem) \
  mluOpStatus_t (*name)(void* context, const mluopsCall* call, const struct Problem* problem);
#include "mluops/operators.inc"
} mluopsBackend;

#if defined(__cplusplus)
}
#endif

#endif /* MLUOPS_BACKEND_TYPES_H_ */
