// Written as for the device: set a device, make a queue, copy to and from device memory, time with notifiers.
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "cnrt.h"
#include "mlu_op.h"

#define CHECK(call, good)                                            \
  do {                                                               \
    if ((call) != (good)) {                                          \
      std::fprintf(stderr, "%s:%d %s\n", __FILE__, __LINE__, #call); \
      std::exit(1);                                                  \
    }                                                                \
  } while (0)
#define CNRT_CHECK(call) CHECK(call, cnrtSuccess)
#define MLUOP_CHECK(call) CHECK(call, MLUOP_STATUS_SUCCESS)

struct DeviceTensor {
  mluOpTensorDescriptor_t desc = nullptr;
  void* data = nullptr;
  std::size_t bytes = 0;

  explicit DeviceTensor(const std::vector<int>& dims) {
    MLUOP_CHECK(mluOpCreateTensorDescriptor(&desc));
    MLUOP_CHECK(mluOpSetTensorDescriptor(desc, MLUOP_LAYOUT_NHWC, MLUOP_DTYPE_FLOAT, 4, dims.data()));
    bytes = mluOpGetTensorElementNum(desc) * sizeof(float);
    CNRT_CHECK(cnrtMalloc(&data, bytes));
  }
  ~DeviceTensor() {
    CNRT_CHECK(cnrtFree(data));
    MLUOP_CHECK(mluOpDestroyTensorDescriptor(desc));
  }
};

int main() {
  int device = -1;
  CNRT_CHECK(cnrtGetDevice(&device));
  CNRT_CHECK(cnrtSetDevice(device));
  cnrtQueue_t queue = nullptr;
  CNRT_CHECK(cnrtQueueCreate(&queue));
  mluOpHandle_t handle = nullptr;
  MLUOP_CHECK(mluOpCreate(&handle));
  MLUOP_CHECK(mluOpSetQueue(handle, queue));

  // CARAFE with a 1x1 kernel of weight 2 doubles and repeats pixels.
  std::vector<float> host_input = {1, 2, 3, 4}, host_output(16, -1.0f);
  std::vector<float> host_mask(16, 2.0f);
  {
    DeviceTensor input({1, 2, 2, 1}), mask({1, 4, 4, 1}), output({1, 4, 4, 1});
    mluOpCarafeDescriptor_t carafe = nullptr;
    MLUOP_CHECK(mluOpCreateCarafeDescriptor(&carafe));
    MLUOP_CHECK(mluOpSetCarafeDescriptor(carafe, 4, 1, 1, 2));
    CNRT_CHECK(cnrtMemcpy(input.data, host_input.data(), input.bytes, cnrtMemcpyHostToDev));
    CNRT_CHECK(cnrtMemcpy(mask.data, host_mask.data(), mask.bytes, cnrtMemcpyHostToDev));

    cnrtNotifier_t start = nullptr, end = nullptr;
    CNRT_CHECK(cnrtNotifierCreate(&start));
    CNRT_CHECK(cnrtNotifierCreate(&end));
    CNRT_CHECK(cnrtPlaceNotifier(start, queue));
    MLUOP_CHECK(
        mluOpCarafeForward(handle, carafe, input.desc, input.data, mask.desc, mask.data, output.desc, output.data));
    CNRT_CHECK(cnrtPlaceNotifier(end, queue));
    CNRT_CHECK(cnrtQueueSync(queue));
    float us = -1;
    CNRT_CHECK(cnrtNotifierDuration(start, end, &us));
    CHECK(us >= 0, true);
    CNRT_CHECK(cnrtMemcpy(host_output.data(), output.data, output.bytes, cnrtMemcpyDevToHost));
    CNRT_CHECK(cnrtNotifierDestroy(start));
    CNRT_CHECK(cnrtNotifierDestroy(end));
    MLUOP_CHECK(mluOpDestroyCarafeDescriptor(carafe));
  }
  for (int y = 0; y < 4; ++y) {
    for (int x = 0; x < 4; ++x) {
      CHECK(host_output[static_cast<std::size_t>(4 * y + x)],
            2 * host_input[static_cast<std::size_t>(2 * (y / 2) + x / 2)]);
    }
  }
  CNRT_CHECK(cnrtQueueDestroy(queue));
  MLUOP_CHECK(mluOpDestroy(handle));
  std::puts("sample: values are right");
  return 0;
}
