// Words of BANG C on maps: they turn, pad and pool. All operands lie in NRAM.
// Counts are elements unless called bytes.
#pragma once

#include <cstdint>

#include "backends/mlu_emu/bang/words/lane_types.h"

namespace mluops::emu::bang {

/// dst [w,h] = transposed src [h,w]; not in place.
template <class T>  // any
void __bang_transpose(T* dst, const T* src, std::int64_t h, std::int64_t w);
// dst = src [h,w] turned by that many degrees clockwise ([w,h] for 90 and 270), or each row back to front; not in
// place.
template <class T>
void __bang_rotate90(T* dst, const T* src, std::int64_t h, std::int64_t w);
template <class T>
void __bang_rotate180(T* dst, const T* src, std::int64_t h, std::int64_t w);
template <class T>
void __bang_rotate270(T* dst, const T* src, std::int64_t h, std::int64_t w);
template <class T>
void __bang_mirror(T* dst, const T* src, std::int64_t h, std::int64_t w);
/// dst [top+h+bottom, left+w+right, channel] = src [h,w,channel] with zeros or the value around; not in place.
template <class T>
void __bang_pad(T* dst, const T* src, std::int64_t channel, std::int64_t h, std::int64_t w, std::int64_t top,
                std::int64_t bottom, std::int64_t left, std::int64_t right, ValueOf<T> value = T(0));
/// Pads by pad_height above and below, by pad_width left and right.
template <class T>
void __bang_pad(T* dst, const T* src, std::int64_t channel, std::int64_t h, std::int64_t w, std::int64_t pad_height,
                std::int64_t pad_width) {
  __bang_pad(dst, src, channel, h, w, pad_height, pad_height, pad_width, pad_width);
}
template <class T>
void __bang_pad(T* dst, const T* src, std::int64_t channel, std::int64_t h, std::int64_t w, std::int64_t pad_height,
                std::int64_t pad_width, ValueOf<T> value) {
  __bang_pad(dst, src, channel, h, w, pad_height, pad_height, pad_width, pad_width, value);
}
/// dst [n,c,h,w] = src [n,h,w,c], and back; not in place.
template <class T>
void __bang_reshape_nhwc2nchw(T* dst, const T* src, std::int64_t n, std::int64_t h, std::int64_t w, std::int64_t c);
template <class T>
void __bang_reshape_nchw2nhwc(T* dst, const T* src, std::int64_t n, std::int64_t h, std::int64_t w, std::int64_t c);

// Windows of kernel_height x kernel_width slide over src [height,width,channel] by (stride_y, stride_x): dst
// [ho,wo,channel], ho = (height - kernel_height) / stride_y + 1; dst may be src. Of the forms of each word one lacks
// the strides (they are the kernel's), one ends in dilations: steps between the lanes of a window, of height and width,
// and two numbers not modelled but as 1.
#define MLUOPS_EMU_POOL(word)                                                                                     \
  template <class T>                                                                                              \
  void word(T* dst, const T* src, std::int64_t channel, std::int64_t height, std::int64_t width,                  \
            std::int64_t kernel_height, std::int64_t kernel_width);                                               \
  template <class T>                                                                                              \
  void word(T* dst, const T* src, std::int64_t channel, std::int64_t height, std::int64_t width,                  \
            std::int64_t kernel_height, std::int64_t kernel_width, std::int64_t stride_x, std::int64_t stride_y); \
  template <class T>                                                                                              \
  void word(T* dst, const T* src, std::int64_t channel, std::int64_t height, std::int64_t width,                  \
            std::int64_t kernel_height, std::int64_t kernel_width, std::int64_t stride_x, std::int64_t stride_y,  \
            std::int64_t dilation_y, std::int64_t dilation_x, std::int64_t, std::int64_t);
/// The sums, added in row order in T; half, bfloat16, float.
MLUOPS_EMU_POOL(__bang_sumpool)
/// The sums multiplied by one over the window's size.
MLUOPS_EMU_POOL(__bang_avgpool)
/// The largest (smallest) lane of each window; a NaN only where there is nothing else, with nan_ the first NaN.
MLUOPS_EMU_POOL(__bang_maxpool)
MLUOPS_EMU_POOL(__bang_minpool)
MLUOPS_EMU_POOL(__bang_nan_maxpool)
MLUOPS_EMU_POOL(__bang_nan_minpool)
#undef MLUOPS_EMU_POOL
#define MLUOPS_EMU_POOL_PLACES(name)                                                                                   \
  template <class I, class T>                                                                                          \
  void __bang_##name##_index(I* dst, const T* src, std::int64_t channel, std::int64_t height, std::int64_t width,      \
                             std::int64_t kernel_height, std::int64_t kernel_width);                                   \
  template <class I, class T>                                                                                          \
  void __bang_##name##_index(I* dst, const T* src, std::int64_t channel, std::int64_t height, std::int64_t width,      \
                             std::int64_t kernel_height, std::int64_t kernel_width, std::int64_t stride_x,             \
                             std::int64_t stride_y, std::int64_t dilation_y = 1, std::int64_t dilation_x = 1,          \
                             std::int64_t a = 1, std::int64_t b = 1);                                                  \
  template <class T>                                                                                                   \
  void __bang_##name##_value_index(                                                                                    \
      T* dst, const T* src, std::int64_t channel, std::int64_t height, std::int64_t width, std::int64_t kernel_height, \
      std::int64_t kernel_width, std::int64_t stride_x, std::int64_t stride_y, std::int64_t index_offset,              \
      std::int64_t dilation_y = 1, std::int64_t dilation_x = 1, std::int64_t a = 1, std::int64_t b = 1);
