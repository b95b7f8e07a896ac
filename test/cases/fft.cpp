#include "test/reference/fft.h"

#include <cmath>

#include "test/cases/operator.h"

namespace mluops::cases {
namespace {

const std::vector<Parameter> kParameters = {{"batch", "8", "signals"},
                                            {"n0", "1", "rows; 1: one dimension"},
                                            {"n1", "1024", "numbers of a row"},
                                            {"kind", "0", "0 complex to complex, 1 from real, 2 to real"},
                                            {"backward", "0", "0 or 1, of kind 0"},
                                            {"rows", "0", "rows of the input; 0: n0"},
                                            {"columns", "0", "numbers of an input row; 0: as many as are needed"},
                                            {"scale", "1", "factor of the result"}};

/// The vendor's descriptors and plan of a case, made with the handle of its first call.
class Plan {
 public:
  Plan(const mluopsFftShape& shape, const std::vector<std::int64_t>& in, const std::vector<std::int64_t>& out) {
    const mluOpDataType_t real = shape.dtype == MLUOP_DTYPE_COMPLEX_HALF ? MLUOP_DTYPE_HALF : MLUOP_DTYPE_FLOAT;
    describe(in_, shape.kind == 1 ? real : shape.dtype, in);
    describe(out_, shape.kind == 2 ? real : shape.dtype, out);
    mluOpSetTensorDescriptorOnchipDataType(in_, real);
    mluOpCreateFFTPlan(&plan_);
    n_[0] = static_cast<int>(in.size() == 3 ? shape.n0 : shape.n1);
    n_[1] = static_cast<int>(shape.n1);
    rank_ = in.size() == 3 ? 2 : 1;
  }
  Plan(const Plan&) = delete;
  Plan& operator=(const Plan&) = delete;
  ~Plan() {
    mluOpDestroyTensorDescriptor(in_);
    mluOpDestroyTensorDescriptor(out_);
    mluOpDestroyFFTPlan(plan_);
  }

  mluOpStatus_t run(mluOpHandle_t handle, const void* input, float scale, void* output, int direction) {
    if (handle != nullptr && !made_) {
      std::size_t reserve = 1, workspace = 1;
      const mluOpStatus_t status = mluOpMakeFFTPlanMany(handle, plan_, in_, out_, rank_, n_, &reserve, &workspace);
      if (status != MLUOP_STATUS_SUCCESS) return status;
      made_ = true;
    }
    return mluOpExecFFT(handle, plan_, input, scale, nullptr, output, direction);
  }

 private:
  static void describe(mluOpTensorDescriptor_t& desc, mluOpDataType_t dtype, const std::vector<std::int64_t>& dims) {
    mluOpCreateTensorDescriptor(&desc);
    mluOpSetTensorDescriptor_v2(desc, MLUOP_LAYOUT_ARRAY, dtype, static_cast<int>(dims.size()), dims.data());
  }

