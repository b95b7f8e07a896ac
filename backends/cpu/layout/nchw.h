// NCHW calls the straightforward way: image tensors are transposed into scratch, the NHWC kernel runs, its outputs are
// transposed back. Costs one pass over each image tensor more than NHWC.
#pragma once

#include <array>
#include <string>
#include <type_traits>
#include <utility>

#include "backends/cpu/layout/relayout.h"
#include "backends/cpu/runtime/path.h"
#include "common/shape.h"

namespace mluops::cpu::layout {

/// An image tensor: n images of `pixels` pixels of `channels` channels.
struct Image {
  std::int64_t n, pixels, channels, element;

  std::int64_t bytes() const { return n * pixels * channels * element; }
  /// Whether both layouts are the same bytes.
  bool same() const { return pixels == 1 || channels == 1; }
  Matrices from_nchw() const { return {n, channels, pixels, element}; }
  Matrices from_nhwc() const { return {n, pixels, channels, element}; }
};

inline std::int64_t element_bytes(mluOpDataType_t dtype) {
  return dtype == MLUOP_DTYPE_DOUBLE ? 8 : dtype == MLUOP_DTYPE_FLOAT ? 4 : 2;
}

// visit_images(problem, visit): visit(pointer, image) for each image tensor of a problem; pointers to const are inputs.
// An operator's room defines it.

/// The outputs of a call that lie in scratch, and where they belong.
struct Outputs {
  struct Output {
    Image image;
    const void* scratch;
    void* target;
  };
  std::array<Output, 3> list;
  std::size_t count = 0;
};

/// Points the problem's image tensors at `scratch`: inputs transposed, outputs to be written.
template <class Problem>
Outputs move_to_nhwc(const Context& context, const mluopsCall& call, Problem& p, std::byte* scratch) {
  Outputs outputs;
  visit_images(p, [&](auto& pointer, const Image& image) {
    using Pointer = std::remove_reference_t<decltype(pointer)>;
    if (image.same()) return;
    if constexpr (std::is_const_v<std::remove_pointer_t<Pointer>>) {
      transpose(context, call, image.from_nchw(), pointer, scratch);
    } else {
      outputs.list[outputs.count++] = {image, scratch, pointer};
    }
    pointer = reinterpret_cast<Pointer>(scratch);
    scratch += round_up(image.bytes(), Arena::kAlignment);
  });
  return outputs;
}

template <class Problem>
std::int64_t scratch_bytes(Problem p) {
  std::int64_t bytes = 0;
  visit_images(p, [&](auto&, const Image& image) {
    if (!image.same()) bytes += round_up(image.bytes(), Arena::kAlignment);
  });
  return bytes;
}

/// Runs an NCHW problem by an operator that knows NHWC.
template <class Problem>
mluOpStatus_t run_nchw(Context& context, const mluopsCall& call, Problem p,
                       mluOpStatus_t (*run)(Context&, const mluopsCall&, const Problem&)) {
  std::byte* const scratch = context.images.reserve(scratch_bytes(p));
  if (scratch == nullptr && scratch_bytes(p) > 0) return no_memory(call);
  const Outputs outputs = move_to_nhwc(context, call, p, scratch);
  p.layout = MLUOP_LAYOUT_NHWC;
  const mluOpStatus_t status = run(context, call, p);
  if (status != MLUOP_STATUS_SUCCESS) return status;
  for (std::size_t i = 0; i < outputs.count; ++i) {
    const Outputs::Output& output = outputs.list[i];
    transpose(context, call, output.image.from_nhwc(), output.scratch, output.target);
  }
  return status;
}

inline constexpr const char* kTransposedPath = "nchw_transposed";

/// What a context tells of paths; the NHWC call inside chooses its own and leaves no trace.
class PathNotes {
 public:
  PathNotes(Context& context, const char* name)
      : context_(context),
        name_(name),
        path_(std::exchange(context.path, {})),
        paths_(context.paths),
        known_(context.paths_known) {}
  ~PathNotes() {
    context_.path = std::move(path_);
    context_.last_path = name_;
    context_.paths = paths_;
    context_.paths_known = known_;
  }
  PathNotes(const PathNotes&) = delete;
  PathNotes& operator=(const PathNotes&) = delete;

 private:
  Context& context_;
  const char* name_;
  std::string path_;
  decltype(Context::paths) paths_;
  std::size_t known_;
};

template <auto run, class Problem>
mluOpStatus_t run_transposed(Context& context, const mluopsCall& call, const Problem& p) {
  const PathNotes notes(context, kTransposedPath);
  return run_nchw<Problem>(context, call, p, run);
}

/// run_nchw as the last path of an operator for NCHW.
template <auto run, class Problem>
inline constexpr Path<Problem> kTransposed = {kTransposedPath, always<Problem>, run_transposed<run, Problem>};

}  // namespace mluops::cpu::layout
