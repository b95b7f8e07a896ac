#include <limits>

#include "common/op/focal_loss.h"

namespace mluops::op {
namespace {

/// Which values a target may have; mmcv reads outside its tensors at others.
struct Classes {
  std::int64_t least, most;
  const char* meaning;
};

constexpr std::int64_t kLeast = std::numeric_limits<std::int32_t>::min();

Status check_targets(const TensorArg& target, const Classes& classes) {
  const auto* const values = static_cast<const std::int32_t*>(target.data);
  for (std::int64_t i = 0; i < target.desc->dims[0]; ++i) {
    if (values[i] >= classes.least && values[i] <= classes.most) continue;
    return Status::bad_param(text_of(target.name, ": wanted ", classes.meaning, " (at most ", classes.most, "), got ",
                                     values[i], " in row ", i));
  }
  return Status::go_on();
}

}  // namespace

Status sigmoid_targets(const TensorArg& target, const TensorArg& weight, std::int64_t classes) {
  const bool weighted = weight.desc != nullptr && !is_empty(weight);
  return weighted ? check_targets(target, {0, classes - 1, "a class with a weight"})
                  : check_targets(target, {kLeast, classes, "a class or background"});
}

Status softmax_targets(const TensorArg& target, std::int64_t classes) {
  return check_targets(target, {kLeast, classes - 1, "a class or a negative number"});
}

}  // namespace mluops::op
