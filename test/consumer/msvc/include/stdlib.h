/* What the public headers need of a C library: this clang-cl has none, and that of mingw-w64 is for gcc. */
#pragma once
#include <stddef.h>
#ifdef __cplusplus
extern "C" {
#endif
void* calloc(size_t, size_t);
void free(void*);
void* _aligned_malloc(size_t, size_t);
void _aligned_free(void*);
void* memmove(void*, const void*, size_t);
void* memset(void*, int, size_t);
struct timespec {
  long long tv_sec;
  long tv_nsec;
};
#define TIME_UTC 1
int timespec_get(struct timespec*, int);
#ifdef __cplusplus
}
#endif
