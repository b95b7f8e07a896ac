#include "test/validation/op_call.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <utility>

#include "test/cases/base/contract.h"
#include "test/cases/base/in_out.h"
#include "test/cases/base/strides.h"

namespace mluops::test {
namespace {

constexpr std::uint8_t kPattern = 0xa5;
constexpr std::int64_t kMostBytes = 1 << 20;  // larger shapes are only described, never allocated

std::int64_t bytes_of(const Arg& a) {
  std::size_t element = 0;
  (void)mluOpGetSizeOfDataType(a.dtype, &element);
  std::int64_t bytes = static_cast<std::int64_t>(element);
  for (const std::int64_t d : a.dims) {
    if (__builtin_mul_overflow(bytes, d, &bytes) || bytes > kMostBytes) return kMostBytes;
  }
  return std::max<std::int64_t>(bytes, 1);
}

mluOpTensorDescriptor_t make_desc(const Arg& a) {
  mluOpTensorDescriptor_t desc = nullptr;
  EXPECT_EQ(mluOpCreateTensorDescriptor(&desc), MLUOP_STATUS_SUCCESS);
  const int rank = static_cast<int>(a.dims.size());
  const mluOpStatus_t set =
      a.strides.empty() ? mluOpSetTensorDescriptor_v2(desc, a.layout, a.dtype, rank, a.dims.data())
                        : mluOpSetTensorDescriptorEx_v2(desc, a.layout, a.dtype, rank, a.dims.data(), a.strides.data());
  EXPECT_EQ(set, MLUOP_STATUS_SUCCESS) << mluOpExtGetLastErrorText();
  return desc;
}

Dims dense_strides(const Dims& dims) {
  Dims strides(dims.size(), 1);
  for (std::size_t i = dims.size(); i-- > 1;) strides[i - 1] = strides[i] * dims[i];
  return strides;
}

/// An output may be an input of its type: the same memory, element for element.
bool works_in_place(const OpCall& call) {
  const std::vector<OperatorCases>& all = cases::all_operators();
  const auto op =
      std::find_if(all.begin(), all.end(), [&](const auto& each) { return each.function == call.function; });
  return op != all.end() && (op->family == "elementwise" || op->family == "fft");
}

void add_aliases(const OpCall& base, std::vector<Wrong>& table) {
  const bool in_place = works_in_place(base);
  for (const Arg& out : base.args) {
    if (!out.output) continue;
    for (const Arg& other : base.args) {
      if (other.name == out.name || cases::is_initial(other.name)) continue;
      const std::string o = out.name, s = other.name;
      for (const std::int64_t shift : {0, 4}) {
        if (shift >= bytes_of(other)) continue;  // behind it
        if (in_place && shift == 0 && other.dtype == out.dtype) continue;
        table.push_back({o + " shares memory with " + s + " at byte " + std::to_string(shift),
                         [o, s, shift](OpCall& c) {
                           c.arg(o).shares = s;
                           c.arg(o).shift = shift;
                         },
                         MLUOP_STATUS_BAD_PARAM, "memory shared with"});
      }
    }
  }
}

void expect_status(const std::optional<mluOpStatus_t>& wanted, mluOpStatus_t status) {
  const std::string got = std::string(mluOpGetErrorString(status)) + " " + mluOpExtGetLastErrorText();
  if (wanted) {
    EXPECT_STREQ(mluOpGetErrorString(status), mluOpGetErrorString(*wanted)) << got;
  } else {
    EXPECT_TRUE(status == MLUOP_STATUS_BAD_PARAM || status == MLUOP_STATUS_NOT_SUPPORTED) << got;
  }
}

std::vector<std::uint8_t> filled(const TensorSpec& t) {
  std::vector<std::uint8_t> bytes(static_cast<std::size_t>(t.is_output() ? 0 : t.bytes()));
  if (!t.is_output()) write(t.fill, t.dtype, t.elements(), bytes.data());
  return bytes;
}

}  // namespace

void add_gaps(Arg& a) {
  a.strides = dense_strides(a.dims);
  for (std::int64_t& s : a.strides) s *= 2;
}

OpCall::OpCall(const Case& valid, mluOpDataType_t dtype)
    : function(find_operator(valid.op()).function), text_(with_defaults(valid)), dtype_(dtype) {
  const Description d = describe(valid, dtype);
  for (const TensorSpec& t : d.tensors) {
    args.push_back({.name = t.name, .output = t.is_output(), .layout = t.layout, .dtype = t.dtype, .dims = t.dims});
    args.back().pointer_only = t.pointer_only;
    args.back().data = filled(t);
  }
  call = d.call;
}

Arg& OpCall::arg(const std::string& name) {
  const auto found = std::find_if(args.begin(), args.end(), [&](const Arg& a) { return a.name == name; });
  if (found == args.end()) throw std::out_of_range("no argument " + name);
  return *found;
}

OpCall& OpCall::set(const std::string& parameter, double value) {
  text_.set(parameter, value);
  call = find_operator(text_.op()).describe(text_, dtype_).call;
  return *this;
}

void OpCall::allocate() {
  for (Arg& a : args) {
    const std::size_t bytes = std::max(static_cast<std::size_t>(bytes_of(a)), a.data.size());
    a.memory.assign(bytes + 64, a.output ? kPattern : 0);
    std::copy(a.data.begin(), a.data.end(), a.memory.begin());
  }
}

Argument OpCall::argument(Arg& a) {
  const mluOpTensorDescriptor_t desc = a.no_desc ? nullptr : make_desc(a);
  if (a.no_data) return {desc, nullptr};
  return {desc, a.shares.empty() ? a.memory.data() : arg(a.shares).memory.data() + a.shift};
}

mluOpStatus_t OpCall::make() {
  allocate();
  mluOpHandle_t handle = nullptr;
  EXPECT_EQ(mluOpCreate(&handle), MLUOP_STATUS_SUCCESS) << mluOpExtGetLastErrorText();
  EXPECT_EQ(mluOpExtSetContract(handle, contract), MLUOP_STATUS_SUCCESS);
  Arguments arguments;
  for (Arg& a : args) arguments.push_back(argument(a));
  cases::missing_workspace = missing_workspace;
  const mluOpStatus_t status = call(no_handle ? nullptr : handle, arguments);
  cases::missing_workspace = 0;
  for (const Argument& a : arguments) {
    if (a.desc == nullptr) continue;
    EXPECT_EQ(mluOpDestroyTensorDescriptor(a.desc), MLUOP_STATUS_SUCCESS);
  }
  EXPECT_EQ(mluOpDestroy(handle), MLUOP_STATUS_SUCCESS);
  return status;
}

bool OpCall::outputs_touched() const {
  return std::any_of(args.begin(), args.end(), [](const Arg& a) {
    return a.output && std::any_of(a.memory.begin(), a.memory.end(), [](std::uint8_t b) { return b != kPattern; });
  });
}

void expect_answer(OpCall call, const Wrong& wrong) {
  SCOPED_TRACE(call.function + ", " + wrong.what);
  wrong.change(call);
  expect_status(wrong.status, call.make());
  const bool succeeds = wrong.status == MLUOP_STATUS_SUCCESS;
  EXPECT_EQ(call.outputs_touched(), succeeds && wrong.text == "written");
  if (succeeds) return;
  const std::string text = mluOpExtGetLastErrorText();
  EXPECT_NE(text.find(wrong.text), std::string::npos) << text << "\nwanted a part: " << wrong.text;
  EXPECT_EQ(text.rfind(call.function + ": ", 0), 0u) << text;
}

void expect_bad_param(OpCall base, std::function<mluOpStatus_t(mluOpHandle_t, const Arguments&)> call,
                      const std::string& text) {
  expect_answer(std::move(base), {text, [&](OpCall& c) { c.call = std::move(call); }, MLUOP_STATUS_BAD_PARAM, text});
}

std::vector<Wrong> refused_by_all(const OpCall& base) {
  std::vector<Wrong> table = {
      {"no handle", [](OpCall& c) { c.no_handle = true; }, MLUOP_STATUS_BAD_PARAM, "handle: wanted a pointer"}};
  for (const Arg& a : base.args) {
    if (cases::is_initial(a.name)) continue;
    const auto add = [&](const char* what, std::optional<mluOpStatus_t> status, std::function<void(Arg&)> change) {
      table.push_back({a.name + ": " + what, [n = a.name, change](OpCall& c) { change(c.arg(n)); }, status, a.name});
    };
    add("no data", MLUOP_STATUS_BAD_PARAM, [](Arg& x) { x.no_data = true; });
    if (a.pointer_only) continue;
    add("no descriptor", MLUOP_STATUS_BAD_PARAM, [](Arg& x) { x.no_desc = true; });
    add("one dimension more", std::nullopt, [](Arg& x) { x.dims.push_back(1); });
    if (a.dims.size() > 1) {  // a descriptor of no dimension at all cannot be made
      add("one dimension less", MLUOP_STATUS_BAD_PARAM, [](Arg& x) { x.dims.pop_back(); });
    }
    add("dtype int8", MLUOP_STATUS_BAD_PARAM, [](Arg& x) { x.dtype = MLUOP_DTYPE_INT8; });
    const bool one = std::all_of(a.dims.begin(), a.dims.end(), [](std::int64_t size) { return size == 1; });
    // One element alone is dense, whatever its strides.
    if (!one && !cases::takes_strides(base.function)) add("strided", std::nullopt, add_gaps);
  }
  add_aliases(base, table);
  return table;
}

void check_table(const OpCall& base, const std::vector<Wrong>& table) {
  OpCall good = base;
  ASSERT_EQ(good.make(), MLUOP_STATUS_SUCCESS) << base.function << ": " << mluOpExtGetLastErrorText();
  EXPECT_TRUE(good.outputs_touched()) << "the base call wrote nothing";
  for (const Wrong& wrong : table) expect_answer(base, wrong);
}

}  // namespace mluops::test
