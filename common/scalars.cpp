#include "common/scalars.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <string>

namespace mluops {
namespace {

template <class Number>
std::string digits_of(Number number) {
  char digits[48];
  return {digits, std::to_chars(digits, digits + sizeof digits, number).ptr};
}

bool rounds_to(double exact, float value) {
  return static_cast<float>(exact) == value || (std::isnan(exact) && std::isnan(value));
}

}  // namespace

void PendingScalars::set(const GivenScalars& given) {
  const std::lock_guard<std::mutex> lock(mutex_);
  std::erase_if(pending_, [](const OfThread& one) { return one.thread == std::this_thread::get_id(); });
  if (given.count > 0) pending_.push_back({std::this_thread::get_id(), given});
  count_ = pending_.size();
}

GivenScalars PendingScalars::take() {
  if (count_ == 0) return {};
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto found = std::ranges::find(pending_, std::this_thread::get_id(), &OfThread::thread);
  if (found == pending_.end()) return {};
  const GivenScalars given = found->given;
  pending_.erase(found);
  count_ = pending_.size();
  return given;
}

Status match_scalars(const GivenScalars& given, const FloatArg* arguments, std::size_t count, Scalar* scalars) {
  if (given.count != 0 && given.count != count) {
    std::string names;
    for (std::size_t i = 0; i < count; ++i) names.append(i == 0 ? " (" : ", ").append(arguments[i].name);
    return Status::bad_param("scalars: wanted " + std::to_string(count) + names + (count == 0 ? "" : ")") +
                             ", as many as the call has floats, got " + std::to_string(given.count) +
                             " from mluOpExtSetScalars");
  }
  for (std::size_t i = 0; i < count; ++i) {
    const auto& [name, value] = arguments[i];
    scalars[i] = {value, given.count == 0 ? static_cast<double>(value) : given.values[i]};
    if (rounds_to(scalars[i].exact, value)) continue;
    return Status::bad_param(std::string(name) + ": wanted a scalar that rounds to the argument, " + digits_of(value) +
                             ", got " + digits_of(scalars[i].exact) + " from mluOpExtSetScalars");
  }
  return Status::go_on();
}

}  // namespace mluops
