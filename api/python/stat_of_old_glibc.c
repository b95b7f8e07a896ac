/* stat and fstat64 for the wheel: glibc 2.33 made functions of what were inline calls before, so a reference to them
 * would ask for that glibc. They are the system calls, whose struct is glibc's on 64-bit Linux.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

_Static_assert(sizeof(struct stat) == sizeof(struct stat64), "one layout");

__attribute__((visibility("hidden"))) int stat(const char* restrict path, struct stat* restrict file) {
  return (int)syscall(SYS_newfstatat, AT_FDCWD, path, file, 0);
}

__attribute__((visibility("hidden"))) int fstat64(int descriptor, struct stat64* file) {
  return (int)syscall(SYS_fstat, descriptor, file);
}
