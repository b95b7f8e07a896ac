#include "test/replay/replay.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <map>
#include <memory>
#include <stdexcept>

#include "common/dispatch.h"
#include "test/support/metrics.h"
#include "test/support/tensor.h"
#include "test/support/tolerance.h"

namespace mluops::replay {
namespace {

struct Operator {
  std::size_t problem;  ///< bytes
  Status (*run)(const BackendInstance&, const mluopsCall&, const void* problem);
};

const std::map<std::string, Operator>& operators() {
  static const std::map<std::string, Operator> all = {
#define MLUOPS_OPERATOR(name, Problem)                                                                       \
  {#name, {sizeof(Problem), [](const BackendInstance& instance, const mluopsCall& call, const void* bytes) { \
             return ask_backend(instance, call, *static_cast<const Problem*>(bytes), &mluopsBackend::name);  \
           }}},
#include "mluops/operators.inc"
  };
  return all;
}

/// What the problem points to, with its addresses in it.
class Memory {
 public:
  explicit Memory(const Recording& r) : problem_(r.problem) {
    for (const RecordedTensor& t : r.tensors) {
      data_.push_back(std::make_unique<test::GuardedBuffer>(t.before.size()));
      std::memcpy(data_.back()->data(), t.before.data(), t.before.size());
      void* const address = data_.back()->data();
      std::memcpy(problem_.data() + t.offset, &address, sizeof address);
    }
  }
  void reset(const Recording& r) {
    for (std::size_t i = 0; i < data_.size(); ++i) {
      const std::vector<unsigned char>& before = r.tensors[i].before;
      if (r.tensors[i].output) std::memcpy(data_[i]->data(), before.data(), before.size());
    }
  }
  const void* problem() const { return problem_.data(); }
  std::vector<unsigned char> tensor(std::size_t i) const {
    const auto* data = static_cast<const unsigned char*>(data_[i]->data());
    return {data, data + data_[i]->bytes()};
  }

 private:
  std::vector<unsigned char> problem_;
  std::vector<std::unique_ptr<test::GuardedBuffer>> data_;
};

mluOpDataType_t dtype_of(const std::string& name) {
  for (const mluOpDataType_t d : {MLUOP_DTYPE_HALF, MLUOP_DTYPE_FLOAT, MLUOP_DTYPE_DOUBLE, MLUOP_DTYPE_BFLOAT16}) {
    if (name == dtype_name(d)) return d;
  }
  return MLUOP_DTYPE_INVALID;  // integers: by bits
}

Comparison compare(const RecordedTensor& t, const std::vector<unsigned char>& bytes, const std::string& backend,
                   std::string& text) {
  if (bytes == t.after) return Comparison::kEqual;
  const mluOpDataType_t dtype = dtype_of(t.dtype);
  if (dtype == MLUOP_DTYPE_INVALID) {
    text = t.name + ": other bits";
    return Comparison::kDiffers;
  }
  const auto count = static_cast<std::int64_t>(bytes.size() / dtype_size(dtype));
  const test::Tolerance tolerance = test::tolerance_of(backend, dtype);
  const test::Metrics m = test::measure(reference::decode(dtype, bytes.data(), count),
                                        reference::decode(dtype, t.after.data(), count), tolerance.small);
  const bool within = m.wrong_nonfinite == 0 && m.diff1 <= tolerance.diff && m.diff2 <= tolerance.diff;
  char numbers[96];
  std::snprintf(numbers, sizeof numbers, ": diff1 %.2g diff2 %.2g", m.diff1, m.diff2);
  text = t.name + numbers;
  return within ? Comparison::kWithin : Comparison::kDiffers;
}

Outcome judge(const Recording& r, const Memory& memory, const std::string& backend) {
  Outcome outcome{Comparison::kEqual};
  for (std::size_t i = 0; i < r.tensors.size(); ++i) {
    const RecordedTensor& t = r.tensors[i];
    if (!t.kept) return {Comparison::kLeftOut, t.name + ": its data were too large to keep (MLUOP_CAPTURE_BYTES)"};
    if (!t.output) continue;
    std::string text;
    const Comparison one = compare(t, memory.tensor(i), backend, text);
    if (one > outcome.comparison) outcome.comparison = one;
    if (one != Comparison::kEqual && outcome.text.empty()) outcome.text = text;
  }
  return outcome;
}

void judge_by_reference(const Recording& r, const Memory& memory, const std::string& backend, RecordedCase& reference,
                        Outcome& outcome) {
  NamedBytes outputs;
  for (std::size_t i = 0; i < r.tensors.size(); ++i) {
    if (r.tensors[i].output) outputs[r.tensors[i].name] = memory.tensor(i);
  }
  outcome.mismatch = reference.mismatch(outputs, backend);
  outcome.reference = outcome.mismatch.empty() ? Judgement::kRight : Judgement::kWrong;
}

void demand(const Status& status) {
  if (status.failed()) throw std::runtime_error(status.text());
}

}  // namespace

const char* name_of(Comparison comparison) {
  const char* const names[] = {"equal", "within", "DIFFERS", "refused", "left out", "-"};
  return names[static_cast<int>(comparison)];
}

const char* name_of(Judgement judgement) {
  const char* const names[] = {"-", "right", "WRONG"};
  return names[static_cast<int>(judgement)];
}

Outcome replay(const Recording& r, const std::string& backend, int threads, int calls, RecordedCase* reference) {
  const auto op = operators().find(r.op);
  if (op == operators().end()) throw std::runtime_error("operator " + r.op + " is unknown here");
  if (op->second.problem != r.problem.size()) {
    throw std::runtime_error(r.op + ": recorded by version " + r.version + ", whose problem has another size");
  }
  std::vector<BackendInstance> chain;
  demand(create_chain(Registry::instance(), backend, chain));
  const mluopsCall call = {sizeof(mluopsCall), threads, r.atomics, r.contract, nullptr, set_reason};
  Memory memory(r);
  Outcome outcome;
  double least = 0;
  for (int i = 0; i < calls; ++i) {
    memory.reset(r);
    const auto start = std::chrono::steady_clock::now();
    const Status status = op->second.run(chain.front(), call, memory.problem());
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    if (status.failed()) return {Comparison::kRefused, status.text()};
    least = i == 0 ? seconds : std::min(least, seconds);
  }
  outcome = judge(r, memory, backend);
  outcome.seconds = least;
  if (reference != nullptr) judge_by_reference(r, memory, backend, *reference, outcome);
  return outcome;
}

}  // namespace mluops::replay
