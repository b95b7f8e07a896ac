// Kernels of operators that are more than one C function of a description.
#pragma once

#include <ATen/ops/_unique2.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/cat.h>

#include "call.h"

namespace mluops_library {

// ---- IoU of pairs of boxes

template <typename Function>
void ious(Call& call, int64_t numbers, bool has_offset, Function function) {
  const Tensor first = call.tensor("bboxes1", 2), second = call.tensor("bboxes2", 2);
  const int64_t mode = call.integer("mode", 0, 1);
  const bool aligned = call.flag();
  const int64_t offset = has_offset ? call.integer("offset", 0, 1) : 0;
  const int64_t n = first.size(0), m = second.size(0);
  call.expect("bboxes1", first, {n, numbers});
  call.expect("bboxes2", second, {aligned ? n : m, numbers});
  const Tensor result = aligned ? call.result({n}, call.dtype()) : call.result({n, m}, call.dtype());
  if (!call.nothing({result})) {
    const Given a = call.array(first), b = call.array(second), to = call.array(result);
    call.done(function(call.handle(), static_cast<int>(mode), aligned, static_cast<int>(offset), a, b, to));
  }
  call.finish({result});
}

inline void bbox_overlaps(Call& call) {
  ious(call, 4, true,
       [](mluOpHandle_t handle, int mode, bool aligned, int offset, const Given& a, const Given& b, const Given& to) {
         return mluOpBboxOverlaps(handle, mode, aligned, offset, a.desc(), a.data(), b.desc(), b.data(), to.desc(),
                                  to.data());
       });
}

inline void box_iou_rotated(Call& call) {
  ious(call, 5, false,
       [](mluOpHandle_t handle, int mode, bool aligned, int, const Given& a, const Given& b, const Given& to) {
         return mluOpBoxIouRotated(handle, mode, aligned, a.desc(), a.data(), b.desc(), b.data(), to.desc(), to.data());
       });
}

inline void box_iou_quadri(Call& call) {
  ious(call, 8, false,
       [](mluOpHandle_t handle, int mode, bool aligned, int, const Given& a, const Given& b, const Given& to) {
         return mluOpExtBoxIouQuadri(handle, mode, aligned, a.desc(), a.data(), b.desc(), b.data(), to.desc(),
                                     to.data());
       });
}

// ---- suppression

struct NmsSettings {
  double iou_threshold;
  int64_t offset;
  double score_threshold;
  int64_t max_num;

