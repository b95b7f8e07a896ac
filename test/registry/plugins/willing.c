/* A backend that says yes to every problem and touches nothing. PLUGIN_LAYOUTS, where defined, is its property
 * "layouts"; PLUGIN_SIZE what it says of its struct.
 */
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "mluops/backend.h"

#ifndef PLUGIN_SIZE
#define PLUGIN_SIZE sizeof(mluopsBackend)
#endif

#define MLUOPS_OPERATOR(name, Problem)                                                             \
  static mluOpStatus_t run_##name(void* context, const mluopsCall* call, const Problem* problem) { \
    (void)context, (void)call, (void)problem;                                                      \
    return MLUOP_STATUS_SUCCESS;                                                                   \
  }
#include "mluops/operators.inc"

#ifdef PLUGIN_LAYOUTS
static int64_t query(void* context, const char* key, char* buffer, size_t size) {
  (void)context;
  return strcmp(key, "layouts") == 0 ? snprintf(buffer, size, "%s", PLUGIN_LAYOUTS) : -1;
}
#endif

const mluopsBackend mluops_backend = {
    .abi_version = MLUOPS_BACKEND_ABI_VERSION,
    .struct_size = PLUGIN_SIZE,
    .name = PLUGIN_NAME,
    .description = "takes whatever it is given",
#ifdef PLUGIN_LAYOUTS
    .query = query,
#endif
#define MLUOPS_OPERATOR(name, Problem) .name = run_##name,
#include "mluops/operators.inc"
};
