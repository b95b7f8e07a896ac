// glibc older than 2.32 lacks this flag, by which libstdc++'s headers skip atomic additions in processes with one
// thread. Defined here, for the wheel only, it says that there may be more.
__attribute__((visibility("hidden"))) char __libc_single_threaded = 0;
