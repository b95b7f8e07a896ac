/* Calls PSAMask in both modes and prints which backend ran. Under MLUOP_BACKEND=mine,cpu the plugin runs mode 0
 * (collect) and declines mode 1 (distribute), which `cpu` runs then.
 */
#include <stdio.h>
#include <string.h>

#include "mlu_op.h"
#include "mlu_op_ext.h"

static int fail(const char* what) {
  fprintf(stderr, "%s: %s\n", what, mluOpExtGetLastErrorText());
  return 1;
}

static mluOpTensorDescriptor_t nhwc(int h, int w, int c) {
  const int dims[] = {1, h, w, c};
  mluOpTensorDescriptor_t desc;
  if (mluOpCreateTensorDescriptor(&desc) != MLUOP_STATUS_SUCCESS) return NULL;
  mluOpSetTensorDescriptor(desc, MLUOP_LAYOUT_NHWC, MLUOP_DTYPE_FLOAT, 4, dims);
  return desc;
}

int main(void) {
  static const char* const wanted[] = {"mine", "cpu"};
  enum { H = 2, W = 2, MASK = 3 };
  float x[H * W * MASK * MASK], y[H * W * H * W];
  for (int i = 0; i < H * W * MASK * MASK; ++i) x[i] = (float)(i % (MASK * MASK)); /* each mask is 0 .. 8 */

  mluOpHandle_t handle;
  if (mluOpCreate(&handle) != MLUOP_STATUS_SUCCESS) return fail("mluOpCreate");
  mluOpTensorDescriptor_t x_desc = nhwc(H, W, MASK * MASK), y_desc = nhwc(H, W, H * W);
  int wrong = 0;
  for (int mode = 0; mode < 2; ++mode) {
    const char* backend = NULL;
    if (mluOpPsamaskForward(handle, mode, x_desc, x, MASK, MASK, y_desc, y) != MLUOP_STATUS_SUCCESS ||
        mluOpExtGetLastRunBackend(handle, &backend) != MLUOP_STATUS_SUCCESS) {
      return fail("mluOpPsamaskForward");
    }
    printf("mode %d ran on %s: the mask of pixel (0,0) lies on the map as %g %g %g %g\n", mode, backend, y[0], y[1],
           y[2], y[3]);
    wrong += strcmp(backend, wanted[mode]) != 0;
  }
  /* The cell in the middle of a mask lies on the mask's own pixel. */
  wrong += y[0] != 4 || y[5] != 4 || y[10] != 4 || y[15] != 4;
  mluOpDestroyTensorDescriptor(y_desc);
  mluOpDestroyTensorDescriptor(x_desc);
  mluOpDestroy(handle);
  return wrong;
}
