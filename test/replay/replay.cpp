#include "test/replay/replay.h"

#include <algorithm>
#include <chrono>
#include <cstdio>

#include "test/cases/base/element.h"
#include "test/support/metrics.h"
#include "test/support/tensor.h"
#include "test/support/tolerance.h"

namespace mluops::replay {
namespace {

/// Compares a kept output: `after` has the output's bytes (demand_tensors).
Comparison compare(const test::Tensor& output, const RecordedTensor& t, const std::string& backend, std::string& text) {
  if (output.bytes() == t.after) return Comparison::kEqual;
  if (!cases::is_float(output.dtype())) {
    text = t.name + ": other bits";
    return Comparison::kDiffers;
  }
  const test::Tolerance tolerance = test::tolerance_of(backend, output.dtype());
  const test::Metrics m = test::measure(
      output.values(), reference::decode(output.dtype(), t.after.data(), output.count()), tolerance.small);
  const bool within = m.wrong_nonfinite == 0 && m.diff1 <= tolerance.diff && m.diff2 <= tolerance.diff;
  char numbers[96];
  std::snprintf(numbers, sizeof numbers, ": diff1 %.2g diff2 %.2g", m.diff1, m.diff2);
  text = t.name + numbers;
  return within ? Comparison::kWithin : Comparison::kDiffers;
}

Outcome judge(const Recording& r, const RecordedCase& made, const std::string& backend) {
  Outcome outcome{Comparison::kEqual};
  for (const RecordedTensor& t : r.tensors) {
    if (!t.kept) return {Comparison::kLeftOut, t.name + ": its data were too large to keep (MLUOP_CAPTURE_BYTES)"};
  }
  for (const auto& output : made.outputs()) {
    const RecordedTensor* const t = r.find(output->name());
    if (t == nullptr) continue;
    std::string text;
    const Comparison one = compare(*output, *t, backend, text);
    if (one > outcome.comparison) outcome.comparison = one;
    if (one != Comparison::kEqual && outcome.text.empty()) outcome.text = text;
  }
  return outcome;
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

Outcome time_calls(RecordedCase& made, const test::Handle& handle, int calls, const std::function<void()>& prepare) {
  double least = 0;
  for (int i = 0; i < calls; ++i) {
    prepare();
    const auto start = std::chrono::steady_clock::now();
    const mluOpStatus_t status = made.call(handle);
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    if (status != MLUOP_STATUS_SUCCESS) return {Comparison::kRefused, mluOpExtGetLastErrorText()};
    least = i == 0 ? seconds : std::min(least, seconds);
  }
  return {Comparison::kNotRecorded, "", least};
}

Outcome replay(const Recording& r, RecordedCase& made, const std::string& backend, int threads, int calls,
               bool by_reference) {
  test::Handle handle(backend, threads);
  handle.contract(r.contract).atomics(r.atomics);
  const Outcome timed = time_calls(made, handle, calls, [&] { made.put_outputs(r, &RecordedTensor::before); });
  if (timed.comparison == Comparison::kRefused) return timed;
  Outcome outcome = judge(r, made, backend);
  outcome.seconds = timed.seconds;
  if (by_reference && made.complete()) {
    outcome.mismatch = made.mismatch(backend);
    outcome.reference = outcome.mismatch.empty() ? Judgement::kRight : Judgement::kWrong;
  }
  return outcome;
}

}  // namespace mluops::replay
