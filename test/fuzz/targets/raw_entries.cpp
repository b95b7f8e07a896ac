#include "test/fuzz/targets/raw_entries.h"

#include <array>
#include <cmath>
#include <cstring>
#include <iterator>
#include <limits>
#include <tuple>
#include <type_traits>

#include "mlu_op_ext.h"

namespace mluops::test {
namespace {

/// The operators' own descriptors, made once and set anew for each call.
struct Forms {
  mluOpCarafeDescriptor_t carafe = nullptr;
  mluOpNmsDescriptor_t nms = nullptr;
  mluOpRoiAlignForwardDescriptor_t roi_align = nullptr;
  mluOpDCNDescriptor_t dcn = nullptr;
  mluOpSparseConvolutionDescriptor_t sparse = nullptr;
  mluOpAdamWDescriptor_t adam_w = nullptr;
  mluOpFFTPlan_t fft = nullptr;

  Forms() {
    mluOpCreateCarafeDescriptor(&carafe);
    mluOpCreateNmsDescriptor(&nms);
    mluOpCreateRoiAlignForwardDescriptor(&roi_align);
    mluOpCreateDCNDescriptor(&dcn);
    mluOpCreateSparseConvolutionDescriptor(&sparse);
    mluOpCreateAdamWDescriptor(&adam_w);
    mluOpCreateFFTPlan(&fft);
  }
};

/// Arguments by their types, from the bytes.
class Source {
 public:
  Source(PreparedCall& call, mluOpHandle_t handle, Choices& choices) : call_(call), handle_(handle), choices_(choices) {
    static std::array<std::int64_t, 8192> kept;
    scratch_ = kept.data();
    for (std::size_t i = 0; i < 8; ++i) kept[i] = 0;
    for (std::int64_t i = choices_.integer(0, 3); i > 0; --i)
      kept[static_cast<std::size_t>(choices_.integer(0, 7))] = integer();
  }

  template <class T>
  T next() {
    using Value = std::remove_cv_t<T>;
    if constexpr (std::is_same_v<Value, mluOpHandle_t>) {
      return choices_.chance(0.02) ? nullptr : handle_;
    } else if constexpr (std::is_same_v<Value, mluOpTensorDescriptor_t>) {
      return tensor();
    } else if constexpr (std::is_same_v<Value, mluOpCarafeDescriptor_t>) {
      return form(forms().carafe, [&] { mluOpSetCarafeDescriptor(forms().carafe, 4, number(), number(), number()); });
    } else if constexpr (std::is_same_v<Value, mluOpNmsDescriptor_t>) {
      return form(forms().nms, [&] { set_nms(); });
    } else if constexpr (std::is_same_v<Value, mluOpRoiAlignForwardDescriptor_t>) {
      return form(forms().roi_align, [&] {
        mluOpSetRoiAlignForwardDescriptor_v2(forms().roi_align, number(), number(), number(), next<float>(),
                                             static_cast<int>(choices_.integer(0, 1)), choices_.chance(0.5));
      });
    } else if constexpr (std::is_same_v<Value, mluOpDCNDescriptor_t>) {
      return form(forms().dcn, [&] { set_dcn(); });
    } else if constexpr (std::is_same_v<Value, mluOpSparseConvolutionDescriptor_t>) {
      return form(forms().sparse, [&] { set_sparse(); });
    } else if constexpr (std::is_same_v<Value, mluOpAdamWDescriptor_t>) {
      return form(forms().adam_w, [&] { set_adam_w(); });
    } else if constexpr (std::is_same_v<Value, mluOpFFTPlan_t>) {
      return form(forms().fft, [&] { set_fft(); });
    } else if constexpr (std::is_pointer_v<Value>) {
      // Sizes and counts of the host stand by themselves, behind whatever they stand.
      using Pointed = std::remove_cv_t<std::remove_pointer_t<Value>>;
      constexpr bool of_host = std::is_same_v<Pointed, std::size_t> || std::is_same_v<Pointed, std::int64_t>;
      return static_cast<Value>(pointer(behind_descriptor_ && !of_host));
    } else if constexpr (std::is_same_v<Value, bool>) {
      return choices_.chance(0.5);
    } else if constexpr (std::is_enum_v<Value>) {
      return static_cast<Value>(choices_.integer(0, 3));
    } else if constexpr (std::is_floating_point_v<Value>) {
      return static_cast<Value>(real());
    } else {
      return static_cast<Value>(integer());
    }
  }

 private:
  static Forms& forms() {
    static Forms made;
    return made;
  }

  template <class Desc, class Set>
  Desc form(Desc desc, Set&& set) {
    if (choices_.chance(0.9)) set();
    return choices_.chance(0.02) ? nullptr : desc;
  }

  mluOpTensorDescriptor_t tensor() {
    follows_ = place_ < call_.tensors.size() && !choices_.chance(0.03) ? &call_.tensors[place_++] : nullptr;
    behind_descriptor_ = true;
    return follows_ != nullptr ? follows_->desc() : nullptr;
  }

  /// A descriptor's data, or a place with as many bytes as any small tensor has.
  void* pointer(bool of_tensor) {
    behind_descriptor_ = false;
    if (of_tensor) return follows_ != nullptr ? follows_->data : nullptr;
    return choices_.chance(0.05) ? nullptr : scratch_;
  }

