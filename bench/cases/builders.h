// Every operator's case from its sizes. Used by the list of network cases and by the studies.
#pragma once

#include "bench/cases/case.h"

namespace bench {

struct CarafeSizes {
  std::int64_t n, h, w, c;
  int kernel = 5, group = 1, scale = 2;
};
Case make_carafe(const CarafeSizes& sizes, Direction direction, mluOpDataType_t dtype);

struct PsamaskSizes {
  std::int64_t n, h, w;
  int h_mask, w_mask;
  int type;  ///< 0 collect, 1 distribute
};
Case make_psamask(const PsamaskSizes& sizes, Direction direction, mluOpDataType_t dtype);

struct ThreeInterpolateSizes {
  std::int64_t b, c, n, m;
  double spread = 1;  ///< indices fall on the first spread*m points
};
Case make_three_interpolate(const ThreeInterpolateSizes& sizes, Direction direction, mluOpDataType_t dtype);

struct DeformRoiPoolSizes {
  std::int64_t b, h, w, c, rois;
  float scale;
  bool offset = false;
  int pooled = 7, sampling_ratio = 2;
  double spread = 1;  ///< 1: RoIs all over the image; towards 0: all on one spot
};
Case make_deform_roi_pool(const DeformRoiPoolSizes& sizes, Direction direction, mluOpDataType_t dtype);

struct BorderAlignSizes {
  std::int64_t n, h, w, c, k;  ///< c: channels of one border
  int pool = 10;
  double spread = 1;  ///< 1: boxes all over the map; towards 0: all on one spot
};
Case make_border_align(const BorderAlignSizes& sizes, Direction direction, mluOpDataType_t dtype);

/// A deterministic random number in [0,1) for data that a builder makes itself.
double unit_random(std::uint64_t seed, std::int64_t i);

/// "a,b,c" in brackets.
std::string bracketed(const std::vector<std::int64_t>& dims);

}  // namespace bench
