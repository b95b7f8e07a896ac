// Hard non-maximum suppression: the boxes that are kept, and the groups of boxes each of them suppresses.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/kernels/nms/nms.cpp"
#include <hwy/foreach_target.h>

#include "backends/cpu/dispatch.h"
#include "backends/cpu/kernels/nms/sweep-inl.h"
#include "mluops/problem/nms.h"

HWY_BEFORE_NAMESPACE();
namespace mluops::cpu::nms::HWY_NAMESPACE {
namespace {

// ---- nms -------------------------------------------------------------------------------------

template <class T>
BoxSource<T> source_of(const mluopsNmsProblem& p) {
  const bool centre = p.box_mode == MLUOP_NMS_BOX_CENTER;
  const auto* const data = static_cast<const T*>(p.boxes);
  if (p.transposed != 0) return {data, 1, p.shape.boxes, centre};
  return {data, 4, 1, centre};
}

/// The boxes whose score counts.
template <class S, class A>
void add_scores(const Context& context, const mluopsCall& call, const mluopsNmsProblem& p, spatial::Order<A>& order) {
  const auto* const scores = static_cast<const S*>(p.scores);
  const A threshold = static_cast<A>(p.score_threshold);
  const auto score = [&](std::int64_t i) { return static_cast<A>(to_acc(scores[i])); };
  if (threshold != threshold) return order.add_all(context, call, p.shape.boxes, score);
  for (std::int64_t i = 0; i < p.shape.boxes; ++i) {
    if (score(i) > threshold) order.add(i, score(i));
  }
}

/// Number i of the n-th kept box: of row n of [room, 5] or column n of [5, room].
template <class T>
T& detection(const mluopsNmsProblem& p, std::int64_t n, std::int64_t i) {
  const bool rows = p.output_mode == MLUOP_NMS_OUTPUT_TARGET_CONFIDENCE_AND_POS_1;
  return static_cast<T*>(p.output)[rows ? n * 5 + i : i * p.room + n];
}

template <class T, class S>
void put_detection(const mluopsNmsProblem& p, std::int64_t n, std::int64_t box) {
  const auto* const from = static_cast<const T*>(p.boxes) + box * (p.transposed != 0 ? 1 : 4);
  detection<T>(p, n, 0) = from_acc<T>(static_cast<Acc<T>>(to_acc(static_cast<const S*>(p.scores)[box])));
  for (int i = 0; i < 4; ++i) detection<T>(p, n, i + 1) = from[i * (p.transposed != 0 ? p.shape.boxes : 1)];
}

/// Zeros from the n-th box on.
template <class T>
void pad_detections(const mluopsNmsProblem& p, std::int64_t n) {
  for (; n < p.max_output; ++n) {
    for (int i = 0; i < 5; ++i) detection<T>(p, n, i) = from_acc<T>(0);
  }
}

template <class T, class S>
void write_kept(const Context& context, const mluopsCall& call, const mluopsNmsProblem& p,
                const SweepArrays<Acc<T>>& arrays, std::int64_t kept) {
  const bool indices = p.output_mode == MLUOP_NMS_OUTPUT_TARGET_INDICES;
  const auto each = [&](double ns, const auto& body) {
    Loop(context, call, kept, ns).run([&](std::int64_t begin, std::int64_t end, int) {
      for (std::int64_t n = begin; n < end; ++n) body(n, arrays.order[arrays.keepers[n]]);
    });
  };
  if (indices) {
    with_indices(p.shape, p.output, [&]<class I>(I* out) {
      each(cost::kStep, [&](std::int64_t n, std::int64_t box) { out[n] = static_cast<I>(box); });
    });
  } else {
    each(5 * cost::kStep, [&](std::int64_t n, std::int64_t box) { put_detection<T, S>(p, n, box); });
  }
  if (p.pad != 0 && indices) {
    with_indices(p.shape, p.output, [&]<class I>(I* out) { std::fill(out + kept, out + p.max_output, I{0}); });
  } else if (p.pad != 0) {
    pad_detections<T>(p, kept);
  }
  *p.output_size = static_cast<std::int32_t>(kept);
}

template <class T, class S>
mluOpStatus_t suppress(Context& context, const mluopsCall& call, const mluopsNmsProblem& p) {
  auto arrays = allocate<SweepArrays<Acc<T>>>(context.arena, call, p.shape.boxes);
  if (!arrays) return no_memory(call);
  add_scores<S>(context, call, p, arrays->order);
  arrays->read(context, call, source_of<T>(p), static_cast<Acc<T>>(p.shape.offset));
  const std::int64_t kept = Sweep<Acc<T>, false>(context, call, p.shape, *arrays).run(p.max_output);
  write_kept<T, S>(context, call, p, *arrays, kept);
  return MLUOP_STATUS_SUCCESS;
}

template <class T>
mluOpStatus_t hard(Context& context, const mluopsCall& call, const mluopsNmsProblem& p) {
  if (const char* const reason = declined(p.shape)) return fail(call, MLUOP_STATUS_NOT_SUPPORTED, reason);
  if (p.box_numbers == 7) return flat_boxes(context, call, p);
  if constexpr (std::is_same_v<T, float>) {
    if (p.score_dtype == MLUOP_DTYPE_HALF) return suppress<T, Half>(context, call, p);
  }
  return suppress<T, T>(context, call, p);
}

// ---- nms_match -------------------------------------------------------------------------------

/// Owners become numbers of groups, in the order of their kept boxes. Returns how many there are.
inline std::int64_t number_groups(std::int64_t boxes, std::int32_t* owner) {
  std::int32_t groups = 0;
  for (std::int64_t rank = 0; rank < boxes; ++rank) {
    owner[rank] = owner[rank] == kNone ? groups++ : owner[owner[rank]];
  }
  return groups;
}

/// Counts what each group has, then puts the boxes there, best score first. `next` has room for all groups.
template <class I, class A>
void write_groups(const SweepArrays<A>& arrays, std::int64_t groups, std::int64_t* next, I* indices, I* sizes) {
  std::fill_n(sizes, arrays.order.size(), I{0});
  for (std::int64_t rank = 0; rank < arrays.order.size(); ++rank) ++sizes[arrays.owner[rank]];
  for (std::int64_t group = 0, place = 0; group < groups; place += sizes[group++]) next[group] = place;
  for (std::int64_t rank = 0; rank < arrays.order.size(); ++rank) {
    indices[next[arrays.owner[rank]]++] = static_cast<I>(arrays.order[rank]);
  }
}

template <class A>
struct MatchArrays : SweepArrays<A> {
  std::int64_t* next;  ///< place of each group