  mluOpTensorDescriptor_t in_ = nullptr, out_ = nullptr;
  mluOpFFTPlan_t plan_ = nullptr;
  int n_[2] = {}, rank_ = 1;
  bool made_ = false;
};

mluopsFftShape shape_of(const Case& t, mluOpDataType_t dtype) {
  const std::int64_t n0 = t.size("n0"), n1 = t.size("n1"), half = n1 / 2 + 1;
  const int kind = t.integer("kind");
  mluopsFftShape s = {};
  s.dtype = dtype == MLUOP_DTYPE_HALF    ? MLUOP_DTYPE_COMPLEX_HALF
            : dtype == MLUOP_DTYPE_FLOAT ? MLUOP_DTYPE_COMPLEX_FLOAT
                                         : dtype;  // refused
  s.kind = kind;
  s.backward = kind == 0 ? t.integer("backward") : kind - 1;
  s.batch = t.size("batch"), s.n0 = n0, s.n1 = n1;
  s.in.rows = t.integer("rows") != 0 ? t.integer("rows") : n0;
  s.in.columns = t.integer("columns") != 0 ? t.integer("columns") : kind == 2 ? half : n1;
  s.out.rows = n0, s.out.columns = kind == 1 ? half : n1;
  return s;
}

/// [batch, columns] or [batch, rows, columns]; and with the two parts of complex numbers.
std::vector<std::int64_t> dims_of(const mluopsFftShape& s, const mluopsFftLayout& layout, bool parts) {
  std::vector<std::int64_t> dims = {s.batch};
  if (s.n0 > 1 || s.in.rows > 1) dims.push_back(layout.rows);
  dims.push_back(layout.columns);
  if (parts) dims.push_back(2);
  return dims;
}

Description describe_fft(const Case& text, mluOpDataType_t dtype) {
  const mluopsFftShape s = shape_of(text, dtype);
  const auto numbers = static_cast<double>(s.n0 * s.n1);
  const double exact = scalar_of(text, "scale", dtype);
  const auto scale = static_cast<float>(exact);
  Description d;
  d.tensors = {{.name = "input",
                .dtype = dtype,
                .dims = dims_of(s, s.in, s.kind != 1),
                .fill = admissible(text, uniform(-1, 1, text.seed("input"))),
                .pointer_only = true},
               {.name = "output",
                .dtype = dtype,
                .dims = dims_of(s, s.out, s.kind != 2),
                .term_size = std::sqrt(numbers),
                .pointer_only = true}};
  d.scalars = {exact};
  d.flops = 5 * static_cast<double>(s.batch) * numbers * std::log2(numbers + 1);
  const auto plan = std::make_shared<Plan>(s, dims_of(s, s.in, false), dims_of(s, s.out, false));
  d.call = [plan, scale, direction = s.backward](mluOpHandle_t handle, const Arguments& t) {
    return plan->run(handle, t[0].data, scale, t[1].data, direction);
  };
  d.reference = [s, exact](const Inputs& in, Coordinates) {
    return std::vector<Values>{reference::fft({s, in[0], nullptr, exact})};
  };
  return d;
}

const std::vector<std::string> kKinds = {"0", "1", "2"};

Cases smallest() {
  return list({"batch=1 n1=1", "batch=2 n1=4 n0=8"});
}

Cases document() {
  return each(list({"batch=16 n1=1024", "batch=3 n0=32 n1=64", "batch=1 n1=65536"}), "kind", kKinds);
}

/// Of any length: FLOAT alone, or the EXTENDED contract.
Cases edge() {
  Cases all = each(list({"batch=2 n1=2", "batch=2 n1=1", "batch=1 n0=2 n1=2", "batch=5 n1=256 scale=0.00390625",
                         "batch=3 n0=16 n1=1", "batch=2 n0=8 n1=32 rows=5", "batch=2 n0=8 n1=32 rows=11 columns=9",
                         "batch=2 n1=64 columns=40", "batch=2 n1=16 columns=50"}),
                   "kind", kKinds);
  for (const Case& more : each(list({"batch=2 n1=3 contract=extended", "batch=2 n1=15 contract=extended",
                                     "batch=2 n1=1001 contract=extended", "batch=2 n1=17 contract=extended",
                                     "batch=1 n1=1009 contract=extended", "batch=2 n0=19 n1=30 contract=extended",
                                     "batch=2 n0=12 n1=34 contract=extended", "batch=1 n1=8191 contract=extended",
                                     "batch=2 n1=385 contract=extended", "batch=3 n1=26 contract=extended"}),
                               "kind", kKinds)) {
    all.push_back(more);
  }
  for (const Case& back : list({"batch=3 n1=128 backward=1", "batch=2 n0=4 n1=8 backward=1",
                                "batch=2 n1=37 backward=1 contract=extended"})) {
    all.push_back(back);
  }
  return all;
}

Case random_case(Random& random, double effort) {
  const std::int64_t powers[] = {1, 2, 4, 8, 16, 32, 64, 128, 256};
  Case c;
  c.set("batch", random.integer(1, 6)).set("n1", powers[random.integer(0, effort < 1 ? 6 : 8)]);
  c.set("n0", random.chance(0.5) ? 1 : powers[random.integer(0, 5)]).set("kind", random.integer(0, 2));
  return c.set("backward", random.integer(0, 1));
}

Cases large() {
  return list({"batch=300 n1=2048", "batch=4 n0=256 n1=512 kind=1", "batch=100 n1=1021 contract=extended dtype=float"});
}

Cases network() {
  return list({"batch=64 n1=1024", "batch=1024 n1=256", "batch=16 n1=16384", "batch=1 n1=1048576",
               "batch=8 n0=256 n1=256", "batch=16 n1=16384 kind=1", "batch=16 n1=16384 kind=2",
               "batch=16 n1=16381 dtype=float"});
}

std::vector<Growth> growth() {
  const Case base = list({"batch=8 n1=1024"})[0];
  return {growth_of(base, "batch"), growth_of(base, "n1")};
}

}  // namespace

std::vector<OperatorCases> fft_operators() {
  return {{.op = "fft",
           .function = "mluOpExecFFT",
           .parameters = kParameters,
           .describe = describe_fft,
           .smallest = smallest,
           .document = document,
           .edge = edge,
           .random = random_case,
           .large = large,
           .network = network,
           .dtypes = {{MLUOP_DTYPE_HALF, MLUOP_DTYPE_FLOAT}, {}},
           .reducible = {"batch", "n1"},
           .growth = growth}};
}

}  // namespace mluops::cases