/// The index of that lane in its window alone, the first of several (uint16 of half and bfloat16, uint32 of float); and
/// the lane itself with, `index_offset` bytes behind dst, its index.
MLUOPS_EMU_POOL_PLACES(maxpool)
MLUOPS_EMU_POOL_PLACES(minpool)
MLUOPS_EMU_POOL_PLACES(nan_maxpool)
MLUOPS_EMU_POOL_PLACES(nan_minpool)
#undef MLUOPS_EMU_POOL_PLACES

/// What happens where windows overlap in the gradient of a pooling.
enum mluPoolBPOverlap { OVERLAP_ACC, OVERLAP_COVER };
/// Gradients: dst [height,width,channel] of src [ho,wo,channel], zero where no window goes to. Of __bang_maxpool each
/// window's lane goes to the place that mask [ho,wo,channel] names; of __bang_sumpool to all of it, of __bang_avgpool
/// after a product with one over the window's size. Where windows overlap lanes are added in their order in T, or
/// written over.
template <class T, class I>
void __bang_maxpool_bp(T* dst, const T* src, I* mask, std::int64_t channel, std::int64_t height, std::int64_t width,
                       std::int64_t kernel_height, std::int64_t kernel_width, std::int64_t stride_x,
                       std::int64_t stride_y, mluPoolBPOverlap overlap = OVERLAP_ACC);
template <class T>  // half, bfloat16, float
void __bang_sumpool_bp(T* dst, const T* src, std::int64_t channel, std::int64_t height, std::int64_t width,
                       std::int64_t kernel_height, std::int64_t kernel_width, std::int64_t stride_x,
                       std::int64_t stride_y, mluPoolBPOverlap overlap = OVERLAP_ACC);
template <class T>
void __bang_avgpool_bp(T* dst, const T* src, std::int64_t channel, std::int64_t height, std::int64_t width,
                       std::int64_t kernel_height, std::int64_t kernel_width, std::int64_t stride_x,
                       std::int64_t stride_y, mluPoolBPOverlap overlap = OVERLAP_ACC);
/// dst [height,width,channel] = src [ho,wo,channel], each lane at place `index` of its window and zeros around it; what
/// no window covers stays.
template <class T>
void __bang_unpool(T* dst, const T* src, std::int64_t channel, std::int64_t height, std::int64_t width,
                   std::int64_t kernel_height, std::int64_t kernel_width, std::int64_t stride_x, std::int64_t stride_y,
                   std::int64_t index);

/// Pieces of op * 128 bytes, as many from src as to dst: piece i comes from the place (i mod n3, i / n3 mod n4, i / n3
/// / n4) with the strides (s3, s4, s5), and goes to that of n8, n9, n10; strides in 64 bytes.
void __bang_tiling_3d_b1024(void* dst, const void* src, std::int64_t n5, std::int64_t s5, std::int64_t n4,
                            std::int64_t s4, std::int64_t n3, std::int64_t s3, std::int64_t n10, std::int64_t s10,
                            std::int64_t n9, std::int64_t s9, std::int64_t n8, std::int64_t s8, std::int64_t op);

}  // namespace mluops::emu::bang