  MatchArrays(Allocator& allocator, const mluopsCall& call, std::int64_t most)
      : SweepArrays<A>(allocator, call, most), next(allocator.allocate<std::int64_t>(most)) {}
};

template <class T>
mluOpStatus_t match(Context& context, const mluopsCall& call, const mluopsNmsMatchProblem& p) {
  using A = Acc<T>;
  if (const char* const reason = declined(p.shape)) return fail(call, MLUOP_STATUS_NOT_SUPPORTED, reason);
  const std::int64_t boxes = p.shape.boxes;
  auto arrays = allocate<MatchArrays<A>>(context.arena, call, boxes);
  if (!arrays) return no_memory(call);
  const auto* const dets = static_cast<const T*>(p.dets);
  arrays->order.add_all(context, call, boxes, [&](std::int64_t i) { return to_acc(dets[i * 5 + 4]); });
  arrays->read(context, call, BoxSource<T>{dets, 5, 1, false}, A{0});
  Sweep<A, true>(context, call, p.shape, *arrays).run(boxes);
  const std::int64_t groups = number_groups(boxes, arrays->owner);
  with_indices(p.shape, p.indices, [&]<class I>(I* indices) {
    write_groups(*arrays, groups, arrays->next, indices, static_cast<I*>(p.group_sizes));
  });
  *p.group_count = static_cast<std::int32_t>(groups);
  return MLUOP_STATUS_SUCCESS;
}

}  // namespace
}  // namespace mluops::cpu::nms::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

MLUOPS_CPU_ENTRY(nms, nms, hard, mluopsNmsProblem, with_element)
MLUOPS_CPU_ENTRY(nms_match, nms, match, mluopsNmsMatchProblem, with_element)
