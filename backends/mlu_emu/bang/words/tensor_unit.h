// Words of BANG C that multiply by weights in WRAM.
//
// Weights are rows of the sums' terms, one for each output channel. WRAM has lanes, and a plain copy gives each as many
// bytes. From the 300 series on there are 16: of each 64 channels a lane has 4, one behind the other, then 4 of the
// next 64; on the 200 series 64: a lane has one of each 64 channels. __bang_reshape_filter puts rows in the order that
// a plain copy brings there; strided copies may do the same. Where the last copy put its pieces a 64th of WRAM apart,
// each of these 64ths has one of each 64 channels on every machine. Rows lie a multiple of 64 bytes apart.
//
// Half, bfloat16 and float in any combination, sums in float; int8 and int16 in any combination, summed exactly, times
// 2^position. Results are rounded once, to half, bfloat16, float, or an integer that saturates.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <type_traits>

#include "backends/mlu_emu/bang/bfloat16.h"
#include "backends/mlu_emu/bang/half.h"
#include "backends/mlu_emu/bang/words/lane_types.h"

namespace mluops::emu::bang {

namespace tensor_unit {

enum class Type { kHalf, kBfloat16, kFloat, kInt8, kInt16, kInt32 };

template <class T>
constexpr Type type_of() {
  if constexpr (std::is_same_v<T, half>) return Type::kHalf;
  if constexpr (std::is_same_v<T, bfloat16_t>) return Type::kBfloat16;
  if constexpr (std::is_same_v<T, float>) return Type::kFloat;
  if constexpr (std::is_same_v<T, std::int8_t> || std::is_same_v<T, char>) return Type::kInt8;
  if constexpr (std::is_same_v<T, std::int16_t>) return Type::kInt16;
  static_assert(!std::is_integral_v<T> || sizeof(T) != 4 || std::is_signed_v<T>, "no type of the tensor unit");
  return Type::kInt32;
}

struct Vector {
  const void* address = nullptr;
  Type type = Type::kFloat;
};
template <class T>
Vector vector(const T* address) {
  return {address, type_of<T>()};
}

/// One use: dst [ho,wo,channel_output] = (src [height,width,channel_input] windows) x weights + what is added.
struct Convolution {
  const char* word;
  void* dst;
  Type dst_type;
  Vector src, weights;
  std::int64_t channel_input, height, width, kernel_height, kernel_width, stride_x, stride_y, channel_output;
  std::int64_t dilation_x = 1, dilation_y = 1;
  int position = 0;
  Vector bias = {};       // of each channel
  Vector partial = {};    // of each result
  bool by_input = false;  // weights [channel_input,channel_output], as they were before a plain copy
  bool tf32 = false;      // floats are rounded to that type first
};
void run(const Convolution& c);
/// The numbers behind channel_output, as the guide orders them: the position, or none of floats; then the dilations of
/// width and height; then those of the output, which are modelled as 1.
void add_tail(Convolution& c, std::initializer_list<std::int64_t> tail);

template <class D, class S, class W>
Convolution convolution(const char* word, D* dst, const S* src, const W* weights, std::int64_t channel_input,
                        std::int64_t height, std::int64_t width, std::int64_t kernel_height, std::int64_t kernel_width,
                        std::int64_t stride_x, std::int64_t stride_y, std::int64_t channel_output,
                        std::initializer_list<std::int64_t> tail) {
  Convolution c{word,  dst,           type_of<D>(), vector(src), vector(weights), channel_input, height,
                width, kernel_height, kernel_width, stride_x,    stride_y,        channel_output};
  add_tail(c, tail);
  return c;
}

}  // namespace tensor_unit

#define MLUOPS_EMU_CONV_SIZES                                                                      \
  std::int64_t channel_input, std::int64_t height, std::int64_t width, std::int64_t kernel_height, \
      std::int64_t kernel_width, std::int64_t stride_x, std::int64_t stride_y, std::int64_t channel_output
#define MLUOPS_EMU_CONV_OF(word, tail)                                                                         \
  tensor_unit::convolution(word, dst, src, weights, channel_input, height, width, kernel_height, kernel_width, \
                           stride_x, stride_y, channel_output, {static_cast<std::int64_t>(tail)...})
/// dst [ho,wo,channel_output] = src [height,width,channel_input] convolved with weights [channel_output,kernel_height,
/// kernel_width,channel_input], plus a bias of each output channel. Behind channel_output stand the fix-point position
/// (of integers), the dilations of width and height, and those of the output, which are modelled as 1.
template <class D, class S, class W, class... Tail>
void __bang_conv(D* dst, const S* src, const W* weights, MLUOPS_EMU_CONV_SIZES, Tail... tail) {
  tensor_unit::run(MLUOPS_EMU_CONV_OF(__func__, tail));
}
template <class D, class S, class W, class... Tail>
void __bang_conv(D* dst, const S* src, const W* weights, const ValueOf<D>* bias, MLUOPS_EMU_CONV_SIZES, Tail... tail) {
  tensor_unit::Convolution c = MLUOPS_EMU_CONV_OF(__func__, tail);
  c.bias = tensor_unit::vector(bias);
  tensor_unit::run(c);
}
/// Convolution plus a partial result [ho,wo,channel_output], in NRAM, which may be dst.
template <class D, class S, class W, class... Tail>
void __bang_conv_partial(D* dst, const S* src, const W* weights, const ValueOf<D>* partial, MLUOPS_EMU_CONV_SIZES,
                         Tail... tail) {
  tensor_unit::Convolution c = MLUOPS_EMU_CONV_OF(__func__, tail);
  c.partial = tensor_unit::vector(partial);
  tensor_unit::run(c);
}
/// The same of floats that are rounded to tf32 first.
template <class... Tail>
void __bang_conv_tf32(float* dst, const float* src, const float* weights, MLUOPS_EMU_CONV_SIZES, Tail... tail) {
  tensor_unit::Convolution c = MLUOPS_EMU_CONV_OF(__func__, tail);
  c.tf32 = true;
  tensor_unit::run(c);
}
template <class... Tail>
void __bang_conv_partial_tf32(float* dst, const float* src, const float* weights, const float* partial,
                              MLUOPS_EMU_CONV_SIZES, Tail... tail) {
  tensor_unit::Convolution c = MLUOPS_EMU_CONV_OF(__func__, tail);
  c.partial = tensor_unit::vector(partial);
  c.tf32 = true;
  tensor_unit::run(c);
}
#undef MLUOPS_EMU_CONV_OF
#undef MLUOPS_EMU_CONV_SIZES

/// dst [m,n] = src [m,k] x weights [n,k] transposed: a convolution with windows of one pixel.
template <class D, class S, class W>
void __bang_matmul(D* dst, const S* src, const W* weights, std::int64_t m, std::int64_t k, std::int64_t n,
                   int position = 0) {
  tensor_unit::run(tensor_unit::convolution(__func__, dst, src, weights, k, m, 1, 1, 1, 1, 1, n, {position}));
}

/// The matrix product plus a partial result [m,n] in NRAM, which may be dst.
template <class D, class S, class W>
void __bang_matmul(D* dst, const S* src, const W* weights, const ValueOf<D>* partial, std::int64_t m, std::int64_t k,
                   std::int64_t n, int position = 0) {
  tensor_unit::Convolution c =
      tensor_unit::convolution(__func__, dst, src, weights, k, m, 1, 1, 1, 1, 1, n, {position});
  c.partial = tensor_unit::vector(partial);
  tensor_unit::run(c);
}

/// dst [height] = weights [height,width] x src [width] + bias [height].
template <class D, class S, class W>
void __bang_mlp(D* dst, const S* src, const ValueOf<D>* bias, const W* weights, std::int64_t height, std::int64_t width,
                int position = 0) {
  tensor_unit::Convolution c =
      tensor_unit::convolution(__func__, dst, src, weights, width, 1, 1, 1, 1, 1, 1, height, {position});
  c.bias = tensor_unit::vector(bias);
  tensor_unit::run(c);
}

/// dst [width] = src [height] x weights [height,width], which a plain copy brought to WRAM row after row.
template <class D, class S, class W>
void __bang_mlp(D* dst, const S* src, const W* weights, std::int64_t height, std::int64_t width, int position = 0) {
  tensor_unit::Convolution c =
      tensor_unit::convolution(__func__, dst, src, weights, height, 1, 1, 1, 1, 1, 1, width, {position});
  c.by_input = true;
  tensor_unit::run(c);
}

/// dst = src [n,h,w,c] with its n rows in the order in which a plain copy brings them to the lanes of WRAM; n is a
/// multiple of 64; not in place.
template <class T>  // any
void __bang_reshape_filter(T* dst, const T* src, std::int64_t n, std::int64_t h, std::int64_t w, std::int64_t c);

/// dst [n,c] = src [n] times weights [c] times factor [n,c], and plus addend [n,c]; each product and sum is rounded.
/// The c weights, in WRAM, are those of a plain copy.
void __bang_expand_channel_mul(float* dst, const float* src, const float* weights, const float* factor, std::int64_t n,
                               std::int64_t c);
void __bang_expand_channel_mul_add(float* dst, const float* src, const float* weights, const float* factor,
                                   const float* addend, std::int64_t n, std::int64_t c);

/// The fault of a word that is known but not modelled.
void not_modelled(const char* word);
// Declared, so that files which mention them compile; a fault that names them where they are called.
#define MLUOPS_EMU_NOT_MODELLED(word) \
  template <class... Arguments>       \
  void word(const Arguments&...) {    \
    not_modelled(#word);              \
  }
MLUOPS_EMU_NOT_MODELLED(__bang_conv_sparse)
MLUOPS_EMU_NOT_MODELLED(__bang_histogram)
MLUOPS_EMU_NOT_MODELLED(__bang_integral)
MLUOPS_EMU_NOT_MODELLED(__bang_load_matrix)
MLUOPS_EMU_NOT_MODELLED(__bang_ssparse_filter_index)
MLUOPS_EMU_NOT_MODELLED(__bang_ssparse_filter_sparse_index)
MLUOPS_EMU_NOT_MODELLED(__bang_ssparse_filter_union)
MLUOPS_EMU_NOT_MODELLED(__bang_ssparse_filter_union_index)
MLUOPS_EMU_NOT_MODELLED(__bang_tiling_2d_b8)
MLUOPS_EMU_NOT_MODELLED(__bang_tiling_2d_b16)
MLUOPS_EMU_NOT_MODELLED(__bang_tiling_2d_b32)
MLUOPS_EMU_NOT_MODELLED(__bang_tiling_2d_b64)
MLUOPS_EMU_NOT_MODELLED(__bang_tiling_2d_b128)
MLUOPS_EMU_NOT_MODELLED(__bang_tiling_2d_b256)
#undef MLUOPS_EMU_NOT_MODELLED

}  // namespace mluops::emu::bang
