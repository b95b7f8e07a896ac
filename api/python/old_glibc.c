/* What libstdc++ takes from a glibc newer than 2.28, for libraries that also run on that one. Linked into each library
 * of the wheel and seen by nobody else.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define HIDDEN __attribute__((visibility("hidden")))

/* 2.32: a flag by which headers skip atomic additions in processes with one thread. True: there may be more. */
HIDDEN char __libc_single_threaded = 0;

/* 2.33 made functions of what were inline calls before. They are the system calls, whose struct is glibc's on 64-bit
 * Linux.
 */
_Static_assert(sizeof(struct stat) == sizeof(struct stat64), "one layout");

HIDDEN int stat(const char* restrict path, struct stat* restrict file) {
  return (int)syscall(SYS_newfstatat, AT_FDCWD, path, file, 0);
}

HIDDEN int lstat(const char* restrict path, struct stat* restrict file) {
  return (int)syscall(SYS_newfstatat, AT_FDCWD, path, file, AT_SYMLINK_NOFOLLOW);
}

HIDDEN int fstat64(int descriptor, struct stat64* file) {
  return (int)syscall(SYS_fstat, descriptor, file);
}

/* 2.30: waits until a time of a given clock. Here the time is moved to the clock that conditions wait by; should that
 * one be set meanwhile, the wait ends early or late, and callers look at their own clock again.
 */
HIDDEN int pthread_cond_clockwait(pthread_cond_t* restrict condition, pthread_mutex_t* restrict mutex, clockid_t clock,
                                  const struct timespec* restrict until) {
  const long second = 1000000000;
  struct timespec there, here;
  clock_gettime(clock, &there);
  clock_gettime(CLOCK_REALTIME, &here);
  here.tv_sec += until->tv_sec - there.tv_sec;
  here.tv_nsec += until->tv_nsec - there.tv_nsec;
  if (here.tv_nsec < 0) here.tv_sec -= 1, here.tv_nsec += second;
  if (here.tv_nsec >= second) here.tv_sec += 1, here.tv_nsec -= second;
  return pthread_cond_timedwait(condition, mutex, &here);
}
