/* A third-party backend in plain C: it provides psamask forward (collect only) and leaves the rest NULL.
 * PLUGIN_* definitions turn it into the wrong plugins the registry must leave out, PLUGIN_FLAW_* into those that the
 * conformance kit must find out.
 */
#include <stddef.h>
#include <string.h>

#include "mluops/backend.h"

#ifndef PLUGIN_ABI
#define PLUGIN_ABI MLUOPS_BACKEND_ABI_VERSION
#endif
#ifndef PLUGIN_SIZE
#define PLUGIN_SIZE sizeof(mluopsBackend)
#endif
#ifndef PLUGIN_NAME
#define PLUGIN_NAME "mine"
#endif
#ifndef PLUGIN_SYMBOL
#define PLUGIN_SYMBOL mluops_backend
#endif

/* Copies the cells of one pixel's mask that lie on the map. */
static void collect_pixel(const mluopsPsamaskShape* s, int64_t h, int64_t w, const float* mask, float* map) {
  for (int64_t i = 0; i < s->h_mask; ++i) {
    for (int64_t j = 0; j < s->w_mask; ++j) {
      const int64_t y = h + i - (s->h_mask - 1) / 2;
      const int64_t x = w + j - (s->w_mask - 1) / 2;
      if (y >= 0 && y < s->h && x >= 0 && x < s->w) map[y * s->w + x] = mask[i * s->w_mask + j];
    }
  }
}

static mluOpStatus_t psamask_forward(void* context, const mluopsCall* call,
                                     const mluopsPsamaskForwardProblem* problem) {
  const mluopsPsamaskShape* s = &problem->shape;
  (void)context, (void)call;
#ifdef PLUGIN_STATUS
  call->set_error("it lost count");
  return (mluOpStatus_t)PLUGIN_STATUS;
#endif
  if (s->psa_type != 0 || s->dtype != MLUOP_DTYPE_FLOAT) {
#ifdef PLUGIN_FLAW_DECLINE
    memset(problem->y, 0, 1);
#endif
#ifndef PLUGIN_FLAW_SILENT
    call->set_error("psa_type: wanted 0 (collect)");
#endif
    return MLUOP_STATUS_NOT_SUPPORTED;
  }
  const int64_t map_size = s->h * s->w;
  memset(problem->y, 0, (size_t)(s->n * map_size * map_size) * sizeof(float));
  for (int64_t pixel = 0; pixel < s->n * map_size; ++pixel) {
    collect_pixel(s, pixel / s->w % s->h, pixel % s->w, (const float*)problem->x + pixel * s->h_mask * s->w_mask,
                  (float*)problem->y + pixel * map_size);
  }
#ifdef PLUGIN_FLAW_VALUE
  ((float*)problem->y)[0] += 1;
#endif
#ifdef PLUGIN_FLAW_BEYOND
  ((float*)problem->y)[s->n * map_size * map_size] = 0;
#endif
#ifdef PLUGIN_FLAW_THREADS
  if (call->threads > 1) ((float*)problem->y)[0] += 1;
#endif
  return MLUOP_STATUS_SUCCESS;
}

#ifdef PLUGIN_UNUSABLE
static mluOpStatus_t create(void (*set_error)(const char*), void** context) {
  (void)context;
  set_error("the part this backend drives is not plugged in");
  return MLUOP_STATUS_ARCH_MISMATCH;
}
#endif

const mluopsBackend PLUGIN_SYMBOL = {
    .abi_version = PLUGIN_ABI,
    .struct_size = PLUGIN_SIZE,
    .name = PLUGIN_NAME,
    .description = "third-party backend of the tests",
#ifdef PLUGIN_UNUSABLE
    .create = create,
#endif
    .psamask_forward = psamask_forward,
};