  static NmsSettings of(Call& call) {
    const double iou_threshold = call.number("iou_threshold");
    const int64_t offset = call.integer("offset", 0, 1);
    const double score_threshold = call.number("score_threshold");
    return {iou_threshold, offset, score_threshold, call.integer("max_num")};
  }
};

/// The indices of the boxes kept go to the front of `indices` int64 [N], and how many there are to `count` int32 [1].
inline void suppress(Call& call, const Tensor& boxes, const Tensor& scores, const NmsSettings& s, const Tensor& indices,
                     const Tensor& count) {
  const int64_t n = boxes.size(0), most = s.max_num > 0 && s.max_num < n ? s.max_num : n;
  const double lowest = s.score_threshold > 0 ? s.score_threshold : -std::numeric_limits<double>::infinity();
  const Owned<mluOpNmsDescriptor_t> desc(mluOpCreateNmsDescriptor, mluOpDestroyNmsDescriptor);
  check(mluOpExtSetNmsDescriptor(desc.get(), Int{0}, Int{0}, s.iou_threshold, Int{most}, lowest, Int{s.offset}, Int{0},
                                 false));
  const Given a = call.array(boxes), b = call.array(scores), to = call.array(indices);
  call.done(mluOpNms(call.handle(), desc.get(), a.desc(), a.data(), b.desc(), b.data(), nullptr, 0, to.desc(),
                     to.data(), count.data_ptr()));
}

inline void nms(Call& call) {
  const Tensor boxes = call.tensor("boxes", 2), scores = call.tensor("scores", 1);
  const NmsSettings settings = NmsSettings::of(call);
  const int64_t n = boxes.size(0);
  call.expect("boxes", boxes, {n, 4});
  call.expect("scores", scores, {n});
  const Tensor indices = call.result({n}, at::kLong), count = call.result({1}, at::kInt);
  if (!call.nothing({indices, count})) suppress(call, boxes, scores, settings, indices, count);
  call.finish({indices, count});
}

/// Indices by decreasing score: of equal scores the lowest index first, NaN before every number.
inline Tensor best_first(const Tensor& indices, const Tensor& scores) {
  const Tensor ascending = std::get<0>(indices.sort());
  return ascending.index_select(0, std::get<1>(scores.index_select(0, ascending).sort(true, 0, true)));
}

/// Indices int64 of the boxes that are kept of each group, best score first. kept(places) gives those of one group,
/// which has several boxes, keeps_alone(place) tells of a box without others.
template <typename Kept, typename Alone>
Tensor kept_of_groups(const Tensor& scores, const Tensor& groups, Kept kept, Alone keeps_alone) {
  const auto [values, number, sizes] = at::_unique2(groups, true, true, true);
  const Tensor order = std::get<1>(number.sort(true, 0, false));
  std::vector<Tensor> found;
  int64_t begin = 0;
  for (int64_t group = 0; group < sizes.size(0); ++group) {
    const int64_t size = sizes.const_data_ptr<int64_t>()[group];
    const Tensor places = order.slice(0, begin, begin + size);
    begin += size;
    if (size > 1) found.push_back(places.index_select(0, kept(places)));
    if (size == 1 && keeps_alone(places.item<int64_t>())) found.push_back(places);
  }
  return found.empty() ? order.slice(0, 0, 0) : best_first(at::cat(found), scores);
}

/// The operator's results: as many rows as there may be, and how many count.
inline void finish_rows(Call& call, const Tensor& found, int64_t n) {
  const Tensor room = call.result({n}, at::kLong).zero_(), count = call.result({1}, at::kInt);
  room.slice(0, 0, found.size(0)).copy_(found);
  call.finish({room, count.fill_(found.size(0))});
}

inline void nms_of_groups(Call& call) {
  const Tensor boxes = call.tensor("boxes", 2), scores = call.tensor("scores", 1), groups = call.any_tensor("groups");
  const NmsSettings settings = NmsSettings::of(call);
  const int64_t n = boxes.size(0);
  call.expect("boxes", boxes, {n, 4});
  call.expect("scores", scores, {n});
  call.expect("groups", groups, {n});
  const Tensor wide = boxes.to(at::kDouble), ranked = scores.to(at::kDouble).contiguous();
  const auto kept = [&](const Tensor& places) {
    const int64_t size = places.size(0);
    const Tensor indices = call.result({size}, at::kLong), count = call.result({1}, at::kInt);
    suppress(call, wide.index_select(0, places), ranked.index_select(0, places), settings, indices, count);
    return indices.slice(0, 0, count.item<int>());
  };
  const auto keeps_alone = [&](int64_t place) {
    return !(settings.score_threshold > 0) || ranked.const_data_ptr<double>()[place] > settings.score_threshold;
  };
  const Tensor found = kept_of_groups(ranked, groups, kept, keeps_alone);
  finish_rows(call, settings.max_num > 0 ? found.slice(0, 0, settings.max_num) : found, n);
}

inline void nms_rotated_of_groups(Call& call) {
  const Tensor dets = call.tensor("dets", 2), scores = call.tensor("scores", 1), labels = call.any_tensor("labels");
  const double iou_threshold = call.number("iou_threshold");
  const int64_t n = dets.size(0);
  call.expect("dets", dets, {n, 5});
  call.expect("scores", scores, {n});
  call.expect("labels", labels, {n});
  const auto kept = [&](const Tensor& places) {
    const Tensor indices = call.result({places.size(0)}, at::kInt), count = call.result({1}, at::kInt);
    const Given a = call.array(dets.index_select(0, places)), b = call.array(scores.index_select(0, places));
    const Given to = call.array(indices);
    call.exactly({iou_threshold});
    call.done(mluOpNmsRotated(call.handle(), static_cast<float>(iou_threshold), a.desc(), a.data(), b.desc(), b.data(),
                              nullptr, 0, to.desc(), to.data(), Pointer{count.data_ptr()}));
    return indices.slice(0, 0, count.item<int>()).to(at::kLong);
  };
  finish_rows(call, kept_of_groups(scores, labels, kept, [](int64_t) { return true; }), n);
}

// ---- numbers

/// 0, 1, 2 ... below the number in `count`.
inline void first_numbers(Call& call) {
  const Tensor count = call.any_tensor("count");
  call.finish({at::arange(count.item<int64_t>(), at::TensorOptions(at::kLong))});
}

template <typename To, typename From>
void copy_in_range(Call& call, at::ScalarType to, at::ScalarType from, int64_t least, int64_t most, const Tensor& given,
                   const std::string& name) {
  const Tensor numbers = given.to(from).contiguous(), copied = at::empty(given.sizes(), at::TensorOptions(to));
  const From* source = numbers.const_data_ptr<From>();
  To* target = copied.mutable_data_ptr<To>();
  for (int64_t i = 0; i < numbers.numel(); ++i) {
    call.demand(source[i] >= least && source[i] <= most, name.c_str(), "numbers from ", least, " to ", most, ", got ",
                source[i]);
    target[i] = static_cast<To>(source[i]);
  }
  call.finish({copied});
}

inline void int32(Call& call) {
  const Tensor wide = call.any_tensor("wide");
  copy_in_range<int32_t, int64_t>(call, at::kInt, at::kLong, kLeast, kMost, wide, call.text());
}

inline void in_range(Call& call) {
  const Tensor numbers = call.tensor("numbers", -1, at::kInt);
  const std::string name = call.text();
  const int64_t least = call.integer("least"), most = call.integer("greatest");
  copy_in_range<int32_t, int32_t>(call, at::kInt, at::kInt, least, most, numbers, name);
}

/// The check of multi_scale_deformable_attn before it reads: its maps have as many pixels as value.
inline void check_pixels(Call& call, const Tensor& value, const Tensor& shapes) {
  const Tensor sizes = shapes.contiguous();
  int64_t pixels = 0;
  for (int64_t i = 0; i < sizes.size(0); ++i) {
    pixels += int64_t{sizes.const_data_ptr<int>()[2 * i]} * sizes.const_data_ptr<int>()[2 * i + 1];
  }
  call.demand(pixels == value.size(1), "value_spatial_shapes", "maps of ", value.size(1), " pixels in all, got ",
              pixels);
}

}  // namespace mluops_library
