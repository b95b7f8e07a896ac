#include "test/reference/masked_im2col.h"

namespace mluops::reference {
namespace {

using Shape = mluopsMaskedIm2colShape;

bool on_image(const Shape& s, std::int64_t y, std::int64_t x) {
  return y >= 0 && y < s.h && x >= 0 && x < s.w;
}

}  // namespace

Values masked_im2col_forward(const mluopsMaskedIm2colForwardProblem& p) {
  const Shape& s = p.shape;
  const Values feature = decode(s.dtype, p.feature, s.c * s.h * s.w);
  Values columns;
  for (std::int64_t c = 0; c < s.c; ++c) {
    for (std::int64_t i = 0; i < s.kernel_h; ++i) {
      for (std::int64_t j = 0; j < s.kernel_w; ++j) {
        for (std::int64_t m = 0; m < s.m; ++m) {
          const std::int64_t y = p.mask_h_idx[m] - s.pad_h + i, x = p.mask_w_idx[m] - s.pad_w + j;
          columns.push_back(on_image(s, y, x) ? feature[(c * s.h + y) * s.w + x] : 0);
        }
      }
    }
  }
  return columns;
}

Values masked_col2im_forward(const mluopsMaskedCol2imForwardProblem& p) {
  const Shape& s = p.shape;
  const Values col = decode(s.dtype, p.col, s.c * s.m);
  Values image(static_cast<std::size_t>(s.c * s.h * s.w), 0.0);
  for (std::int64_t m = 0; m < s.m; ++m) {
    const std::int64_t y = p.mask_h_idx[m], x = p.mask_w_idx[m];
    if (!on_image(s, y, x)) continue;
    for (std::int64_t c = 0; c < s.c; ++c) image[(c * s.h + y) * s.w + x] = col[c * s.m + m];
  }
  return image;
}

}  // namespace mluops::reference
