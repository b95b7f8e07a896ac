// The child of --library: every mluOp function it calls is LIB's, where LIB has it.
#include <dlfcn.h>
#include <unistd.h>

#include <memory>
#include <optional>
#include <stdexcept>

#include "plugins/device/runtime.h"
#include "test/cases/base/contract.h"
#include "test/conformance/asks.h"
#include "test/support/problem.h"

namespace mluops::conformance {
namespace {

void send(int out, const void* data, std::size_t bytes) {
  const char* at = static_cast<const char*>(data);
  while (bytes > 0) {
    const ssize_t sent = write(out, at, bytes);
    if (sent <= 0) _exit(3);  // nobody listens
    at += sent, bytes -= static_cast<std::size_t>(sent);
  }
}

/// LIB: the first of the preloaded files.
void* open_library(const std::string& library) {
  void* const opened = dlopen(library.substr(0, library.find(':')).c_str(), RTLD_NOW | RTLD_NOLOAD);
  if (opened == nullptr) throw std::runtime_error(library + " was not loaded");
  return opened;
}

/// A tensor's memory where LIB looks for it.
class TensorOfLibrary {
 public:
  TensorOfLibrary(const device::Runtime& runtime, test::Tensor& tensor) : tensor_(tensor) {
    if (runtime.there() && tensor_.data() != nullptr)
      memory_.emplace(runtime, tensor_.data(), tensor_.buffer().bytes());
  }
  cases::Argument argument() { return {tensor_.desc(), memory_ ? memory_->get() : tensor_.data()}; }
  void fetch() const {
    if (memory_) memory_->fetch(tensor_.data());
  }

 private:
  test::Tensor& tensor_;
  std::optional<device::DeviceMemory> memory_;
};

class Answerer {
 public:
  Answerer(const std::string& library, int out) : library_(open_library(library)), out_(out) {
    if (mluOpCreate(&handle_) != MLUOP_STATUS_SUCCESS) throw std::runtime_error("mluOpCreate failed");
    queue_ = runtime_.make_queue();
    if (queue_ != nullptr) mluOpSetQueue(handle_, static_cast<cnrtQueue_t>(queue_));
    cases::extended_is_allowed = dlsym(library_, "mluOpExtSetContract") != nullptr;
    last_text_ = reinterpret_cast<const char* (*)()>(dlsym(library_, "mluOpExtGetLastErrorText"));
  }

  Answerer(const Answerer&) = delete;
  Answerer& operator=(const Answerer&) = delete;
  ~Answerer() { mluOpDestroy(handle_); }

  void answer(std::uint64_t number, const Ask& ask) {
    say({AnswerHead::kBegins, 0, number, 0, 0}, "", {});
    if (dlsym(library_, ask.op->function) == nullptr) return say({AnswerHead::kAbsent, 0, number, 0, 0}, "", {});
    cases::Description description = describe(ask.text, ask.dtype);
    test::Problem problem(description);
    if (ask.lost >= 0) problem.inputs[static_cast<std::size_t>(ask.lost)]->lose_data();
    for (const auto& output : problem.outputs) output->buffer().fill_with_garbage();
    const mluOpStatus_t status = call(description, problem);
    std::vector<unsigned char> bytes;
    for (const auto& output : problem.outputs) {
      const auto own = output->bytes();
      bytes.insert(bytes.end(), own.begin(), own.end());
    }
    std::string text = status == MLUOP_STATUS_SUCCESS ? "" : mluOpGetErrorString(status);
    if (status != MLUOP_STATUS_SUCCESS && last_text_ != nullptr) text = last_text_();
    say({AnswerHead::kAnswered, status, number, 0, 0}, text, bytes);
  }

 private:
  void say(AnswerHead head, const std::string& text, const std::vector<unsigned char>& bytes) const {
    head.text_bytes = text.size(), head.output_bytes = bytes.size();
    send(out_, &head, sizeof head);
    send(out_, text.data(), text.size());
    send(out_, bytes.data(), bytes.size());
  }

  mluOpStatus_t call(const cases::Description& description, test::Problem& problem) const {
    std::vector<std::unique_ptr<TensorOfLibrary>> memory;
    cases::Arguments arguments;
    std::size_t input = 0, output = 0;
    for (const cases::TensorSpec& t : description.tensors) {
      test::Tensor& tensor = t.is_output() ? *problem.outputs[output++] : *problem.inputs[input++];
      memory.push_back(std::make_unique<TensorOfLibrary>(runtime_, tensor));
      arguments.push_back(memory.back()->argument());
    }
    const mluOpStatus_t status = description.call(handle_, arguments);
    runtime_.wait(queue_);
    for (const auto& one : memory) one->fetch();
    return status;
  }

  device::Runtime runtime_{RTLD_DEFAULT};
  void* library_;
  int out_;
  mluOpHandle_t handle_ = nullptr;
  void* queue_ = nullptr;
  const char* (*last_text_)() = nullptr;
};

}  // namespace

int answer(const LibrarySettings& settings, int out, std::size_t first) {
  const std::vector<Ask> asks = asks_of(settings);
  Answerer answerer(settings.library, out);
  for (std::size_t i = first; i < asks.size(); ++i) answerer.answer(i, asks[i]);
  return 0;
}

}  // namespace mluops::conformance
