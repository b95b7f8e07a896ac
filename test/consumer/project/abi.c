/* A C client: every function has the type a client of the vendor's API expects, and one operator runs. */
#include <stdio.h>
#include <string.h>

#include "mlu_op.h"
#include "mlu_op_ext.h"

#define T const mluOpTensorDescriptor_t
typedef struct {
  mluOpStatus_t (*carafe_fwd)(mluOpHandle_t, const mluOpCarafeDescriptor_t, T, const void*, T, const void*, T, void*);
  mluOpStatus_t (*carafe_bwd)(mluOpHandle_t, const mluOpCarafeDescriptor_t, T, const void*, T, const void*, T,
                              const void*, T, void*, T, void*);
  mluOpStatus_t (*drp_fwd)(const mluOpHandle_t, T, const void*, T, const void*, T, const void*, const int, const int,
                           const float, const int, const float, T, void*);
  mluOpStatus_t (*drp_bwd)(const mluOpHandle_t, T, const void*, T, const void*, T, const void*, T, const void*,
                           const int, const int, const float, const int, const float, T, void*, T, void*);
  mluOpStatus_t (*psa_fwd)(mluOpHandle_t, const int, T, const void*, const int, const int, T, void*);
  mluOpStatus_t (*psa_bwd)(mluOpHandle_t, const int, T, const void*, const int, const int, T, void*);
  mluOpStatus_t (*ti_fwd)(mluOpHandle_t, T, const void*, T, const void*, T, const void*, T, void*);
  mluOpStatus_t (*ti_bwd)(mluOpHandle_t, T, const void*, T, const void*, T, const void*, T, void*);
  mluOpStatus_t (*ba_fwd)(mluOpHandle_t, T, const void*, T, const void*, const int32_t, T, void*, T, void*);
  mluOpStatus_t (*ba_bwd)(mluOpHandle_t, T, const void*, T, const void*, T, const void*, const int32_t, T, void*);
} Operators;

static const Operators operators = {
    mluOpCarafeForward,      mluOpCarafeBackward,     mluOpDeformRoiPoolForward,    mluOpDeformRoiPoolBackward,
    mluOpPsamaskForward,     mluOpPsamaskBackward,    mluOpThreeInterpolateForward, mluOpThreeInterpolateBackward,
    mluOpBorderAlignForward, mluOpBorderAlignBackward};

static int fail(const char* what) {
  fprintf(stderr, "%s: %s\n", what, mluOpExtGetLastErrorText());
  return 1;
}

/* One point, three neighbours: 0.5*1 + 0.25*2 + 0.25*4 = 2. */
static int interpolate(mluOpHandle_t handle) {
  const float features[4] = {1, 2, 3, 4}, weights[3] = {0.5f, 0.25f, 0.25f};
  const int32_t indices[3] = {0, 1, 3};
  const int known[3] = {1, 1, 4}, three[3] = {1, 1, 3}, point[3] = {1, 1, 1};
  float output = -1;
  mluOpTensorDescriptor_t f, i, w, o;
  mluOpTensorDescriptor_t* group[4] = {&f, &i, &w, &o};
  if (mluOpCreateGroupTensorDescriptors(group, 4) != MLUOP_STATUS_SUCCESS) return fail("descriptors");
  mluOpSetTensorDescriptor(f, MLUOP_LAYOUT_ARRAY, MLUOP_DTYPE_FLOAT, 3, known);
  mluOpSetTensorDescriptor(i, MLUOP_LAYOUT_ARRAY, MLUOP_DTYPE_INT32, 3, three);
  mluOpSetTensorDescriptor(w, MLUOP_LAYOUT_ARRAY, MLUOP_DTYPE_FLOAT, 3, three);
  mluOpSetTensorDescriptor(o, MLUOP_LAYOUT_ARRAY, MLUOP_DTYPE_FLOAT, 3, point);
  if (operators.ti_fwd(handle, f, features, i, indices, w, weights, o, &output) != MLUOP_STATUS_SUCCESS) {
    return fail("three_interpolate");
  }
  mluOpDestroyGroupTensorDescriptors(group, 4);
  return output == 2.0f ? 0 : fail("wrong value");
}

int main(void) {
  mluOpHandle_t handle = NULL;
  if (sizeof(operators) != 10 * sizeof(void (*)(void))) return fail("operators");
  if (mluOpCreate(&handle) != MLUOP_STATUS_SUCCESS) return fail("mluOpCreate");
  if (strcmp(mluOpGetErrorString(MLUOP_STATUS_BAD_PARAM), "MLUOP_STATUS_BAD_PARAM") != 0) return fail("names");
  const int bad = interpolate(handle);
  if (mluOpDestroy(handle) != MLUOP_STATUS_SUCCESS) return fail("mluOpDestroy");
  return bad;
}
