// The vendor's library of mluOp with its runtime, loaded once per process, apart from this project's library: neither
// sees the other's functions, though they have the same names.
#pragma once

#include <string>

#include "plugins/device/runtime.h"

namespace mluops::device {

class Library {
 public:
  /// MLUOP_DEVICE_LIBRARY, with MLUOP_DEVICE_RUNTIME where that is set; read until they could be loaded. Throws
  /// std::runtime_error with what is wrong with the files or with the card.
  static const Library& instance();

  /// Address of a function of the library; nullptr where it has none of that name.
  void* find(const char* name) const;
  const Runtime& runtime() const { return runtime_; }
  int card() const { return card_; }
  const std::string& path() const { return path_; }
  /// "/opt/.../libmluops.so: mluOp 1.11.1, cnrt 6.15.0, card 0 of 1".
  std::string text() const;

 private:
  Library();
  void check_library();
  void check_runtime(const std::string& runtime) const;
  void choose_card();

  std::string path_, version_;
  void* object_;
  Runtime runtime_;
  int card_ = 0;
};

/// The card of the library is that of the thread while it lives; then what was chosen before.
class OnCard {
 public:
  explicit OnCard(const Library& library);
  OnCard(const OnCard&) = delete;
  OnCard& operator=(const OnCard&) = delete;
  ~OnCard();

 private:
  const Runtime& runtime_;
  int before_;
};

}  // namespace mluops::device
