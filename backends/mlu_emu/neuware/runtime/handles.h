// The objects behind handles: those that live are known, so that any other is refused.
#pragma once

#include <memory>
#include <mutex>
#include <new>
#include <set>

namespace neuware {

template <class T>
class Handles {
 public:
  static Handles& instance() {
    static Handles& handles = *new Handles;  // static destructors may still destroy handles
    return handles;
  }

  /// nullptr when there is no memory.
  template <class... A>
  T* create(A... values) {
    auto object = std::unique_ptr<T>(new (std::nothrow) T{values...});
    if (object == nullptr) return nullptr;
    const std::lock_guard<std::mutex> lock(mutex_);
    return *live_.insert(object.release()).first;
  }
  /// False for what was never created, or is destroyed.
  bool destroy(T* object) {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (live_.erase(object) == 0) return false;
    delete object;
    return true;
  }
  bool lives(T* object) const {
    const std::lock_guard<std::mutex> lock(mutex_);
    return live_.count(object) != 0;
  }

 private:
  mutable std::mutex mutex_;
  std::set<T*> live_;
};

}  // namespace neuware
