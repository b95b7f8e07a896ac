/* What a management tool asks about the emulated device. Names follow the vendor's library. */
#ifndef NEUWARE_CNDEV_H_
#define NEUWARE_CNDEV_H_

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#if defined(__cplusplus)
extern "C" {
#endif

typedef enum { CNDEV_SUCCESS = 0, CNDEV_ERROR_INVALID_ARGUMENT = 4 } cndevRet_t;
enum { CNDEV_VERSION_5 = 5 };
typedef int cndevDevice_t;

typedef struct {
  int version;
  unsigned int pid;
  uint64_t physicalMemoryUsed; /* KiB */
} cndevProcessInfo_t;
typedef struct {
  int version;
  int dataWidth;        /* bits */
  int bandWidth;        /* GB/s, the whole part, of the cost model */
  int bandWidthDecimal; /* and its first decimal */
} cndevDDRInfo_t;
typedef struct {
  int version;
  int boardFreq; /* MHz, of the cost model */
} cndevFrequencyInfo_t;
/* Of the cost model, in a cycle of one core: multiply-adds of the tensor unit, operations of the vector unit (a
 * multiplication and an addition for each lane). */
typedef struct {
  int version;
  uint64_t int8Tensor, int16Tensor, fp16Tensor, bf16Tensor, fp32Tensor;
  uint64_t fp16Vector, bf16Vector, fp32Vector, int8Vector, int16Vector;
} cndevDeviceMaxPerformance_t;

cndevRet_t cndevInit(int reserved);
cndevRet_t cndevRelease(void);
const char* cndevGetErrorString(cndevRet_t error);
cndevRet_t cndevGetDeviceHandleByIndex(int index, cndevDevice_t* device);
/** This process: the device is its own. */
cndevRet_t cndevGetProcessInfo(unsigned* count, cndevProcessInfo_t* info, cndevDevice_t device);
cndevRet_t cndevGetDDRInfo(cndevDDRInfo_t* info, cndevDevice_t device);
cndevRet_t cndevGetFrequencyInfo(cndevFrequencyInfo_t* info, cndevDevice_t device);
cndevRet_t cndevGetDeviceMaxPerformance(cndevDeviceMaxPerformance_t* info, cndevDevice_t device);

#if defined(__cplusplus)
}
#endif

#define cndevCheckErrors(call)                                                                         \
  do {                                                                                                 \
    cndevRet_t neuware_ret = (call);                                                                   \
    if (neuware_ret != CNDEV_SUCCESS) {                                                                \
      fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #call, cndevGetErrorString(neuware_ret)); \
      exit(1);                                                                                         \
    }                                                                                                  \
  } while (0)

#endif /* NEUWARE_CNDEV_H_ */
