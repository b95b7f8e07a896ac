/* RoIAlign through the C API: pools one box of a 4 x 4 map into 2 x 2 bins.
 *
 *   cc roi_align.c $(pkg-config --cflags --libs mluops) -o roi_align && ./roi_align
 *
 * MLUOP_BACKEND chooses the backend. `mlu_emu,cpu` asks the emulated device first and runs on `cpu` what it declines.
 */
#include <stdio.h>
#include <stdlib.h>

#include "mlu_op.h"
#include "mlu_op_ext.h"

/* Ends the program with the library's explanation if a call fails. */
static void check(mluOpStatus_t status) {
  if (status == MLUOP_STATUS_SUCCESS) return;
  fprintf(stderr, "%s: %s\n", mluOpGetErrorString(status), mluOpExtGetLastErrorText());
  exit(1);
}

static mluOpTensorDescriptor_t tensor(mluOpTensorLayout_t layout, int rank, const int dims[]) {
  mluOpTensorDescriptor_t desc;
  check(mluOpCreateTensorDescriptor(&desc));
  check(mluOpSetTensorDescriptor(desc, layout, MLUOP_DTYPE_FLOAT, rank, dims));
  return desc;
}

int main(void) {
  /* Images are NHWC: batch, height, width, channels. Pointers are ordinary host pointers. */
  float input[1 * 4 * 4 * 1], output[1 * 2 * 2 * 1];
  for (int i = 0; i < 16; ++i) input[i] = (float)i;
  const float boxes[1 * 5] = {0, 0, 0, 4, 4}; /* batch index, x1, y1, x2, y2 */

  mluOpHandle_t handle;
  check(mluOpCreate(&handle));
  const int input_dims[] = {1, 4, 4, 1}, boxes_dims[] = {1, 5}, output_dims[] = {1, 2, 2, 1};
  mluOpTensorDescriptor_t input_desc = tensor(MLUOP_LAYOUT_NHWC, 4, input_dims);
  mluOpTensorDescriptor_t boxes_desc = tensor(MLUOP_LAYOUT_ARRAY, 2, boxes_dims);
  mluOpTensorDescriptor_t output_desc = tensor(MLUOP_LAYOUT_NHWC, 4, output_dims);

  mluOpRoiAlignForwardDescriptor_t roi_align;
  check(mluOpCreateRoiAlignForwardDescriptor(&roi_align));
  /* 2 x 2 bins, 2 x 2 samples a bin, no scaling, pool_mode 1 (mean), aligned */
  check(mluOpSetRoiAlignForwardDescriptor_v2(roi_align, 2, 2, 2, 1.0f, 1, true));
  check(mluOpRoiAlignForward_v2(handle, roi_align, input_desc, input, boxes_desc, boxes, output_desc, output, NULL,
                                NULL, NULL, NULL));
  printf("%g %g\n%g %g\n", output[0], output[1], output[2], output[3]);

  check(mluOpDestroyRoiAlignForwardDescriptor(roi_align));
  check(mluOpDestroyTensorDescriptor(output_desc));
  check(mluOpDestroyTensorDescriptor(boxes_desc));
  check(mluOpDestroyTensorDescriptor(input_desc));
  check(mluOpDestroy(handle));
  return 0;
}
