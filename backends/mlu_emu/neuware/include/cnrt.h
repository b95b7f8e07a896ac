/* The runtime of the emulated MLU: devices, queues, notifiers, memory, launches' errors. One device, number 0. Work is
 * complete when the call that put it on a queue returns; a fault of a kernel is kept as the thread's last error and as
 * its queue's state. Names follow the vendor's runtime.
 */
#ifndef NEUWARE_CNRT_H_
#define NEUWARE_CNRT_H_

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "cn_api.h"

#if defined(__cplusplus)
extern "C" {
#endif

typedef enum {
  cnrtSuccess = 0,
  cnrtErrorNotReady = 1,
  cnrtErrorArgsInvalid = 100,
  cnrtErrorInvalidSymbol = 101,
  cnrtErrorNoDevice = 102,
  cnrtErrorKernelFault = 103,   /* a task did what the device would not bear */
  cnrtErrorLaunchInvalid = 104, /* dimensions or type the machine cannot run */
  cnrtErrorNoMem = 100100,
} cnrtRet_t;
#define CNRT_RET_SUCCESS cnrtSuccess
#define CNRT_RET_ERR_INVALID cnrtErrorArgsInvalid

typedef enum {
  cnrtMemcpyHostToDev = 0,
  cnrtMemcpyDevToDev = 1,
  cnrtMemcpyDevToHost = 2,
  cnrtMemcpyHostToHost = 3,
  cnrtMemcpyPeerToPeer = 4,
  cnrtMemcpyNoDirection = 5,
} cnrtMemTransDir_t;
/* As they were called before. */
#define CNRT_MEM_TRANS_DIR_HOST2DEV cnrtMemcpyHostToDev
#define CNRT_MEM_TRANS_DIR_DEV2DEV cnrtMemcpyDevToDev
#define CNRT_MEM_TRANS_DIR_DEV2HOST cnrtMemcpyDevToHost
#define CNRT_MEM_TRANS_DIR_HOST2HOST cnrtMemcpyHostToHost
#define CNRT_MEM_TRANS_DIR_PEER2PEER cnrtMemcpyPeerToPeer
#define CNRT_MEM_TRANS_DIR_NODIR cnrtMemcpyNoDirection

typedef enum {
  cnrtFuncTypeBlock = 0,
  cnrtFuncTypeUnion1 = 4,
  cnrtFuncTypeUnion2 = 8,
  cnrtFuncTypeUnion4 = 16,
  cnrtFuncTypeUnion8 = 32,
  cnrtFuncTypeUnion16 = 64,
  cnrtFuncTypeMutable = 128,
} cnrtFunctionType_t;
/* As they were called before. */
#define CNRT_FUNC_TYPE_BLOCK cnrtFuncTypeBlock
#define CNRT_FUNC_TYPE_UNION1 cnrtFuncTypeUnion1
#define CNRT_FUNC_TYPE_UNION2 cnrtFuncTypeUnion2
#define CNRT_FUNC_TYPE_UNION4 cnrtFuncTypeUnion4
#define CNRT_FUNC_TYPE_UNION8 cnrtFuncTypeUnion8
#define CNRT_FUNC_TYPE_UNION16 cnrtFuncTypeUnion16

typedef struct {
  unsigned int x, y, z;
} cnrtDim3_t;

typedef struct cnrtQueue* cnrtQueue_t;
typedef struct cnrtNotifier* cnrtNotifier_t;

typedef enum {
  cnrtAttrClusterCount = 0,
  cnrtAttrMcorePerCluster = 1,
  cnrtAttrNramSizePerMcore = 2,
  cnrtAttrWramSizePerMcore = 3,
  cnrtAttrMaxSramSizePerCluster = 4,
  cnrtAttrISAVersion = 5,
} cnrtDeviceAttr_t;

typedef enum { cnrtMemTypeUnregistered = 0, cnrtMemTypeHost = 1, cnrtMemTypeDevice = 2 } cnrtMemType_t;
typedef struct {
  cnrtMemType_t type;
  int device;
  void* devicePointer;
  void* hostPointer;
} cnrtPointerAttributes_t;

const char* cnrtGetErrorStr(cnrtRet_t error);
const char* cnrtGetErrorName(cnrtRet_t error);
/** The last error of the calling thread; Get forgets it, Peek does not. */
cnrtRet_t cnrtGetLastError(void);
cnrtRet_t cnrtPeekAtLastError(void);
/** The text of the calling thread's last fault: kernel, task, word, operand. "" when there was none. Ours. */
const char* cnrtExtGetLastFault(void);
/* The last warning of the last launch, "" for none. */
const char* cnrtExtGetLastWarning(void);
/** 1 in a process that was forked by one that had launched kernels, which cannot launch any; else 0. Ours. */
int cnrtExtIsInBadFork(void);
cnrtRet_t cnrtGetLibVersion(int* major, int* minor, int* patch);

cnrtRet_t cnrtGetDeviceCount(unsigned int* count);
cnrtRet_t cnrtGetDevice(int* ordinal);
cnrtRet_t cnrtSetDevice(int ordinal);
cnrtRet_t cnrtSyncDevice(void);
cnrtRet_t cnrtDeviceReset(void);
cnrtRet_t cnrtDeviceGetAttribute(int* value, cnrtDeviceAttr_t attribute, int ordinal);
cnrtRet_t cnrtDeviceGetPCIBusId(char* id, int length, int ordinal);

cnrtRet_t cnrtQueueCreate(cnrtQueue_t* queue);
cnrtRet_t cnrtQueueDestroy(cnrtQueue_t queue);
/** The error of the queue's first fault, if it had one; NULL is the default queue. */
cnrtRet_t cnrtQueueSync(cnrtQueue_t queue);
cnrtRet_t cnrtQueueQuery(cnrtQueue_t queue);
/** The text of the queue's first fault, valid until the thread's next call; "" when it had none. It is forgotten: the
 * queue has no error then. Ours. */
const char* cnrtExtTakeFault(cnrtQueue_t queue);

/** Device memory: kernels reach these blocks and no other; 512-byte aligned. */
cnrtRet_t cnrtMalloc(void** pointer, size_t bytes);
cnrtRet_t cnrtMallocConstant(void** pointer, size_t bytes);
/** cnrtErrorArgsInvalid for what is no block, or no longer one; NULL is fine. */
cnrtRet_t cnrtFree(void* pointer);
cnrtRet_t cnrtHostMalloc(void** pointer, size_t bytes);
cnrtRet_t cnrtFreeHost(void* pointer);
cnrtRet_t cnrtMemGetInfo(size_t* free_bytes, size_t* total_bytes);
cnrtRet_t cnrtPointerGetAttributes(cnrtPointerAttributes_t* attributes, const void* pointer);
/** The device's side must lie in one block, or nothing is copied. */
cnrtRet_t cnrtMemcpy(void* dst, void* src, size_t bytes, cnrtMemTransDir_t direction);
cnrtRet_t cnrtMemcpyAsync(void* dst, void* src, size_t bytes, cnrtQueue_t queue, cnrtMemTransDir_t direction);
cnrtRet_t cnrtMemset(void* pointer, int value, size_t bytes);
cnrtRet_t cnrtMemsetAsync(void* pointer, int value, size_t bytes, cnrtQueue_t queue);

/** Types of host data that cnrtCastDataType_V2 converts. */
typedef enum {
  cnrtBoolean = 0,
  cnrtChar = 1,
  cnrtUchar = 2,
  cnrtShort = 3,
  cnrtUshort = 4,
  cnrtInt = 5,
  cnrtUint = 6,
  cnrtLonglong = 7,
  cnrtUlonglong = 8,
  cnrtHalf = 9,
  cnrtBfloat = 10,
  cnrtFloat = 11,
  cnrtDouble = 12,
} cnrtDataType_V2_t;
/** Types of data as older programs name them. */
typedef enum {
  CNRT_INVALID = 0x0,
  CNRT_FLOAT16 = 0x12,
  CNRT_FLOAT32 = 0x13,
  CNRT_FLOAT64 = 0x14,
  CNRT_INT4 = 0x20,
  CNRT_INT8 = 0x21,
  CNRT_INT16 = 0x22,
  CNRT_INT32 = 0x23,
  CNRT_INT64 = 0x24,
  CNRT_UINT8 = 0x31,
  CNRT_UINT16 = 0x32,
  CNRT_UINT32 = 0x33,
  CNRT_BOOL = 0x61,
} cnrtDataType_t;
/** To nearest with ties to even, towards zero, down, up, to nearest with ties away from zero. */
typedef enum {
  cnrtRounding_rm = 0,
  cnrtRounding_tz = 1,
  cnrtRounding_dn = 2,
  cnrtRounding_up = 3,
  cnrtRounding_rd = 4,
} cnrtRoundingMode_t;
typedef struct cnrtQuantizedParam* cnrtQuantizedParam_t;
cnrtRet_t cnrtCreateQuantizedParam(cnrtQuantizedParam_t* param, int position, float scale, int offset);
cnrtRet_t cnrtDestroyQuantizedParam(cnrtQuantizedParam_t param);
/** Host memory. With a parameter, to integers q = round(x * scale / 2^position) + offset, from integers the inverse;
 * integers saturate, NaN gives 0; half and bfloat16 are rounded to nearest whatever the mode. */
cnrtRet_t cnrtCastDataType_V2(const void* src, cnrtDataType_V2_t src_type, void* dst, cnrtDataType_V2_t dst_type,
                              int count, cnrtQuantizedParam_t param, cnrtRoundingMode_t rounding);

cnrtRet_t cnrtNotifierCreate(cnrtNotifier_t* notifier);
cnrtRet_t cnrtNotifierDestroy(cnrtNotifier_t notifier);
cnrtRet_t cnrtPlaceNotifier(cnrtNotifier_t notifier, cnrtQueue_t queue);
cnrtRet_t cnrtWaitNotifier(cnrtNotifier_t notifier);
cnrtRet_t cnrtQueueWaitNotifier(cnrtNotifier_t notifier, cnrtQueue_t queue, unsigned int flags);
/** Microseconds the emulated machine took between two notifiers of one queue: modelled, not measured. */
cnrtRet_t cnrtNotifierDuration(cnrtNotifier_t start, cnrtNotifier_t end, float* us);
/** The same in milliseconds. */
cnrtRet_t cnrtNotifierElapsedTime(cnrtNotifier_t start, cnrtNotifier_t end, float* ms);

/** Launches a kernel by its address; `arguments` points to a pointer to each, which is copied before the call returns.
 * A fault is told by the queue. */
cnrtRet_t cnrtInvokeKernel(const void* kernel, cnrtDim3_t dim, cnrtFunctionType_t type, void** arguments,
                           size_t reserved, cnrtQueue_t queue);

/* The runtime before version 5, as older programs call it. cnrtInit takes flags without a meaning here; a device handle
 * is the card's number. */
typedef int cnrtDev_t;
static inline cnrtRet_t cnrtInit(unsigned int flags) {
  (void)flags;
  return cnrtSuccess;
}
static inline void cnrtDestroy(void) {}
static inline cnrtRet_t cnrtGetDeviceHandle(cnrtDev_t* device, int ordinal) {
  unsigned int count = 0;
  if (device == NULL) return cnrtErrorArgsInvalid;
  if (cnrtGetDeviceCount(&count) != cnrtSuccess || ordinal < 0 || (unsigned int)ordinal >= count) {
    return cnrtErrorNoDevice;
  }
  *device = ordinal;
  return cnrtSuccess;
}
static inline cnrtRet_t cnrtSetCurrentDevice(cnrtDev_t device) {
  return cnrtSetDevice(device);
}
static inline cnrtRet_t cnrtGetCurrentDevice(cnrtDev_t* device) {
  return cnrtGetDevice(device);
}
static inline cnrtRet_t cnrtCreateQueue(cnrtQueue_t* queue) {
  return cnrtQueueCreate(queue);
}
static inline cnrtRet_t cnrtDestroyQueue(cnrtQueue_t queue) {
  return cnrtQueueDestroy(queue);
}
static inline cnrtRet_t cnrtSyncQueue(cnrtQueue_t queue) {
  return cnrtQueueSync(queue);
}
static inline cnrtRet_t cnrtQueryQueue(cnrtQueue_t queue) {
  return cnrtQueueQuery(queue);
}
static inline cnrtRet_t cnrtCreateNotifier(cnrtNotifier_t* notifier) {
  return cnrtNotifierCreate(notifier);
}
static inline cnrtRet_t cnrtDestroyNotifier(cnrtNotifier_t* notifier) {
  return notifier == NULL ? cnrtErrorArgsInvalid : cnrtNotifierDestroy(*notifier);
}
/* Parameters are added in their order, each a copy of so many bytes. */
typedef struct cnrtKernelParamsBuffer* cnrtKernelParamsBuffer_t;
cnrtRet_t cnrtGetKernelParamsBuffer(cnrtKernelParamsBuffer_t* params);
cnrtRet_t cnrtKernelParamsBufferAddParam(cnrtKernelParamsBuffer_t params, const void* data, size_t bytes);
cnrtRet_t cnrtDestroyKernelParamsBuffer(cnrtKernelParamsBuffer_t params);
cnrtRet_t cnrtInvokeKernel_V2(const void* kernel, cnrtDim3_t dim, cnrtKernelParamsBuffer_t params,
                              cnrtFunctionType_t type, cnrtQueue_t queue);
/* What had to be loaded before a launch needs no loading here. */
typedef int cnrtKernelInitParam_t;
static inline cnrtRet_t cnrtCreateKernelInitParam(cnrtKernelInitParam_t* param) {
  if (param == NULL) return cnrtErrorArgsInvalid;
  *param = 0;
  return cnrtSuccess;
}
static inline cnrtRet_t cnrtInitKernelMemory(const void* kernel, cnrtKernelInitParam_t param) {
  (void)param;
  return kernel == NULL ? cnrtErrorArgsInvalid : cnrtSuccess;
}
static inline cnrtRet_t cnrtDestroyKernelInitParamAndMemory(cnrtKernelInitParam_t param) {
  (void)param;
  return cnrtSuccess;
}
static inline cnrtRet_t cnrtInvokeKernel_V3(const void* kernel, cnrtKernelInitParam_t param, cnrtDim3_t dim,
                                            cnrtKernelParamsBuffer_t params, cnrtFunctionType_t type, cnrtQueue_t queue,
                                            void* extra) {
  (void)param;
  (void)extra;
  return cnrtInvokeKernel_V2(kernel, dim, params, type, queue);
}
static inline cnrtRet_t cnrtConvertFloatToHalf(uint16_t* half_bits, float value) {
  return cnrtCastDataType_V2(&value, cnrtFloat, half_bits, cnrtHalf, 1, NULL, cnrtRounding_rm);
}
static inline cnrtRet_t cnrtConvertHalfToFloat(float* value, uint16_t half_bits) {
  return cnrtCastDataType_V2(&half_bits, cnrtHalf, value, cnrtFloat, 1, NULL, cnrtRounding_rm);
}

#if defined(__cplusplus)
}
#endif

#define CNRT_CHECK(call)                                                                           \
  do {                                                                                             \
    cnrtRet_t neuware_ret = (call);                                                                \
    if (neuware_ret != cnrtSuccess) {                                                              \
      fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #call, cnrtGetErrorStr(neuware_ret)); \
      exit(1);                                                                                     \
    }                                                                                              \
  } while (0)

#endif /* NEUWARE_CNRT_H_ */
