#include "bench/engine/accuracy.h"

#include <algorithm>
#include <cmath>
#include <mutex>

#include "bench/machine/parallel.h"

namespace bench {
namespace {

struct Sums {
  double abs_diff = 0, abs_base = 0, sq_diff = 0, sq_base = 0, worst = 0;
  std::int64_t different = 0;
  bool finite = true;

  void add(double e, double b, double tiny) {
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

Sums compare(const Tensor& t, const void* data, const Values& base) {
  const double tiny = t.dtype == MLUOP_DTYPE_HALF ? 1e-4 : 1e-6;
  Sums all;
  std::mutex mutex;
  parallel_slices(t.elements(), 4096, [&](std::int64_t begin, std::int64_t end) {
    Sums mine;
    for (std::int64_t i = begin; i < end; ++i) {
      mine.add(element(t.dtype, data, i), base[static_cast<std::size_t>(i)], tiny);
    }
    const std::lock_guard lock(mutex);
    all.add(mine);
  });
  return all;
}

std::vector<std::int64_t> unequal(const void* choices, const Values& base) {
  std::vector<std::int64_t> list;
  for (std::size_t i = 0; i < base.size(); ++i) {
    const auto at = static_cast<std::int64_t>(i);
    if (element(MLUOP_DTYPE_INT32, choices, at) != base[i]) list.push_back(at);
  }
  return list;
}

// A choice that differs from the reference's is right all the same if its sample is as large, within the threshold.
std::int64_t wrong_choices(const Workload& w, const void* choices, const Values& maximum, const Values& base,
                           Coordinates coordinates) {
  const std::vector<std::int64_t> suspects = unequal(choices, base);
  if (suspects.empty()) return 0;
  const SampleValue value = w.spec().samples(w.inputs(), coordinates);
  const double allowed = threshold(w.spec());
  return std::count_if(suspects.begin(), suspects.end(), [&](std::int64_t i) {
    const double best = maximum[static_cast<std::size_t>(i)];
    const double chosen = value(i, static_cast<int>(element(MLUOP_DTYPE_INT32, choices, i)));
    return !(std::fabs(chosen - best) <= allowed * std::max(1.0, std::fabs(best)));
  });
}

void add_sums(Accuracy& a, const Sums& s) {
  a.diff1 = std::max(a.diff1, s.abs_diff / (s.abs_base + 1e-9));
  a.diff2 = std::max(a.diff2, std::sqrt(s.sq_diff / (s.sq_base + 1e-9)));
  a.diff3 = std::max(a.diff3, s.worst);
  a.different += s.different;
  a.finite = a.finite && s.finite;
}

}  // namespace

Accuracy judge(const Workload& w, const std::vector<Values>& reference, Coordinates coordinates) {
  Accuracy a;
  int number = 0;
  for (const Tensor& t : w.spec().tensors) {
    if (!t.is_output()) continue;
    const Values& base = reference[static_cast<std::size_t>(number)];
    const void* data = w.output(number++);
    a.checked += t.elements();
    if (t.dtype == MLUOP_DTYPE_INT32) {
      a.wrong_choices += wrong_choices(w, data, reference[0], base, coordinates);
    } else {
      add_sums(a, compare(t, data, base));
    }
  }
  return a;
}

double threshold(const Case& spec) {
  if (spec.exact) return 0;
  return spec.dtype == MLUOP_DTYPE_HALF ? 3e-3 : 1e-5;
}

bool passes(const Case& spec, const Accuracy& a, std::string& why) {
  const double limit = threshold(spec);
  if (!a.finite) {
    why = "an output is not finite";
  } else if (spec.exact && a.different > 0) {
    why = std::to_string(a.different) + " of " + std::to_string(a.checked) + " elements differ";
  } else if (!(a.diff1 <= limit && a.diff2 <= limit)) {
    why = "diff1 or diff2 above the threshold";
  } else if (a.wrong_choices > 0) {
    why = std::to_string(a.wrong_choices) + " wrong argmax";
  }
  return why.empty();
}

}  // namespace bench
