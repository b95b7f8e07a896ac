#include "bench/study/plan.h"

#include <dlfcn.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <string_view>
#include <vector>

namespace bench {
namespace {

/// Network cases of an operator that --quick runs.
constexpr std::size_t kQuickCases = 2;
/// Floating-point operations that an emulated machine is asked for when the case may be reduced.
constexpr double kReducedFlops = 5e8;

/// Operators whose device kernels compare all points with all, which the operator itself need not: operations for each
/// of a number of pairs that is the product of some parameters.
struct AllPairs {
  std::string_view op;
  double operations;
  std::vector<std::string_view> sizes;
};
const std::vector<AllPairs>& all_pairs() {
  static const std::vector<AllPairs> operators = {
      {"three_nn_forward", 12, {"b", "n", "m"}},
      {"ball_query", 15, {"b", "m", "n"}},
      {"voxelization", 4, {"n", "n"}},
      {"dynamic_point_to_voxel_forward", 15, {"n", "n"}},
  };
  return operators;
}

/// Operations of the case on an emulated machine, and the power of the parameter they grow with.
struct DeviceWork {
  double flops, power;
};
DeviceWork device_work(const OperatorCases& op, const Case& text, mluOpDataType_t dtype, std::string_view parameter) {
  const auto pairs = std::find_if(all_pairs().begin(), all_pairs().end(), [&](const auto& a) { return a.op == op.op; });
  if (pairs == all_pairs().end()) return {describe(text, dtype).flops, 1};
  const Case full = mluops::cases::with_defaults(text);
  DeviceWork work{pairs->operations, 0};
  for (const std::string_view size : pairs->sizes) {
    work.flops *= full.real(std::string(size));
    work.power += size == parameter;
  }
  return work;
}

/// Divides one parameter after the other, to 1 at least, until the work is what an emulated machine is asked for.
Case reduced(const OperatorCases& op, const Case& text, mluOpDataType_t dtype) {
  Case smaller = text;
  for (const char* parameter : op.reducible) {
    const DeviceWork work = device_work(op, smaller, dtype, parameter);
    if (work.flops <= kReducedFlops) break;
    const double share = std::pow(kReducedFlops / work.flops, 1 / work.power);
    smaller.set(parameter, std::max(1.0, std::floor(smaller.real(parameter) * share)));
  }
  return smaller;
}

/// Keeps the cases that move the fewest bytes.
void keep_smallest(const OperatorCases& op, std::vector<Case>& cases) {
  const auto bytes = [&](const Case& text) { return describe(text, op.dtypes.strict.back()).all_bytes(); };
  std::stable_sort(cases.begin(), cases.end(), [&](const Case& a, const Case& b) { return bytes(a) < bytes(b); });
  cases.resize(std::min(cases.size(), kQuickCases));
}

/// Whether a part of --case is a whole case, "op key=value ..", as MLUOP_VERBOSE=2 prints it.
bool is_whole(const std::string& part) {
  const auto& names = mluops::cases::api_operators();
  return std::find(names.begin(), names.end(), part.substr(0, part.find(' '))) != names.end();
}

std::vector<Case> chosen_cases(const OperatorCases& op, const Options& options) {
  std::vector<std::string> parts;
  std::vector<Case> cases;
  for (const std::string& part : options.cases) {
    if (!is_whole(part)) {
      parts.push_back(part);
    } else if (Case whole = Case::parse(part); whole.op() == op.op) {
      cases.push_back(std::move(whole));
    }
  }
  if (parts.empty() && !options.cases.empty()) return cases;
  for (Case& text : cases_of(op, op.network)) {
    if (selected(parts, text.shape())) cases.push_back(std::move(text));
  }
  return cases;
}

/// What the text names, else those of the options that the operator has under the contract of a new handle.
std::vector<mluOpDataType_t> dtypes_of(const Group& group, const Options& options) {
  std::vector<mluOpDataType_t> all = options.dtypes;
  const auto& extended = group.op->dtypes.extended;
  if (group.text.has("dtype")) {
    all = group.op->dtypes.strict;
    all.insert(all.end(), extended.begin(), extended.end());
    std::erase_if(all, [&](mluOpDataType_t dtype) { return !mluops::cases::names_dtype(group.text, dtype); });
  } else {
    std::erase_if(all, [&](mluOpDataType_t dtype) { return !has_dtype(*group.op, dtype); });
  }
  return all;
}

/// A library of an older revision (--against) may lack it.
bool library_has(const OperatorCases& op) {
  return dlsym(RTLD_DEFAULT, op.function) != nullptr;
}

}  // namespace

bool has_dtype(const OperatorCases& op, mluOpDataType_t dtype) {
  const auto& has = op.dtypes.strict;
  return std::find(has.begin(), has.end(), dtype) != has.end();
}

std::vector<Group> chosen_groups(const Options& options) {
  std::vector<Group> groups;
  for (const OperatorCases& op : all_operators()) {
    if (!selected(options.operators, op.op) || !library_has(op)) continue;
    std::vector<Case> cases = chosen_cases(op, options);
    if (options.quick) keep_smallest(op, cases);
    if (options.brief) cases.resize(std::min(cases.size(), std::size_t{1}));
    for (const Case& text : cases) groups.push_back({&op, text});
  }
  return groups;
}

std::vector<Job> jobs_of(const Group& group, const Options& options, const std::vector<Target>& targets) {
  std::vector<Job> jobs;
  for (const mluOpDataType_t dtype : dtypes_of(group, options)) {
    const Case small = options.full ? group.text : reduced(*group.op, group.text, dtype);
    const bool reduce = small.text() != group.text.text();
    std::vector<Target> whole, part;
    for (const Target& t : targets) (reduce && t.emulated() ? part : whole).push_back(t);
    if (!whole.empty()) jobs.push_back({describe(group.text, dtype), whole, false});
    if (!part.empty()) jobs.push_back({describe(small, dtype), part, true});
  }
  return jobs;
}

}  // namespace bench
