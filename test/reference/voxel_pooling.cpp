#include "test/reference/voxel_pooling.h"

namespace mluops::reference {

VoxelPoolingResult voxel_pooling_forward(const mluopsVoxelPoolingForwardProblem& p) {
  const mluopsVoxelPoolingShape& s = p.shape;
  const Values input = decode(s.dtype, p.input, s.batch * s.points * s.c);
  VoxelPoolingResult result{Values(static_cast<std::size_t>(s.batch * s.y * s.x * s.c), 0.0),
                            Values(static_cast<std::size_t>(s.batch * s.points * 3), -1.0)};
  for (std::int64_t b = 0; b < s.batch; ++b) {
    for (std::int64_t i = b * s.points; i < (b + 1) * s.points; ++i) {
      const std::int32_t* const at = p.geom_xyz + 3 * i;
      const bool inside = at[0] >= 0 && at[0] < s.x && at[1] >= 0 && at[1] < s.y && at[2] >= 0 && at[2] < s.z;
      if (!inside) continue;
      result.pos_memo[3 * i] = static_cast<double>(b);
      result.pos_memo[3 * i + 1] = at[1];
      result.pos_memo[3 * i + 2] = at[0];
      const std::int64_t cell = (b * s.y + at[1]) * s.x + at[0];
      for (std::int64_t c = 0; c < s.c; ++c) result.output[cell * s.c + c] += input[i * s.c + c];
    }
  }
  return result;
}

}  // namespace mluops::reference
