#if defined(__has_include_next)
#if __has_include_next(<cnrt.h>)
#include_next <cnrt.h>
#define MLUOPS_VENDOR_CNRT
#endif
#endif
#if !defined(MLUOPS_VENDOR_CNRT) && !defined(MLUOPS_CNRT_STANDIN_H_)
#define MLUOPS_CNRT_STANDIN_H_
#include <stddef.h>
#include <stdint.h>
typedef struct cnrtQueueStandIn* cnrtQueue_t;
#endif
