// What the kernels of libmluops_torch.so are written in (library.py writes most of them): the arguments of a call of
// the dispatcher with their checks, results in torch's memory orders, and tensors as the C API takes them.
#pragma once

#include <ATen/Context.h>
#include <ATen/Parallel.h>
#include <ATen/core/Tensor.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <mlu_op.h>
#include <mlu_op_ext.h>
#include <torch/library.h>
#ifdef __linux__
#include <sys/mman.h>
#endif
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace mluops_library {

using at::Tensor;
using Sizes = std::initializer_list<int64_t>;

constexpr int64_t kLeast = std::numeric_limits<int32_t>::min(), kMost = std::numeric_limits<int32_t>::max();
constexpr std::optional<at::ScalarType> kT{};  // the floating dtype that all of a call's tensors share

/// Quotient rounded down, as Python has it.
inline int64_t floor_div(int64_t a, int64_t b) {
  TORCH_CHECK_VALUE(b != 0, "mluops: a size is divided by 0");
  if (b == -1) return -a;
  return a / b - (a % b != 0 && (a < 0) != (b < 0));
}

inline void check(mluOpStatus_t status) {
  if (status == MLUOP_STATUS_SUCCESS) return;
  const std::string text = std::string(mluOpGetErrorString(status)) + ": " + mluOpExtGetLastErrorText();
  TORCH_CHECK_VALUE(status != MLUOP_STATUS_BAD_PARAM, text);
  TORCH_CHECK_NOT_IMPLEMENTED(status != MLUOP_STATUS_NOT_SUPPORTED, text);
  TORCH_CHECK(false, text);
}

/// A whole number as the C function wants it: int, int64_t, bool or an enumeration.
struct Int {
  int64_t value;
  template <typename T>
  operator T() const {
    TORCH_CHECK_VALUE(sizeof(T) == 8 || (value >= kLeast && value <= kMost), "mluops: wanted a number of 32 bits, got ",
                      value);
    return static_cast<T>(value);
  }
};

/// The address of a tensor's first element as the C function wants it.
struct Pointer {
  void* address;
  template <typename T>
  operator T*() const {
    return static_cast<T*>(address);
  }
};

/// A descriptor of the C API.
template <typename Descriptor>
class Owned {
 public:
  using Destroy = mluOpStatus_t (*)(Descriptor);
  Owned(mluOpStatus_t (*create)(Descriptor*), Destroy destroy) : destroy_(destroy) { check(create(&descriptor_)); }
  Owned(Owned&& other) noexcept : descriptor_(std::exchange(other.descriptor_, nullptr)), destroy_(other.destroy_) {}
  ~Owned() {
    if (descriptor_ != nullptr) destroy_(descriptor_);
  }
  Descriptor get() const { return descriptor_; }

 private:
  Descriptor descriptor_ = nullptr;
  Destroy destroy_;
};

/// A handle for each thread, with torch's number of threads and determinism.
class Handle {
 public:
  static Handle& of_this_thread() {
    thread_local std::optional<Handle> handle;
    if (!handle || handle->process_ != getpid()) {  // one made before a fork is left alone
      if (handle) handle->handle_ = nullptr;
      handle.emplace();
    }
    handle->follow_torch();
    return *handle;
  }
  Handle() : process_(getpid()) {
    check(mluOpCreate(&handle_));
    check(mluOpExtSetContract(handle_, MLUOP_EXT_CONTRACT_EXTENDED));
    const char* chain = "";
    check(mluOpExtGetBackend(handle_, &chain));
    takes_nchw_ = true;
    for (std::string rest = chain; !rest.empty();) {
      const size_t end = rest.find(',');
      takes_nchw_ = takes_nchw_ && has_nchw(rest.substr(0, end));
      rest = end == std::string::npos ? "" : rest.substr(end + 1);
    }
  }
  Handle(const Handle&) = delete;
  ~Handle() {
    if (handle_ != nullptr) mluOpDestroy(handle_);
  }
  mluOpHandle_t get() const { return handle_; }
  bool takes_nchw() const { return takes_nchw_; }

 private:
  bool has_nchw(const std::string& backend) const {
    char layouts[256] = "";
    return mluOpExtQuery(handle_, backend.c_str(), "layouts", layouts, sizeof layouts, nullptr) ==
               MLUOP_STATUS_SUCCESS &&
           std::string(layouts).find("NCHW") != std::string::npos;
  }
  void follow_torch() {
    const int threads = at::get_num_threads();
    if (threads != threads_) check(mluOpExtSetNumThreads(handle_, threads_ = threads));
    const bool exact = at::globalContext().deterministicAlgorithms();
    check(mluOpSetAtomicsMode(handle_, exact ? MLUOP_ATOMICS_NOT_ALLOWED : MLUOP_ATOMICS_ALLOWED));
  }

  mluOpHandle_t handle_ = nullptr;
  pid_t process_;
  bool takes_nchw_ = false;
  int threads_ = -1;
};

/// The memory order of a call's images: that of the first for which NCHW and channels_last differ and which is dense in
/// one of them; else NCHW.
inline at::MemoryFormat image_format(const std::vector<Tensor>& images) {
  for (const Tensor& image : images) {
    if (!image.defined() || image.dim() != 4) continue;
    const bool nchw = image.is_contiguous();
    if (nchw != image.is_contiguous(at::MemoryFormat::ChannelsLast)) {
      return nchw ? at::MemoryFormat::Contiguous : at::MemoryFormat::ChannelsLast;
    }
  }
  return at::MemoryFormat::Contiguous;
}

/// A large block is new from the kernel each time: huge pages make its page faults several times cheaper.
inline void prefer_huge_pages([[maybe_unused]] const Tensor& tensor) {
#ifdef __linux__
  constexpr size_t large = size_t{32} << 20, page = 4096;
  if (tensor.nbytes() < large) return;
  const auto begin = reinterpret_cast<uintptr_t>(tensor.data_ptr()), first = (begin + page - 1) / page * page;
  madvise(reinterpret_cast<void*>(first), begin + tensor.nbytes() - first, MADV_HUGEPAGE);
#endif
}

/// A tensor as the C API takes it: a descriptor, an address, and the memory behind it. Neither for one that is absent.
class Given {
 public:
  Given() = default;
  Given(Tensor dense, mluOpTensorLayout_t layout) : dense_(std::move(dense)) {
    std::vector<int64_t> sizes(dense_.sizes().begin(), dense_.sizes().end());
    if (layout == MLUOP_LAYOUT_NHWC) sizes = {sizes[0], sizes[2], sizes[3], sizes[1]};
    desc_.emplace(mluOpCreateTensorDescriptor, mluOpDestroyTensorDescriptor);
    check(mluOpSetTensorDescriptor_v2(desc_->get(), layout, code(dense_.scalar_type()), static_cast<int>(sizes.size()),
                                      sizes.data()));
  }
  mluOpTensorDescriptor_t desc() const { return desc_ ? desc_->get() : nullptr; }
  Pointer data() const { return {dense_.defined() ? dense_.data_ptr() : nullptr}; }

 private:
  static mluOpDataType_t code(at::ScalarType type) {
    switch (type) {
      case at::kHalf:
        return MLUOP_DTYPE_HALF;
      case at::kFloat:
        return MLUOP_DTYPE_FLOAT;
      case at::kDouble:
        return MLUOP_DTYPE_DOUBLE;
      case at::kBFloat16:
        return MLUOP_DTYPE_BFLOAT16;
      case at::kInt:
        return MLUOP_DTYPE_INT32;
      case at::kLong:
        return MLUOP_DTYPE_INT64;
      case at::kBool:
        return MLUOP_DTYPE_BOOL;
      default:
        TORCH_CHECK_TYPE(false, "mluops: no operator takes tensors of ", type);
    }
  }
  Tensor dense_;
  std::optional<Owned<mluOpTensorDescriptor_t>> desc_;
};

/// One call of an operator.
class Call {
 public:
  Call(const c10::FunctionSchema& schema, torch::jit::Stack& stack)
      : name_(schema.name()), stack_(stack), count_(schema.arguments().size()) {}

  // ---- the arguments, in the order of the schema

  /// A tensor of so many dimensions; not defined where an optional one is None. dims < 0: of any number.
  Tensor tensor(const char* argument, int64_t dims, std::optional<at::ScalarType> dtype = kT) {
    Tensor given = any_tensor(argument);
    if (!given.defined()) return given;
    TORCH_CHECK_VALUE(dims < 0 || given.dim() == dims, name_, ": ", argument, ": wanted ", dims, " dimensions, got ",
                      given.sizes());
    if (dtype) {
      TORCH_CHECK_TYPE(given.scalar_type() == *dtype, name_, ": ", argument, ": wanted ", *dtype, ", got ",
                       given.scalar_type());
      return given;
    }
    TORCH_CHECK_TYPE(given.is_floating_point(), name_, ": ", argument,
                     ": wanted float16, bfloat16, float32 or float64, got ", given.scalar_type());
    TORCH_CHECK_VALUE(dtype_.value_or(given.scalar_type()) == given.scalar_type(), name_, ": ", argument,
                      ": wanted tensors of one dtype, got ", *dtype_, " and ", given.scalar_type());
    dtype_ = given.scalar_type();
    return given;
  }
  Tensor any_tensor(const char* argument) {
    const c10::IValue& value = next();
    if (value.isNone()) return {};
    Tensor given = value.toTensor();
    TORCH_CHECK_NOT_IMPLEMENTED(given.is_cpu(), name_, ": ", argument,
                                ": libmluops_torch.so takes tensors of the CPU, got ", given.device(),
                                ". In Python, import mluops.torch serves others");
    some_empty_ = some_empty_ || given.numel() == 0;
    return given;
  }
  int64_t integer(const char* argument, int64_t least = kLeast, int64_t most = kMost) {
    const int64_t value = next().toInt();
    TORCH_CHECK_VALUE(value >= least && value <= most, name_, ": ", argument, ": wanted ", least, " to ", most,
                      ", got ", value);
    return value;
  }
  double number(const char* argument, double least = -std::numeric_limits<double>::infinity()) {
    const double value = next().toDouble();
    TORCH_CHECK_VALUE(!(value < least), name_, ": ", argument, ": wanted at least ", least, ", got ", value);
    return value;
  }
  bool flag() { return next().toBool(); }
  std::string text() { return next().toStringRef(); }
  void expect(const char* argument, const Tensor& tensor, Sizes wanted) const {
    TORCH_CHECK_VALUE(!tensor.defined() || tensor.sizes() == at::IntArrayRef(wanted), name_, ": ", argument,
                      ": wanted ", at::IntArrayRef(wanted), ", got ", tensor.sizes());
  }
  template <typename... Words>
  void demand(bool holds, const char* argument, const Words&... wanted) const {
    TORCH_CHECK_VALUE(holds, name_, ": ", argument, ": wanted ", wanted...);
  }
  const std::string& name() const { return name_; }
  at::ScalarType dtype() const { return dtype_.value(); }

  // ---- the results

  Tensor result(Sizes sizes, at::ScalarType dtype, at::MemoryFormat format = at::MemoryFormat::Contiguous) {
    for (const int64_t size : sizes) {
      TORCH_CHECK_VALUE(size >= 0, name_, ": the sizes of a result would be ", at::IntArrayRef(sizes));
    }
    if (sizes.size() != 4) format = at::MemoryFormat::Contiguous;
    Tensor made = at::empty(sizes, at::TensorOptions(dtype), format);
    prefer_huge_pages(made);
    return made;
  }
  /// Whether there is nothing to compute: an input is empty, or each result. The results are filled with zeros then.
  bool nothing(const std::vector<Tensor>& results, bool otherwise = false) const {
    bool nothing = some_empty_ || otherwise;
    if (!nothing) {
      nothing = true;
      for (const Tensor& result : results) nothing = nothing && result.numel() == 0;
    }
    if (nothing) {
      for (const Tensor& result : results) result.zero_();
    }
    return nothing;
  }
  void finish(std::vector<Tensor> results) { results_ = std::move(results); }
  void push_results() {
    torch::jit::drop(stack_, count_);
    for (Tensor& result : results_) stack_.emplace_back(std::move(result));
  }

  // ---- the call of C

  mluOpHandle_t handle() const { return handle_.get(); }
  /// The images of the call in C's order, results last: the last whose bytes tell the memory order decides.
  void images(std::vector<Tensor> images) {
    std::reverse(images.begin(), images.end());
    format_ = handle_.takes_nchw() ? image_format(images) : at::MemoryFormat::ChannelsLast;
  }
  Given image(const Tensor& tensor) const {
    if (!tensor.defined()) return {};
    return {tensor.contiguous(format_),
            format_ == at::MemoryFormat::Contiguous ? MLUOP_LAYOUT_NCHW : MLUOP_LAYOUT_NHWC};
  }
  Given array(const Tensor& tensor, mluOpTensorLayout_t layout = MLUOP_LAYOUT_ARRAY) const {
    if (!tensor.defined()) return {};
    return {tensor.contiguous(), layout};
  }
  /// A result among the images. It is computed beside and moved where it lies in another order.
  Given image_result(const Tensor& result) {
    if (!result.defined() || result.is_contiguous(format_)) return image(result);
    moved_.emplace_back(result, at::empty_like(result, result.options(), format_));
    return image(moved_.back().second);
  }
  /// The floats of a call on float64, which computes with them and not with what C rounds them to.
  void exactly(std::initializer_list<double> numbers) const {
    bool rounded = false;
    for (const double number : numbers) rounded = rounded || static_cast<double>(static_cast<float>(number)) != number;
    if (dtype_ != at::kDouble || !rounded) return;
    check(mluOpExtSetScalars(handle(), numbers.begin(), static_cast<int>(numbers.size())));
  }
  void done(mluOpStatus_t status) {
    check(status);
    for (const auto& [result, made] : moved_) result.copy_(made);
  }

 private:
  const c10::IValue& next() { return torch::jit::peek(stack_, place_++, count_); }

  std::string name_;
  torch::jit::Stack& stack_;
  size_t count_, place_ = 0;
  std::optional<at::ScalarType> dtype_;
  bool some_empty_ = false;
  std::vector<Tensor> results_;
  Handle& handle_ = Handle::of_this_thread();
  at::MemoryFormat format_ = at::MemoryFormat::Contiguous;
  std::vector<std::pair<Tensor, Tensor>> moved_;
};

/// A number that depends on the dtype.
inline double by_dtype(at::ScalarType dtype, double half, double bfloat16, double single, double whole) {
  return dtype == at::kHalf ? half : dtype == at::kBFloat16 ? bfloat16 : dtype == at::kFloat ? single : whole;
}

using Kernel = void (*)(Call&);

struct Operator {
  const char* schema;
  Kernel kernel;
};

inline void not_served(Call& call) {
  TORCH_CHECK_NOT_IMPLEMENTED(
      false, call.name(), ": libmluops_torch.so does not have this operator. In Python, import mluops.torch has it");
}

class Boxed : public c10::OperatorKernel {
 public:
  explicit Boxed(Kernel kernel) : kernel_(kernel) {}
  void operator()(const c10::OperatorHandle& op, c10::DispatchKeySet, torch::jit::Stack* stack) {
    Call call(op.schema(), *stack);
    kernel_(call);
    call.push_results();
  }

 private:
  Kernel kernel_;
};

/// Registers what torch does not know yet: where mluops.torch has been imported, all is known. Its kernels, for the key
/// of the CPU, take the place of these when it is imported later.
template <size_t count>
void define(torch::Library& library, const Operator (&operators)[count]) {
  const std::vector<at::Tag> tags{at::Tag::pt2_compliant_tag, at::Tag::needs_fixed_stride_order};
  for (const Operator& each : operators) {
    const std::string schema = each.schema, name = schema.substr(0, schema.find('('));
    if (c10::Dispatcher::singleton().findSchema({"mluops::" + name, ""})) continue;
    library.def(each.schema, tags);
    library.impl(name.c_str(),
                 torch::dispatch(c10::DispatchKey::CompositeExplicitAutograd,
                                 torch::CppFunction::makeFromBoxedFunctor(std::make_unique<Boxed>(each.kernel))));
  }
}

}  // namespace mluops_library
