// An object of each thread.
#pragma once

#ifdef _WIN32
#include <pthread.h>

#include <memory>
#include <new>
#endif

namespace mluops {

/// The calling thread's object of a type, of which there is one; destroyed when the thread ends. For types with a
/// destructor: gcc 12 for Windows frees the memory of a thread's thread_local variables before their destructors run.
template <class T>
T& of_this_thread() {
#ifdef _WIN32
  static const pthread_key_t key = [] {
    pthread_key_t made = 0;
    if (pthread_key_create(&made, [](void* object) { delete static_cast<T*>(object); }) != 0) throw std::bad_alloc();
    return made;
  }();
  if (void* const known = pthread_getspecific(key)) return *static_cast<T*>(known);
  auto object = std::make_unique<T>();
  if (pthread_setspecific(key, object.get()) != 0) throw std::bad_alloc();
  return *object.release();
#else
  thread_local T object;
  return object;
#endif
}

}  // namespace mluops
