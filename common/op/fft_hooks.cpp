#include "common/op/fft.h"

#include <cstdint>

#include "common/capture.h"
#include "common/case_text.h"
#include "common/dtype.h"
#include "common/op/fft_plan.h"
#include "common/op/strided.h"

namespace mluops::op {
namespace {

constexpr std::int64_t kMostBytes = std::int64_t{1} << 60;

bool is_complex(mluOpDataType_t dtype) {
  return dtype == MLUOP_DTYPE_COMPLEX_FLOAT || dtype == MLUOP_DTYPE_COMPLEX_HALF;
}

mluOpDataType_t complex_of(mluOpDataType_t dtype) {
  return dtype == MLUOP_DTYPE_FLOAT  ? MLUOP_DTYPE_COMPLEX_FLOAT
         : dtype == MLUOP_DTYPE_HALF ? MLUOP_DTYPE_COMPLEX_HALF
                                     : dtype;
}

Status check_pointers(const FftPlanArgs& args) {
  MLUOPS_RETURN_IF_FINISHED(not_null("handle", args.handle));
  if (args.plan == nullptr) {
    return Status::error(MLUOP_STATUS_NOT_INITIALIZED, "fft_plan: wanted a pointer, got NULL");
  }
  MLUOPS_RETURN_IF_FINISHED(have_descs({args.input, args.output}));
  MLUOPS_RETURN_IF_FINISHED(
      are_given({{"n", args.n}, {"reservespace_size", args.reserve_size}, {"workspace_size", args.workspace_size}}));
  MLUOPS_RETURN_IF_FINISHED(in_range("rank", args.rank, 1, 3));
  if (args.rank == 3) return Status::not_supported("rank: wanted 1 or 2, got 3");
  for (int i = 0; i < args.rank; ++i) MLUOPS_RETURN_IF_FINISHED(at_least("n", args.n[i], 1));
  return Status::go_on();
}

/// COMPLEX_FLOAT and FLOAT, or COMPLEX_HALF and HALF, not both of them real.
Status check_dtypes(const FftPlanArgs& args) {
  const mluOpDataType_t in = args.input.desc->dtype, out = args.output.desc->dtype;
  for (const TensorArg& t : {args.input, args.output}) {
    if (is_complex(complex_of(t.desc->dtype))) continue;
    return Status::bad_param(
        text_of(t.name, ": wanted dtype DTYPE_FLOAT, DTYPE_HALF, DTYPE_COMPLEX_FLOAT or DTYPE_COMPLEX_HALF, got ",
                dtype_name(t.desc->dtype)));
  }
  if (complex_of(in) != complex_of(out) || (!is_complex(in) && !is_complex(out))) {
    return Status::bad_param(
        text_of("output: wanted a dtype that goes with ", dtype_name(in), ", got ", dtype_name(out)));
  }
  if (args.handle->contract == MLUOP_EXT_CONTRACT_EXTENDED) return Status::go_on();
  const bool half = complex_of(in) == MLUOP_DTYPE_COMPLEX_HALF;
  const mluOpDataType_t on_chip = args.input.desc->onchip_dtype;
  if (on_chip == (half ? MLUOP_DTYPE_HALF : MLUOP_DTYPE_FLOAT) ||
      on_chip == (half ? MLUOP_DTYPE_INT16 : MLUOP_DTYPE_INT31)) {
    return Status::go_on();
  }
  return Status::bad_param(text_of("input: wanted on-chip dtype ",
                                   half ? "DTYPE_HALF or DTYPE_INT16" : "DTYPE_FLOAT or DTYPE_INT31", ", got ",
                                   dtype_name(on_chip)));
}

/// Ranks and sizes against n.
Status check_fft_sizes(const FftPlanArgs& args) {
  const int dims = rank(*args.input.desc);
  if (dims != args.rank && dims != args.rank + 1) {
    return Status::bad_param(text_of("input: wanted ", args.rank, " or ", args.rank + 1, " dimensions, got ", dims));
  }
  MLUOPS_RETURN_IF_FINISHED(has_rank(args.output, dims));
  if (dims > args.rank)
    MLUOPS_RETURN_IF_FINISHED(has_dim(args.output, 0, size_of(args.input, 0), "the batch of input"));
  const bool from_real = !is_complex(args.input.desc->dtype);
  const std::int64_t last = args.n[args.rank - 1];
  MLUOPS_RETURN_IF_FINISHED(
      has_dim(args.output, dims - 1, from_real ? last / 2 + 1 : last, from_real ? "n / 2 + 1" : "n"));
  if (args.rank == 2) MLUOPS_RETURN_IF_FINISHED(has_dim(args.output, dims - 2, args.n[0], "n[0]"));
  const bool strict = args.handle->contract != MLUOP_EXT_CONTRACT_EXTENDED;
  if (strict && complex_of(args.input.desc->dtype) == MLUOP_DTYPE_COMPLEX_HALF && (last & (last - 1)) != 0) {
    return Status::not_supported(text_of("n: wanted a power of two for HALF, got ", last));
  }
  return check_each({args.input, args.output}, is_countable, args.handle->contract);
}

mluopsFftLayout layout_of(const TensorArg& t, int fft_rank) {
  const mluOpTensorStruct& d = *t.desc;
  const std::size_t last = d.dims.size() - 1;
  mluopsFftLayout made = {1, d.dims[last], 0, 0, d.strides[last]};
  if (fft_rank == 2) made.rows = d.dims[last - 1], made.row = d.strides[last - 1];
  if (static_cast<int>(d.dims.size()) > fft_rank) made.batch = d.strides[0];
  return made;
}

/// Also of dimensions of one number.
Status has_no_stride_below_0(const TensorArg& t) {
  for (const std::int64_t stride : t.desc->strides) {
    if (stride < 0) return Status::bad_param(text_of(t.name, ": wanted strides >= 0, got ", stride));
  }
  return Status::go_on();
}

/// Bytes from the first element to the end of the last one; -1 beyond kMostBytes.
std::int64_t extent(const TensorArg& t) {
  const std::int64_t reach = reach_of(*t.desc);
  return reach >= 0 && reach <= kMostBytes / 16 ? reach * element_bytes(t) : -1;
}

bool signals_are_dense(const mluopsFftLayout& l, std::int64_t batch) {
  return (l.columns == 1 || l.column == 1) && (l.rows == 1 || l.row == l.columns) &&
         (batch == 1 || l.batch == l.rows * l.columns);
}

/// Tells MLUOP_CAPTURE one side as a tensor of real numbers, as a case has it: [batch, rows, columns, parts].
void note_signals(const char* name, const mluopsFftShape& s, bool output, const void* data) {
  const mluopsFftLayout& l = output ? s.out : s.in;
  if (!signals_are_dense(l, s.batch)) return;
  TensorDesc desc;
  desc.dtype = s.dtype == MLUOP_DTYPE_COMPLEX_HALF ? MLUOP_DTYPE_HALF : MLUOP_DTYPE_FLOAT;
  desc.dims = {s.batch, l.rows, l.columns, s.kind == (output ? 2 : 1) ? 1 : 2};
  desc.elements = s.batch * l.rows * l.columns * desc.dims.back();
  note_tensor(name, &desc, data, output);
}

}  // namespace

Status check_fft_plan(const FftPlanArgs& args, mluOpFFTStruct& made) {
  MLUOPS_RETURN_IF_FINISHED(check_pointers(args));
  MLUOPS_RETURN_IF_FINISHED(check_dtypes(args));
  MLUOPS_RETURN_IF_FINISHED(check_fft_sizes(args));
  MLUOPS_RETURN_IF_FINISHED(has_no_stride_below_0(args.input));
  MLUOPS_RETURN_IF_FINISHED(has_no_stride_below_0(args.output));
  made.input_bytes = extent(args.input);
  made.output_bytes = extent(args.output);
  if (made.input_bytes < 0 || made.output_bytes < 0) {
    return Status::not_supported(
        text_of(made.input_bytes < 0 ? "input" : "output", ": wanted strides that reach fewer than 2^60 bytes"));
  }
  if (!elements_apart(*args.output.desc)) {
    return Status::not_supported("output: wanted elements that share no memory");
  }
  const mluOpDataType_t in = args.input.desc->dtype, out = args.output.desc->dtype;
  const bool many = rank(*args.input.desc) > args.rank;
  made.shape = {complex_of(in),
                is_complex(in) ? (is_complex(out) ? 0 : 2) : 1,
                is_complex(out) ? 0 : 1,
                many ? size_of(args.input, 0) : 1,
                args.rank == 2 ? args.n[0] : 1,
                args.n[args.rank - 1],
                layout_of(args.input, args.rank),
                layout_of(args.output, args.rank)};
  made.made = true;
  return Status::go_on();
}

Status check_fft_call(const FftArgs& args) {
  MLUOPS_RETURN_IF_FINISHED(not_null("fft_plan", args.fft_plan));
  const mluOpFFTStruct& plan = *args.fft_plan;
  if (!plan.made) return Status::bad_param("fft_plan: wanted one that mluOpMakeFFTPlanMany has set, got a fresh one");
  MLUOPS_RETURN_IF_FINISHED(is_number("scale_factor", static_cast<double>(args.scale_factor.value)));
  if (plan.shape.kind == 0) MLUOPS_RETURN_IF_FINISHED(in_range("direction", args.direction, 0, 1));
  if (plan.output_bytes == 0) return Status::nothing_to_do();
  MLUOPS_RETURN_IF_FINISHED(not_null("input", args.input));
  MLUOPS_RETURN_IF_FINISHED(not_null("output", args.output));
  const auto in = reinterpret_cast<std::uintptr_t>(args.input), out = reinterpret_cast<std::uintptr_t>(args.output);
  const auto in_end = in + static_cast<std::uintptr_t>(plan.input_bytes),
             out_end = out + static_cast<std::uintptr_t>(plan.output_bytes);
  if (in != out && in < out_end && out < in_end) {
    return Status::bad_param("output: wanted memory of its own, got memory shared with input");
  }
  if (capturing()) {
    note_signals("input", plan.shape, false, args.input);
    note_signals("output", plan.shape, true, args.output);
  }
  return Status::go_on();
}

mluopsFftShape shape_of_call(const FftArgs& args) {
  mluopsFftShape shape = args.fft_plan->shape;
  if (shape.kind == 0) shape.backward = args.direction;
  return shape;
}

std::string case_keys(const mluopsFftProblem& p) {
  CaseKeys keys;
  keys("batch", p.shape.batch)("n0", p.shape.n0)("n1", p.shape.n1)("kind", p.shape.kind);
  keys("backward", p.shape.backward)("rows", p.shape.in.rows)("columns", p.shape.in.columns);
  return keys.scalar("scale", p.scale_factor, MLUOP_DTYPE_FLOAT).text();
}

}  // namespace mluops::op
