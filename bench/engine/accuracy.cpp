#include "bench/engine/accuracy.h"

#include <algorithm>
#include <cmath>
#include <mutex>

namespace bench {
namespace {

constexpr std::int64_t kPart = 4096;  // elements looked at together

struct Sums {
  double abs_diff = 0, abs_base = 0, sq_diff = 0, sq_base = 0, worst = 0;
  std::int64_t different = 0;
  bool finite = true;

  void add(double e, double b, double tiny) {
    if (std::isinf(b) && e == b) return;
    const double d = std::fabs(e - b), a = std::fabs(b);
    finite = finite && std::isfinite(e);
    different += !(e == b);
    abs_diff += d;
    abs_base += a;
    sq_diff += d * d;
    sq_base += b * b;
    worst = std::max(worst, a < tiny ? d : d / (a + 1e-9));
  }
  void add(const Sums& o) {
    finite = finite && o.finite;
    different += o.different;
    abs_diff += o.abs_diff;
    abs_base += o.abs_base;
    sq_diff += o.sq_diff;
    sq_base += o.sq_base;
    worst = std::max(worst, o.worst);
  }
};

/// Elements [begin, end) of an array.
Values elements(mluOpDataType_t dtype, const void* data, std::int64_t begin, std::int64_t end) {
  const auto* first = static_cast<const std::byte*>(data) + begin * static_cast<std::int64_t>(element_size(dtype));
  return mluops::reference::decode(dtype, first, end - begin);
}

Sums compare(const TensorSpec& t, const void* data, const Values& base) {
  const double tiny = t.dtype == MLUOP_DTYPE_HALF ? 1e-4 : 1e-6;
  Sums all;
  std::mutex mutex;
  parallel_slices(t.elements(), 4096, [&](std::int64_t begin, std::int64_t end) {
    Sums mine;
    for (std::int64_t part = begin; part < end; part += kPart) {
      const Values values = elements(t.dtype, data, part, std::min(end, part + kPart));
      const double* expected = &base[static_cast<std::size_t>(part)];
      for (std::size_t i = 0; i < values.size(); ++i) mine.add(values[i], expected[i], tiny);
    }
    const std::lock_guard lock(mutex);
    all.add(mine);
  });
  return all;
}

// A choice that differs from the reference's is right all the same if its sample is as large, within the threshold.
std::int64_t wrong_choices(const Workload& w, const Values& choices, const Values& base, Coordinates coordinates) {
  SampleValue value;
  const double allowed = threshold(w.spec());
  std::int64_t wrong = 0;
  for (std::size_t i = 0; i < base.size(); ++i) {
    if (choices[i] == base[i]) continue;
    if (!value) value = w.spec().samples(w.inputs(), coordinates);
    const std::int64_t at = static_cast<std::int64_t>(i);
    const double best = value(at, static_cast<int>(base[i])), chosen = value(at, static_cast<int>(choices[i]));
    wrong += !(std::fabs(chosen - best) <= allowed * std::max(1.0, std::fabs(best)));
  }
  return wrong;
}

double threshold(mluOpDataType_t dtype) {
  return dtype == MLUOP_DTYPE_HALF ? 3e-3 : dtype == MLUOP_DTYPE_BFLOAT16 ? 8e-3 : 1e-5;
}

void add_sums(Accuracy& a, const Sums& s, double limit) {
  const double diff1 = s.abs_diff / (s.abs_base + 1e-9), diff2 = std::sqrt(s.sq_diff / (s.sq_base + 1e-9));
  a.within = a.within && diff1 <= limit && diff2 <= limit;
  a.diff1 = std::max(a.diff1, diff1);
  a.diff2 = std::max(a.diff2, diff2);
  a.diff3 = std::max(a.diff3, s.worst);
  a.finite = a.finite && s.finite;
}

}  // namespace

Accuracy judge(const Workload& w, const std::vector<Values>& reference, Coordinates coordinates) {
  Accuracy a;
  int number = 0;
  for (const TensorSpec& t : w.spec().tensors) {
    if (!t.is_output()) continue;
    const Values& base = reference[static_cast<std::size_t>(number)];
    const void* data = w.output(number++);
    a.checked += t.elements();
    if (t.comparison == Comparison::kChoice) {
      a.wrong_choices += wrong_choices(w, elements(t.dtype, data, 0, t.elements()), base, coordinates);
      continue;
    }
    const Sums sums = compare(t, data, base);
    add_sums(a, sums, w.spec().exact() ? 0 : std::max(threshold(w.spec()), threshold(t.dtype)));
    if (t.comparison == Comparison::kBits) a.different += sums.different;
  }
  return a;
}

double threshold(const Description& spec) {
  if (spec.exact()) return 0;
  return threshold(spec.dtype);
}

bool passes(const Accuracy& a, std::string& why) {
  if (!a.finite) {
    why = "an output is not finite";
  } else if (a.different > 0) {
    why = std::to_string(a.different) + " of " + std::to_string(a.checked) + " elements differ";
  } else if (!a.within) {
    why = "diff1 or diff2 above the threshold";
  } else if (a.wrong_choices > 0) {
    why = std::to_string(a.wrong_choices) + " wrong argmax";
  }
  return why.empty();
}

}  // namespace bench
