// BANG C as clangd reads it, in front of each file: CUDA without its rules of host and device, whose launches it knows.
// `python -m mluops.neuware clangd-config` names this header; cncc never sees it.
#pragma once

#define __host__ __attribute__((host))
#define __device__ __attribute__((device))

#define __mlu_func__
#define __mlu_device__
#define __mlu_vector__
#define __mlu_global__
#define __mlu_entry__
#define __mlu_const__
#define __nram__
#define __wram__
#define __ldram__
#define __mlu_shared__

#include <bang.h>

// What stands between <<< and >>>.
int cudaConfigureCall(cnrtDim3_t, cnrtFunctionType_t, cnrtQueue_t);
int __cudaPushCallConfiguration(cnrtDim3_t, cnrtFunctionType_t, cnrtQueue_t);
