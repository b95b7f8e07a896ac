#include "common/op/mutual_information.h"

namespace mluops::op {

Status has_boundaries_inside(const TensorArg& opt_boundary, std::int64_t symbols, std::int64_t frames) {
  if (opt_boundary.desc == nullptr) return Status::go_on();
  const auto* const rows = static_cast<const std::int64_t*>(opt_boundary.data);
  for (std::int64_t b = 0; b < opt_boundary.desc->dims[0]; ++b) {
    const std::int64_t* const row = rows + 4 * b;
    const bool inside =
        0 <= row[0] && row[0] <= row[2] && row[2] <= symbols && 0 <= row[1] && row[1] <= row[3] && row[3] <= frames;
    if (inside) continue;
    return Status::bad_param(text_of("opt_boundary: wanted 0 <= first <= last <= ", symbols, " symbols and ", frames,
                                     " frames in row ", b, ", got ", row[0], ", ", row[1], ", ", row[2], ", ", row[3]));
  }
  return Status::go_on();
}

}  // namespace mluops::op
