/* The driver of the emulated MLU: one device, one context, what they are. Names follow the vendor's driver. */
#ifndef NEUWARE_CN_API_H_
#define NEUWARE_CN_API_H_

#include <stddef.h>
#include <stdint.h>

#if defined(__cplusplus)
extern "C" {
#endif

typedef enum {
  CN_SUCCESS = 0,
  CN_OPS_ERROR_NOT_SUPPORTED = 1,
  CN_ERROR_INVALID_VALUE = 2,
  CN_MEMORY_ERROR_OUT_OF_MEMORY = 3,
} CNresult;
typedef uint64_t CNaddr;
typedef int CNdev;
typedef struct CNcontext_st* CNcontext;
typedef struct cnrtQueue* CNqueue;
typedef const void* CNkernel;

typedef enum {
  CN_KERNEL_CLASS_NONE = 0,
  CN_KERNEL_CLASS_BLOCK = 1,
  CN_KERNEL_CLASS_UNION = 4,
  CN_KERNEL_CLASS_UNION2 = 8,
  CN_KERNEL_CLASS_UNION4 = 16,
  CN_KERNEL_CLASS_UNION8 = 32,
  CN_KERNEL_CLASS_UNION16 = 64,
} KernelClass;

typedef enum {
  CN_DEVICE_ATTRIBUTE_MAX_CLUSTER_COUNT = 0,
  CN_DEVICE_ATTRIBUTE_MAX_CORE_COUNT_PER_CLUSTER = 1,
  CN_DEVICE_ATTRIBUTE_NRAM_SIZE_PER_CORE = 2,
  CN_DEVICE_ATTRIBUTE_WEIGHT_RAM_SIZE_PER_CORE = 3,
  CN_DEVICE_ATTRIBUTE_MAX_SHARED_RAM_SIZE_PER_CLUSTER = 4,
  CN_DEVICE_ATTRIBUTE_MLU_ISA_VERSION = 5,
  CN_DEVICE_ATTRIBUTE_CLUSTER_CLOCK_RATE = 6,      /* kHz, modelled */
  CN_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE = 7,       /* kHz, so that with the width the modelled bandwidth comes out */
  CN_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH = 8, /* bits */
  CN_DEVICE_ATTRIBUTE_MAX_L2_CACHE_SIZE = 9,       /* 0: caches are not modelled */
  CN_DEVICE_ATTRIBUTE_MAX_PERSISTING_L2_CACHE_SIZE = 10,
  CN_DEVICE_ATTRIBUTE_MAX_BLOCK_TASK_DIM_X = 11,
  CN_DEVICE_ATTRIBUTE_MAX_BLOCK_TASK_DIM_Y = 12,
  CN_DEVICE_ATTRIBUTE_MAX_BLOCK_TASK_DIM_Z = 13,
  CN_DEVICE_ATTRIBUTE_LINEAR_MAPPING_SUPPORTED = 14,
  CN_DEVICE_ATTRIBUTE_LINEAR_RECOMMEND_GRANULARITY = 15,
} CNdevice_attribute;

typedef enum { CN_MEM_ATTRIBUTE_ISLINEAR = 0 } CNmem_attribute;

typedef enum {
  CN_CTX_CONFIG_VISIBLE_CLUSTER_NUM = 0,
  CN_CTX_CONFIG_VISIBLE_CLUSTER = 1, /* a bit for each cluster */
  CN_CTX_CONFIG_UNION_LIMIT = 2,     /* a KernelClass */
} CNctxConfigParamType;

typedef union {
  unsigned int visibleClusterNumber;
  uint64_t visibleCluster;
  KernelClass unionLimit;
} CNctxConfigParam;

/** The name of a result; of an unknown one CN_ERROR_INVALID_VALUE and NULL. */
CNresult cnGetErrorName(CNresult error, const char** name);
CNresult cnGetErrorString(CNresult error, const char** text);
CNresult cnGetLibVersion(int* major, int* minor, int* patch);
CNresult cnGetDriverVersion(int* major, int* minor, int* patch);

CNresult cnCtxGetCurrent(CNcontext* context);
CNresult cnCtxGetDevice(CNdev* device);
CNresult cnSharedContextAcquire(CNcontext* context, CNdev device);
CNresult cnQueueGetContext(CNqueue queue, CNcontext* context);
/** How many clusters and which kernel class programs should ask for; launches are held against the machine alone. */
CNresult cnGetCtxConfigParam(CNcontext context, CNctxConfigParamType type, CNctxConfigParam* param);
CNresult cnSetCtxConfigParam(CNcontext context, CNctxConfigParamType type, CNctxConfigParam* param);
/** Jobs of that class the visible clusters run at once. */
CNresult cnGetCtxMaxParallelUnionTasks(CNcontext context, KernelClass kernel_class, int* number);

CNresult cnDeviceGetAttribute(int* value, CNdevice_attribute attribute, CNdev device);
CNresult cnDeviceGetName(char* name, int length, CNdev device);

/** Device memory, as cnrtMalloc gives it. */
CNresult cnMallocConstant(CNaddr* address, size_t bytes);
CNresult cnFree(CNaddr address);
CNresult cnGetMemAttribute(void* value, CNmem_attribute attribute, CNaddr address);

#if defined(__cplusplus)
}
#endif

#endif /* NEUWARE_CN_API_H_ */
