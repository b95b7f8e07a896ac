#include "bench/study/plan.h"

#include <dlfcn.h>

#include <algorithm>
#include <cmath>

namespace bench {
namespace {

/// Network cases of an operator that --quick runs.
constexpr std::size_t kQuickCases = 2;
/// Floating-point operations that an emulated machine is asked for when the case may be reduced.
constexpr double kReducedFlops = 5e8;

/// Divides one parameter after the other, to 1 at least, until the work is what an emulated machine is asked for.
Case reduced(const OperatorCases& op, const Case& text, mluOpDataType_t dtype) {
  Case smaller = text;
  for (const char* parameter : op.reducible) {
    const double work = describe(smaller, dtype).flops;
    if (work <= kReducedFlops) break;
    smaller.set(parameter, std::max(1.0, std::floor(smaller.real(parameter) * kReducedFlops / work)));
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
