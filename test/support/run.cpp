#include "test/support/run.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "test/cases/base/element.h"
#include "test/support/metrics.h"

namespace mluops::test {
namespace {

std::string format(const char* pattern, double a, double b, double c = 0, double d = 0) {
  char line[200];
  std::snprintf(line, sizeof line, pattern, a, b, c, d);
  return line;
}

std::string metrics_mismatch(const Metrics& m, const Tolerance& t) {
  if (m.wrong_nonfinite > 0) return std::to_string(m.wrong_nonfinite) + " points differ in being NaN or Inf";
  if (m.diff1 <= t.diff && m.diff2 <= t.diff) return "";
  return format("diff1 %.3g, diff2 %.3g, limit %.3g (diff3_2 %.3g)", m.diff1, m.diff2, t.diff, m.diff3_2);
}

std::string element_mismatch(const reference::Values& e, const reference::Values& b, double largest,
                             mluOpDataType_t dtype, const Tolerance& t) {
  if (t.units < 0) return "";
  for (std::size_t i = 0; i < b.size(); ++i) {
    if (!std::isfinite(b[i])) continue;
    const double limit = t.units * spacing(dtype, b[i]) + t.share * largest;
    if (std::fabs(e[i] - b[i]) <= limit) continue;
    return format("element %.0f: wanted %.9g, got %.9g, allowed distance %.3g", static_cast<double>(i), b[i], e[i],
                  limit);
  }
  return "";
}

std::string numeric_mismatch(const Tensor& out, const reference::Values& b, double term_size, const Tolerance& t) {
  const reference::Values e = out.values();
  const Metrics m = measure(e, b, t.small, spacing(out.dtype(), 0) / 2);
  if (m.wrong_nonfinite == 0 && m.diff3_2 <= term_size * spacing(out.dtype(), 1)) return "";
  const std::string text = metrics_mismatch(m, t);
  return text.empty() ? element_mismatch(e, b, m.largest, out.dtype(), t) : text;
}

std::string bit_mismatch(const Tensor& out, const reference::Values& b) {
  const reference::Values e = out.values();
  for (std::size_t i = 0; i < b.size(); ++i) {
    if (std::isnan(b[i]) && !cases::is_float(out.dtype())) continue;  // no integer is NaN: the caller's own
    const bool both_nan = std::isnan(e[i]) && std::isnan(b[i]);
    if (both_nan || (e[i] == b[i] && std::signbit(e[i]) == std::signbit(b[i]))) continue;
    return format("element %.0f: wanted exactly %.9g, got %.9g", static_cast<double>(i), b[i], e[i]);
  }
  return "";
}

// Another index than the reference's is right when its sample is as good, up to the rounding of the tensors' type.
std::string choice_mismatch(const Problem& p, const Tensor& out, const reference::Values& b, const Tolerance& t) {
  const reference::Values e = out.values();
  SampleValue sample;
  for (std::size_t i = 0; i < b.size(); ++i) {
    if (e[i] == b[i]) continue;
    if (!sample) sample = p.samples(t.coordinates);
    const std::int64_t at = static_cast<std::int64_t>(i);
    const double mine = sample(at, static_cast<int>(e[i])), best = sample(at, static_cast<int>(b[i]));
    if (std::isnan(mine)) return format("element %.0f: index %.0f is out of range", static_cast<double>(i), e[i]);
    if (std::fabs(mine - best) <= 4 * spacing(p.dtype(), std::max(std::fabs(best), 1.0))) continue;
    return format("element %.0f: wanted index %.0f, got %.0f", static_cast<double>(i), b[i], e[i]) +
           format(" (sample %.9g instead of %.9g)", mine, best);
  }
  return "";
}

/// The tolerance of an output; one that is narrower than the operator's type is rounded once more.
Tolerance tolerance_of(const Tensor& out, mluOpDataType_t dtype, Tolerance t) {
  const double step = spacing(out.dtype(), 1);
  if (cases::is_float(out.dtype()) && step > spacing(dtype, 1)) t.diff = std::max(t.diff, step);
  return t;
}

std::string output_mismatch(const Problem& p, std::size_t i, const reference::Values& expected, const Tolerance& t) {
  const Tensor& out = *p.outputs[i];
  switch (p.output_spec(i).comparison) {
    case Comparison::kBits:
      return bit_mismatch(out, expected);
    case Comparison::kChoice:
      return choice_mismatch(p, out, expected, t);
    default:
      return numeric_mismatch(out, expected, p.output_spec(i).term_size, tolerance_of(out, p.dtype(), t));
  }
}

bool is_garbage(const Tensor& t) {
  const std::vector<unsigned char> bytes = t.bytes();
  return std::all_of(bytes.begin(), bytes.end(), [](unsigned char b) { return b == 0xff; });
}

std::string trespass(const Problem& p, const std::vector<std::vector<unsigned char>>& inputs_before) {
  for (std::size_t i = 0; i < p.inputs.size(); ++i) {
    if (p.inputs[i]->bytes() != inputs_before[i]) return p.inputs[i]->name() + " was changed";
    if (!p.inputs[i]->buffer().fences_intact()) return "bytes beside " + p.inputs[i]->name() + " were changed";
  }
  for (const auto& out : p.outputs) {
    if (!out->buffer().fences_intact()) return "bytes beside " + out->name() + " were changed";
  }
  return "";
}

std::string judge(const Problem& p, mluOpStatus_t status, const std::string& ran_on, const std::string& backend,
                  const Expected& expected, const Tolerance& t) {
  if (status == MLUOP_STATUS_NOT_SUPPORTED) {
    for (const auto& out : p.outputs) {
      if (!is_garbage(*out)) return "declined, but " + out->name() + " was touched";
    }
    return "";
  }
  if (status != MLUOP_STATUS_SUCCESS) {
    return std::string(mluOpGetErrorString(status)) + ": " + mluOpExtGetLastErrorText();
  }
  if (ran_on != backend) return "ran on \"" + ran_on + "\", not on " + backend;
  return mismatch(p, expected, t);
}

}  // namespace

std::string mismatch(const Problem& problem, const Expected& expected, const Tolerance& tolerance) {
  for (std::size_t i = 0; i < problem.outputs.size(); ++i) {
    const std::string text = output_mismatch(problem, i, expected[i], tolerance);
    if (!text.empty()) return problem.outputs[i]->name() + ": " + text;
  }
  return "";
}

mluOpStatus_t run(Problem& problem, const Handle& handle) {
  for (const auto& out : problem.outputs) out->buffer().fill_with_garbage();
  return problem.call(handle.get());
}

Report run_and_check(Problem& problem, const Handle& handle, const std::string& backend, const Expected& expected,
                     const Tolerance& tolerance) {
  std::vector<std::vector<unsigned char>> inputs_before;
  for (const auto& in : problem.inputs) inputs_before.push_back(in->bytes());
  const mluOpStatus_t status = run(problem, handle);
  const std::string reason = mluOpExtGetLastErrorText();
  std::string wrong = trespass(problem, inputs_before);
  if (wrong.empty()) wrong = judge(problem, status, handle.last_run_backend(), backend, expected, tolerance);
  if (!wrong.empty()) return {Outcome::kFailed, wrong};
  if (status == MLUOP_STATUS_NOT_SUPPORTED) return {Outcome::kDeclined, reason};
  return {Outcome::kRan, ""};
}

std::string how_to_repeat(const Problem& problem, const std::string& settings) {
  return "\n  repeat: MLUOP_TEST_CASE=\"" + problem.text().text() + "\"  (" + dtype_name(problem.dtype()) + ", " +
         settings + ")";
}

}  // namespace mluops::test
