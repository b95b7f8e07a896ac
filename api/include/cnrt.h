/* Stand-in for the vendor's runtime header: the calls a sample program makes, on host memory and with a queue on
 * which everything is done at once. Header-only, so that nothing clashes with the vendor's library. Steps aside when
 * the vendor's own cnrt.h is on the include path behind this one.
 */
#pragma GCC system_header /* #include_next is an extension */
#if defined(__has_include_next)
#if __has_include_next(<cnrt.h>)
#include_next <cnrt.h>
#define MLUOPS_VENDOR_CNRT 1
#endif
#endif

#if !defined(MLUOPS_VENDOR_CNRT) && !defined(MLUOPS_CNRT_STANDIN_H_)
#define MLUOPS_CNRT_STANDIN_H_

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#if defined(_WIN32)
#include <malloc.h>
#endif

#if defined(__cplusplus)
extern "C" {
#endif

/** What a runtime call returns. */
typedef enum {
  cnrtSuccess = 0,
  cnrtErrorArgsInvalid = 100,
  cnrtErrorNoMem = 100100,
} cnrtRet_t;

/** Direction of a copy; on the host all of them are memcpy. */
typedef enum {
  cnrtMemcpyHostToDev = 0,
  cnrtMemcpyDevToDev = 1,
  cnrtMemcpyDevToHost = 2,
  cnrtMemcpyHostToHost = 3,
  cnrtMemcpyPeerToPeer = 4,
  cnrtMemcpyNoDirection = 5,
} cnrtMemTransDir_t;

/** How many cores a kernel occupies. */
typedef enum {
  cnrtFuncTypeBlock = 0,
  cnrtFuncTypeUnion1 = 4,
  cnrtFuncTypeUnion2 = 8,
  cnrtFuncTypeUnion4 = 16,
  cnrtFuncTypeUnion8 = 32,
  cnrtFuncTypeUnion16 = 64,
} cnrtFunctionType_t;

/** Grid of a launch. */
typedef struct {
  unsigned int x, y, z;
} cnrtDim3_t;

/** A queue: every operation on it is complete when the call that put it there returns. */
typedef struct cnrtQueueStandIn {
  int device;
} * cnrtQueue_t;

/** A point in time. */
typedef struct cnrtNotifierStandIn {
  int64_t seconds, nanoseconds;
} * cnrtNotifier_t;

#if !defined(__cplusplus) && (!defined(__STDC_VERSION__) || __STDC_VERSION__ < 201112L)
void* aligned_alloc(size_t alignment, size_t size); /* what C99 lacks and the C library has */
#endif

static inline const char* cnrtGetErrorStr(cnrtRet_t error) {
  switch (error) {
    case cnrtSuccess:
      return "cnrtSuccess";
    case cnrtErrorArgsInvalid:
      return "cnrtErrorArgsInvalid";
    case cnrtErrorNoMem:
      return "cnrtErrorNoMem";
  }
  return "unknown cnrt error";
}

/* Calls report through their return value; nothing is deferred, so nothing is pending. */
static inline cnrtRet_t cnrtGetLastError(void) {
  return cnrtSuccess;
}
static inline cnrtRet_t cnrtPeekAtLastError(void) {
  return cnrtSuccess;
}

/* ---- devices: one, number 0 ---- */

static inline cnrtRet_t cnrtGetDeviceCount(unsigned int* count) {
  if (count == NULL) return cnrtErrorArgsInvalid;
  *count = 1;
  return cnrtSuccess;
}

static inline cnrtRet_t cnrtGetDevice(int* ordinal) {
  if (ordinal == NULL) return cnrtErrorArgsInvalid;
  *ordinal = 0;
  return cnrtSuccess;
}

static inline cnrtRet_t cnrtSetDevice(int ordinal) {
  return ordinal == 0 ? cnrtSuccess : cnrtErrorArgsInvalid;
}

static inline cnrtRet_t cnrtSyncDevice(void) {
  return cnrtSuccess;
}
static inline cnrtRet_t cnrtDeviceReset(void) {
  return cnrtSuccess;
}

/* ---- queues ---- */

static inline cnrtRet_t cnrtQueueCreate(cnrtQueue_t* queue) {
  if (queue == NULL) return cnrtErrorArgsInvalid;
  *queue = (cnrtQueue_t)calloc(1, sizeof(struct cnrtQueueStandIn));
  return *queue != NULL ? cnrtSuccess : cnrtErrorNoMem;
}

/** NULL is the default queue. */
static inline cnrtRet_t cnrtQueueSync(cnrtQueue_t queue) {
  (void)queue;
  return cnrtSuccess;
}

static inline cnrtRet_t cnrtQueueQuery(cnrtQueue_t queue) {
  (void)queue;
  return cnrtSuccess;
}

static inline cnrtRet_t cnrtQueueDestroy(cnrtQueue_t queue) {
  if (queue == NULL) return cnrtErrorArgsInvalid;
  free(queue);
  return cnrtSuccess;
}

/* ---- memory ---- */

static inline cnrtRet_t cnrtMalloc(void** pointer, size_t bytes) {
  if (pointer == NULL || bytes == 0) return cnrtErrorArgsInvalid;
  if (bytes > SIZE_MAX / 2) return cnrtErrorNoMem; /* Windows' allocator adds the alignment unchecked */
    /* The vendor's allocator returns aligned memory, and kernels may rely on it. */
#if defined(_WIN32) /* which has no aligned_alloc */
  *pointer = _aligned_malloc((bytes + 511) / 512 * 512, 512);
#else
  *pointer = aligned_alloc(512, (bytes + 511) / 512 * 512);
#endif
  return *pointer != NULL ? cnrtSuccess : cnrtErrorNoMem;
}

static inline cnrtRet_t cnrtFree(void* pointer) {
#if defined(_WIN32)
  _aligned_free(pointer);
#else
  free(pointer);
#endif
  return cnrtSuccess;
}

static inline cnrtRet_t cnrtHostMalloc(void** pointer, size_t bytes) {
  return cnrtMalloc(pointer, bytes);
}
static inline cnrtRet_t cnrtFreeHost(void* pointer) {
  return cnrtFree(pointer);
}

static inline cnrtRet_t cnrtMemcpy(void* dst, void* src, size_t bytes, cnrtMemTransDir_t direction) {
  (void)direction;
  if ((dst == NULL || src == NULL) && bytes != 0) return cnrtErrorArgsInvalid;
  if (bytes != 0) memmove(dst, src, bytes);
  return cnrtSuccess;
}

static inline cnrtRet_t cnrtMemcpyAsync(void* dst, void* src, size_t bytes, cnrtQueue_t queue,
                                        cnrtMemTransDir_t direction) {
  (void)queue;
  return cnrtMemcpy(dst, src, bytes, direction);
}

static inline cnrtRet_t cnrtMemset(void* pointer, int value, size_t bytes) {
  if (pointer == NULL && bytes != 0) return cnrtErrorArgsInvalid;
  if (bytes != 0) memset(pointer, value, bytes);
  return cnrtSuccess;
}

static inline cnrtRet_t cnrtMemsetAsync(void* pointer, int value, size_t bytes, cnrtQueue_t queue) {
  (void)queue;
  return cnrtMemset(pointer, value, bytes);
}

/* ---- notifiers: real times, since the work between two of them is done when the second is placed ---- */

static inline cnrtRet_t cnrtNotifierCreate(cnrtNotifier_t* notifier) {
  if (notifier == NULL) return cnrtErrorArgsInvalid;
  *notifier = (cnrtNotifier_t)calloc(1, sizeof(struct cnrtNotifierStandIn));
  return *notifier != NULL ? cnrtSuccess : cnrtErrorNoMem;
}

static inline cnrtRet_t cnrtNotifierDestroy(cnrtNotifier_t notifier) {
  if (notifier == NULL) return cnrtErrorArgsInvalid;
  free(notifier);
  return cnrtSuccess;
}

static inline cnrtRet_t cnrtPlaceNotifier(cnrtNotifier_t notifier, cnrtQueue_t queue) {
  (void)queue;
  if (notifier == NULL) return cnrtErrorArgsInvalid;
#if defined(TIME_UTC)
  struct timespec now;
  if (timespec_get(&now, TIME_UTC) != TIME_UTC) return cnrtErrorArgsInvalid;
  notifier->seconds = (int64_t)now.tv_sec;
  notifier->nanoseconds = (int64_t)now.tv_nsec;
#elif defined(_WIN32)
  const clock_t now = clock(); /* real time on Windows, in milliseconds */
  notifier->seconds = (int64_t)(now / CLOCKS_PER_SEC);
  notifier->nanoseconds = (int64_t)(now % CLOCKS_PER_SEC) * (1000000000 / CLOCKS_PER_SEC);
#else
  notifier->seconds = (int64_t)time(NULL); /* all that C99 without extensions offers */
  notifier->nanoseconds = 0;
#endif
  return cnrtSuccess;
}

static inline cnrtRet_t cnrtWaitNotifier(cnrtNotifier_t notifier) {
  return notifier != NULL ? cnrtSuccess : cnrtErrorArgsInvalid;
}

static inline cnrtRet_t cnrtQueueWaitNotifier(cnrtNotifier_t notifier, cnrtQueue_t queue, unsigned int flags) {
  (void)queue;
  (void)flags;
  return cnrtWaitNotifier(notifier);
}

/** Microseconds from start to end. */
static inline cnrtRet_t cnrtNotifierDuration(cnrtNotifier_t start, cnrtNotifier_t end, float* us) {
  if (start == NULL || end == NULL || us == NULL) return cnrtErrorArgsInvalid;
  *us = (float)((double)(end->seconds - start->seconds) * 1e6 + (double)(end->nanoseconds - start->nanoseconds) * 1e-3);
  return cnrtSuccess;
}

/** Milliseconds from start to end. */
static inline cnrtRet_t cnrtNotifierElapsedTime(cnrtNotifier_t start, cnrtNotifier_t end, float* ms) {
  const cnrtRet_t ret = cnrtNotifierDuration(start, end, ms);
  if (ret == cnrtSuccess) *ms *= 1e-3f;
  return ret;
}

#if defined(__cplusplus)
}
#endif

#endif /* stand-in */
