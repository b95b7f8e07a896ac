// The exception of a core whose kernel does something the hardware would not tolerate; caught where tasks are run.
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

/// Ends the task of a memory core that runs code meant for others; the launch goes on.
struct EndOfTask {};

}  // namespace mluops::emu
