// What a core throws when a kernel does what the device would not bear; caught where tasks are run.
#pragma once

#include <exception>
#include <string>
#include <utility>

namespace mluops::emu {

class Fault : public std::exception {
 public:
  explicit Fault(std::string text) : text_(std::move(text)) {}
  const char* what() const noexcept override { return text_.c_str(); }

 private:
  std::string text_;
};

}  // namespace mluops::emu
