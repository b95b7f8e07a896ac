// Words of BANG C on maps: they turn, pad and pool. All operands lie in NRAM.
// Counts are elements unless called bytes.
#pragma once

#include <cstdint>

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
/// dst [top+h+bottom, left+w+right, channel] = src [h,w,channel] with zeros around; not in place.
template <class T>
void __bang_pad(T* dst, const T* src, std::int64_t channel, std::int64_t h, std::int64_t w, std::int64_t top,
                std::int64_t bottom, std::int64_t left, std::int64_t right);
/// Pads by pad_height above and below, by pad_width left and right.
template <class T>
void __bang_pad(T* dst, const T* src, std::int64_t channel, std::int64_t h, std::int64_t w, std::int64_t pad_height,
                std::int64_t pad_width);
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
/// The largest (smallest) lane of each window; a NaN only where there is nothing else.
MLUOPS_EMU_POOL(__bang_maxpool)
MLUOPS_EMU_POOL(__bang_minpool)
#undef MLUOPS_EMU_POOL
/// The largest lanes, and `index_offset` bytes behind dst their index in the window (the first of several), as uint32.
template <class T>
void __bang_maxpool_value_index(T* dst, const T* src, std::int64_t channel, std::int64_t height, std::int64_t width,
                                std::int64_t kernel_height, std::int64_t kernel_width, std::int64_t stride_x,
                                std::int64_t stride_y, std::int64_t index_offset);
/// The index of the largest (smallest) lane in its window alone: uint16 for half, uint32 for float.
template <class I, class T>
void __bang_maxpool_index(I* dst, const T* src, std::int64_t channel, std::int64_t height, std::int64_t width,
                          std::int64_t kernel_height, std::int64_t kernel_width, std::int64_t stride_x,
                          std::int64_t stride_y);
template <class I, class T>
void __bang_minpool_index(I* dst, const T* src, std::int64_t channel, std::int64_t height, std::int64_t width,
                          std::int64_t kernel_height, std::int64_t kernel_width, std::int64_t stride_x,
                          std::int64_t stride_y);
/// The gradient of __bang_avgpool: dst [height,width,channel] = for each lane, the src [ho,wo,channel] of the windows
/// over it added in their order in T and multiplied by one over the window's size.
template <class T>  // half, bfloat16, float
void __bang_avgpool_bp(T* dst, const T* src, std::int64_t channel, std::int64_t height, std::int64_t width,
                       std::int64_t kernel_height, std::int64_t kernel_width, std::int64_t stride_x,
                       std::int64_t stride_y);

}  // namespace mluops::emu::bang