  /// A size of some tensor, a small number, or one no call should have.
  std::int64_t integer() {
    const std::int64_t odd[] = {-1,
                                std::numeric_limits<std::int32_t>::max(),
                                std::numeric_limits<std::int32_t>::min(),
                                std::numeric_limits<std::int64_t>::max(),
                                std::numeric_limits<std::int64_t>::min(),
                                std::int64_t{1} << 32,
                                1 << 16,
                                1 << 24};
    const std::int64_t kind = choices_.integer(0, 15);
    if (kind == 0) return choices_.pick(odd);
    if (kind < 8) return choices_.integer(0, 8);
    const std::vector<std::int64_t>& dims =
        call_.tensors[static_cast<std::size_t>(choices_.integer(0, std::ssize(call_.tensors) - 1))].dims;
    return dims.empty() ? 1 : choices_.pick(dims);
  }
  int number() { return static_cast<int>(integer()); }

  double real() {
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    const double odd[] = {kInfinity, -kInfinity, NAN, 0, -1, 1e-40, 3e38, -1e30, 0.5, 0.0625, 1, 0.3, 2, 16, 1000, 1e9};
    if (choices_.chance(0.9)) return choices_.pick(odd);
    const auto bits = static_cast<std::uint32_t>(choices_.bits(4));
    float any;
    std::memcpy(&any, &bits, sizeof any);
    return static_cast<double>(any);
  }

  void set_nms() {
    mluOpSetNmsDescriptor(forms().nms, static_cast<mluOpNmsBoxPointMode_t>(choices_.integer(0, 1)),
                          static_cast<mluOpNmsOutputMode_t>(choices_.integer(0, 3)),
                          static_cast<mluOpNmsAlgo_t>(choices_.integer(0, 1)),
                          static_cast<mluOpNmsMethodMode_t>(choices_.integer(0, 2)), next<float>(), next<float>(),
                          number(), next<float>(), next<float>(), number(), choices_.chance(0.5));
  }
  void set_dcn() {
    const int pad[4] = {number(), number(), number(), number()}, stride[2] = {number(), number()},
              dilation[2] = {number(), number()};
    mluOpSetDCNDescriptor(forms().dcn, 4, pad, stride, dilation, number(), number(), number(), MLUOP_DTYPE_FLOAT);
  }
  void set_adam_w() {
    const bool remove_nan = choices_.chance(0.5);
    const float decay = next<float>();
    mluOpSetAdamWDescAttr(forms().adam_w, MLUOP_ADAMW_NEED_REMOVE_NAN, &remove_nan, sizeof remove_nan);
    mluOpSetAdamWDescAttr(forms().adam_w, MLUOP_ADAMW_WEIGHT_DECAY, &decay, sizeof decay);
  }
  /// A plan whose signals fit in the place that pointers without a descriptor have.
  void set_fft() {
    const int n[2] = {static_cast<int>(choices_.integer(1, 16)), static_cast<int>(choices_.integer(1, 16))};
    const int dims[3] = {static_cast<int>(choices_.integer(0, 4)), n[0], n[1]};
    mluOpTensorDescriptor_t desc = nullptr;
    mluOpCreateTensorDescriptor(&desc);
    mluOpSetTensorDescriptor(desc, MLUOP_LAYOUT_ARRAY, MLUOP_DTYPE_COMPLEX_FLOAT, 3, dims);
    mluOpSetTensorDescriptorOnchipDataType(desc, MLUOP_DTYPE_FLOAT);
    std::size_t reserve = 0, workspace = 0;
    mluOpMakeFFTPlanMany(handle_, forms().fft, desc, desc, 2, n, &reserve, &workspace);
    mluOpDestroyTensorDescriptor(desc);
  }
  void set_sparse() {
    std::array<std::array<int, 4>, 6> sizes;
    for (auto& axis : sizes) {
      for (int& size : axis) size = choices_.chance(0.7) ? static_cast<int>(choices_.integer(1, 4)) : number();
    }
    mluOpSetSparseConvolutionDescriptor(
        forms().sparse, static_cast<int>(choices_.integer(4, 6)), number(), sizes[0].data(), sizes[1].data(),
        sizes[2].data(), sizes[3].data(), sizes[4].data(), sizes[5].data(), static_cast<int>(choices_.integer(0, 1)),
        static_cast<int>(choices_.integer(0, 1)), static_cast<int>(choices_.integer(0, 1)));
  }

  PreparedCall& call_;
  mluOpHandle_t handle_;
  Choices& choices_;
  std::int64_t* scratch_;
  std::size_t place_ = 0;
  const PreparedTensor* follows_ = nullptr;
  bool behind_descriptor_ = false;
};

template <class... Types>
mluOpStatus_t call_with(mluOpStatus_t (*function)(Types...), Source& source) {
  const std::tuple<Types...> arguments{source.next<Types>()...};  // in braces: one after the other
  return std::apply(function, arguments);
}

struct Entry {
  const char* op;  ///< its tensors suit the function
  const char* function;
  mluOpStatus_t (*call)(Source& source);
};

#define MLUOPS_RAW(op, name) {#op, #name, [](Source& source) { return call_with(&(name), source); }},

const Entry kEntries[] = {
#include "test/fuzz/targets/raw_entries.inc"
};

#undef MLUOPS_RAW

}  // namespace

mluOpStatus_t call_raw(std::size_t number, PreparedCall& call, mluOpHandle_t handle, Choices& choices) {
  Source source(call, handle, choices);
  return kEntries[number].call(source);
}

const char* name_of_raw(std::size_t number) {
  return kEntries[number].function;
}

const char* operator_of_raw(std::size_t number) {
  return kEntries[number].op;
}

std::size_t count_of_raw() {
  return std::size(kEntries);
}

}  // namespace mluops::test
