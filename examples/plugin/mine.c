/* A backend in plain C: PSAMask forward, mode "collect", float32. docs/plugin.md explains each part.
 *
 *   cc -O2 -shared -fPIC -I$PREFIX/include/mluops-host mine.c -o mine.so
 *   MLUOP_BACKEND_PATH=$PWD/mine.so MLUOP_BACKEND=mine,cpu ./program
 */
#include <string.h>

#include "mluops/backend.h"

/* x [n,h,w,hm*wm] -> y [n,h,w,h*w]: y[n,i,j,p*w+q] is the cell of the mask of pixel (i,j) that lies on pixel (p,q) */
static mluOpStatus_t psamask_forward(void* context, const mluopsCall* call,
                                     const mluopsPsamaskForwardProblem* problem) {
  const mluopsPsamaskShape* s = &problem->shape;
  (void)context;
  /* Decline before any output is touched: the next backend of a chain is asked. */
  if (s->psa_type != 0 || s->dtype != MLUOP_DTYPE_FLOAT) {
    call->set_error("psa_type: wanted 0 (collect)");
    return MLUOP_STATUS_NOT_SUPPORTED;
  }
  /* The library has checked the problem: shapes fit, no size is 0, tensors are dense, memory does not overlap. */
  const float* x = problem->x;
  float* y = problem->y;
  const int64_t map = s->h * s->w, cells = s->h_mask * s->w_mask;
  memset(y, 0, (size_t)(s->n * map * map) * sizeof *y);
  for (int64_t pixel = 0; pixel < s->n * map; ++pixel) {
    for (int64_t cell = 0; cell < cells; ++cell) {
      const int64_t p = pixel / s->w % s->h + cell / s->w_mask - (s->h_mask - 1) / 2;
      const int64_t q = pixel % s->w + cell % s->w_mask - (s->w_mask - 1) / 2;
      if (p >= 0 && p < s->h && q >= 0 && q < s->w) y[pixel * map + p * s->w + q] = x[pixel * cells + cell];
    }
  }
  return MLUOP_STATUS_SUCCESS;
}

/* The one symbol that a plugin exports. Members left NULL are operators that it does not provide. */
const mluopsBackend mluops_backend = {
    .abi_version = MLUOPS_BACKEND_ABI_VERSION,
    .struct_size = sizeof(mluopsBackend),
    .name = "mine",
    .description = "PSAMask in plain C",
    .psamask_forward = psamask_forward,
};
