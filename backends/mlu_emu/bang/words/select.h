// Words of BANG C that sum, count, find, pack and look up. All operands lie in NRAM.
// Counts are elements unless called bytes.
#pragma once

#include <cstdint>

#include "backends/mlu_emu/bang/words/lane_types.h"

namespace mluops::emu::bang {

/// Sum of n lanes, one after the other in T; for the scalar core.
template <class T>  // half, float
T __bang_sum(const T* src, std::int64_t n);
/// Sums of the 128 bytes of lanes each, into the first lane of every 128 bytes of dst; its other lanes stay. Each is
/// added one after the other in T; dst may be src.
template <class T>  // half, bfloat16, float
void __bang_reduce_sum(T* dst, const T* src, std::int64_t n);
// Counting and finding; half, float, int16, int32. Every lane read must be defined.
/// Lanes that are not zero.
template <class T>
std::uint32_t __bang_count(const T* src, std::int64_t n);
/// Into dst[0].
template <class T>
void __bang_count(std::uint32_t* dst, const T* src, std::int64_t n);
/// Index of the first (last) lane that is not zero; 2^32 - 1 when there is none.
template <class T>
std::uint32_t __bang_findfirst1(const T* src, std::int64_t n);
template <class T>
std::uint32_t __bang_findlast1(const T* src, std::int64_t n);
/// Into dst[0].
template <class T>
void __bang_findfirst1(std::uint32_t* dst, const T* src, std::int64_t n);
template <class T>
void __bang_findlast1(std::uint32_t* dst, const T* src, std::int64_t n);
/// The largest (smallest) lane in dst[0] and, as 32 bits right behind it, its index (the first of several): in half,
/// `((uint16_t*)dst)[1]` is its lower half. A NaN is never better than the lane before it.
template <class T>
void __bang_argmax(T* dst, const T* src, std::int64_t n);
template <class T>
void __bang_argmin(T* dst, const T* src, std::int64_t n);
/// The same, where a NaN is better than any number, the first of several.
template <class T>  // half, bfloat16, float
void __bang_nan_argmax(T* dst, const T* src, std::int64_t n);
template <class T>
void __bang_nan_argmin(T* dst, const T* src, std::int64_t n);
/// The largest (smallest) magnitude in dst[0], its index behind it, and 4 bytes of zeros.
template <class T>  // half, bfloat16, float
void __bang_fabsmax(T* dst, const T* src, std::int64_t n);
template <class T>
void __bang_fabsmin(T* dst, const T* src, std::int64_t n);
// Older names of __bang_argmax and __bang_argmin.
template <class T>
void __bang_max(T* dst, const T* src, std::int64_t n);
template <class T>
void __bang_min(T* dst, const T* src, std::int64_t n);
/// Packs the lanes of src whose mask is not zero to the front of dst; returns how many. dst may be src; what lies
/// behind the packed lanes stays.
template <class T>
std::uint32_t __bang_filter(T* dst, const T* src, const T* mask, std::int64_t n);
/// Older name of __bang_filter, without the count.
template <class T>
void __bang_collect(T* dst, const T* src, const T* mask, std::int64_t n);
/// How many lanes __bang_filter would keep, as uint32, and zeros up to 128 bytes; the lanes follow.
template <class T>
void __bang_select(T* dst, const T* src, const T* mask, std::int64_t n);
/// dst[i] = src[i] where mask[i] is not zero; else dst[i] stays.
template <class T>
void __bang_maskmove(T* dst, const T* src, const T* mask, std::int64_t n);
/// Bytes of src whose bit of the mask is set; else dst's byte stays.
void __bang_maskmove(void* dst, const void* src, const void* mask, std::int64_t bytes);
/// The lanes of a for which the comparison with b holds, one behind the other; before them 4 bytes with their number.
enum CompareMode { CMP_EQ, CMP_NE, CMP_LT, CMP_LE, CMP_GT, CMP_GE };
template <class T>  // half, bfloat16, float
void __bang_fcmpfilter(CompareMode mode, T* dst, const T* a, const T* b, std::int64_t n);
template <class T>
void __bang_fcmpfilter(CompareMode mode, T* dst, const T* a, ValueOf<T> b, std::int64_t n);
/// Bits that are not zero in n lanes; into dst[0].
template <class T>
std::uint32_t __bang_count_bitindex(const T* src, std::int64_t n);
template <class T>
void __bang_count_bitindex(std::uint32_t* dst, const T* src, std::int64_t n);
/// A bit for each number that is not zero, and a number for each bit; c is a multiple of 8.
template <class T>  // 8, 16 or 32 bits
void __bang_breduce(void* dst, const T* src, std::int64_t n, std::int64_t h, std::int64_t w, std::int64_t c);
template <class T>
void __bang_bexpand(T* dst, const void* src, std::int64_t n, std::int64_t h, std::int64_t w, std::int64_t c);
/// Uniform numbers of all 16 bits, the same ones in every run.
void __bang_rand(std::int16_t* dst, std::int64_t n);
// Bit masks: lane 8k + i is bit i of byte k. Comparisons of n lanes (a multiple of 8) write n / 8 bytes.
template <class T>  // half, float
void __bang_eq_bitindex(T* dst, const T* a, const T* b, std::int64_t n);
template <class T>
void __bang_ne_bitindex(T* dst, const T* a, const T* b, std::int64_t n);
template <class T>
void __bang_lt_bitindex(T* dst, const T* a, const T* b, std::int64_t n);
template <class T>
void __bang_le_bitindex(T* dst, const T* a, const T* b, std::int64_t n);
template <class T>
void __bang_gt_bitindex(T* dst, const T* a, const T* b, std::int64_t n);
template <class T>
void __bang_ge_bitindex(T* dst, const T* a, const T* b, std::int64_t n);
// "u": hold where a lane is NaN, too.
template <class T>
void __bang_equ_bitindex(T* dst, const T* a, const T* b, std::int64_t n);
template <class T>
void __bang_neu_bitindex(T* dst, const T* a, const T* b, std::int64_t n);
template <class T>
void __bang_ltu_bitindex(T* dst, const T* a, const T* b, std::int64_t n);
template <class T>
void __bang_leu_bitindex(T* dst, const T* a, const T* b, std::int64_t n);
template <class T>
void __bang_gtu_bitindex(T* dst, const T* a, const T* b, std::int64_t n);
template <class T>
void __bang_geu_bitindex(T* dst, const T* a, const T* b, std::int64_t n);
/// __bang_filter, __bang_collect and __bang_select with a bit mask.
template <class T>
std::uint32_t __bang_filter_bitindex(T* dst, const T* src, const void* mask, std::int64_t n);
template <class T>
void __bang_collect_bitindex(T* dst, const T* src, const void* mask, std::int64_t n);
template <class T>
void __bang_select_bitindex(T* dst, const T* src, const void* mask, std::int64_t n);
/// __bang_maskmove with a bit mask.
template <class T>
void __bang_maskmove_bitindex(T* dst, const T* src, const void* mask, std::int64_t n);
/// dst[i] = table[index[i]]; where the index is outside of the table dst stays. The table has a multiple of 64
/// elements.
template <class T, class I>  // T int16, uint16, half, int32, uint32, float; I uint8, int16, uint16, int32, uint32
void __bang_lut(T* dst, const I* index, const T* table, std::int64_t n, std::int64_t table_n);
/// The same for lanes of 16 and of 32 bits of any type.
template <class T, class I>
void __bang_lut_s16(T* dst, const I* index, const T* table, std::int64_t n, std::int64_t table_n) {
  static_assert(sizeof(T) == 2 && sizeof(I) == 2, "lanes of 16 bits");
  __bang_lut(dst, index, table, n, table_n);
}
template <class T, class I>
void __bang_lut_s32(T* dst, const I* index, const T* table, std::int64_t n, std::int64_t table_n) {
  static_assert(sizeof(T) == 4 && sizeof(I) == 4, "lanes of 32 bits");
  __bang_lut(dst, index, table, n, table_n);
}

}  // namespace mluops::emu::bang
