#include "common/case_text.h"
#include "common/op/ms_deform_attn.h"

namespace mluops::op {

Status check_levels(const TensorArg& value, const TensorArg& spatial_shapes, const TensorArg& level_start_index) {
  const auto* const shapes = static_cast<const std::int32_t*>(spatial_shapes.data);
  const auto* const starts = static_cast<const std::int32_t*>(level_start_index.data);
  const std::int64_t keys = size_of(value, 1);
  for (std::int64_t level = 0; level < size_of(spatial_shapes, 0); ++level) {
    const std::int64_t h = shapes[2 * level], w = shapes[2 * level + 1], start = starts[level];
    if (h >= 0 && w >= 0 && start >= 0 && start <= keys && h * w <= keys - start) continue;
    return Status::bad_param(std::string(spatial_shapes.name) + ": wanted maps among the " + std::to_string(keys) +
                             " pixels of " + value.name + ", got " + std::to_string(h) + " x " + std::to_string(w) +
                             " from pixel " + std::to_string(start) + " on in level " + std::to_string(level));
  }
  return Status::go_on();
}

namespace {

/// "25x42+13x21", or "" where the numbers, which are data, are no levels of `keys` pixels that a case could have.
std::string levels_text(const mluopsMsDeformAttnShape& s, const std::int32_t* sizes) {
  std::string text;
  std::int64_t left = s.keys;
  for (std::int64_t level = 0; level < s.levels; ++level) {
    const std::int64_t h = sizes[2 * level], w = sizes[2 * level + 1];
    if (h < 1 || w < 1 || h * w > left) return "";
    left -= h * w;
    text.append(level == 0 ? "" : "+").append(std::to_string(h)).append("x").append(std::to_string(w));
  }
  return text;
}

std::string keys_of(const mluopsMsDeformAttnShape& s, const std::int32_t* sizes) {
  CaseKeys keys;
  keys("b", s.batch)("q", s.queries)("m", s.heads)("d", s.channels)("l", s.levels)("p", s.points);
  const std::string levels = levels_text(s, sizes);
  if (levels.empty()) keys("h", 1)("w", 1);
  return keys("shapes", levels.empty() ? "pyramid" : levels)("keys", s.keys).text();
}

}  // namespace

std::string case_keys(const mluopsMsDeformAttnForwardProblem& p) {
  return keys_of(p.shape, p.spatial_shapes);
}
std::string case_keys(const mluopsMsDeformAttnBackwardProblem& p) {
  return keys_of(p.shape, p.spatial_shapes);
}

}  // namespace mluops::op
