// onnxruntime's C interface, as much of it as custom operators need: where its functions are in its table, to which
// versions only append, and the description of an operator. No header of onnxruntime is wanted to build this.
// Source: onnxruntime_c_api.h of onnxruntime 1.16, API version 16.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace mluops::ort {

constexpr std::uint32_t kApiVersion = 16;

struct Status;  // nullptr: success
struct Value;
struct SessionOptions;
struct Domain;
struct TensorInfo;
struct KernelInfo;
struct KernelContext;

enum ErrorCode { kFail = 1, kInvalidArgument = 2, kNotImplemented = 9 };
enum ElementType { kFloat = 1, kInt32 = 6, kInt64 = 7, kFloat16 = 10, kDouble = 11 };
enum Presence { kRequired = 0, kOptional = 1 };

struct Api {
  using Function = void (*)();
  Function functions[164];
};

struct ApiBase {
  const Api* (*get_api)(std::uint32_t version);
  const char* (*version_text)();
};

/// A function of the table: its place, what it returns and takes.
template <int kPlace, class Result, class... Arguments>
Result call(const Api& api, Arguments... arguments) {
  static_assert(kPlace < static_cast<int>(sizeof(Api) / sizeof(Api::Function)));
  return reinterpret_cast<Result (*)(Arguments...)>(api.functions[kPlace])(arguments...);
}

inline Status* create_status(const Api& api, ErrorCode code, const char* text) {
  return call<0, Status*, ErrorCode, const char*>(api, code, text);
}
inline Status* create_domain(const Api& api, const char* name, Domain** out) {
  return call<26, Status*>(api, name, out);
}
inline Status* add_operator(const Api& api, Domain* domain, const struct CustomOperator* op) {
  return call<27, Status*>(api, domain, op);
}
inline Status* add_domain(const Api& api, SessionOptions* options, Domain* domain) {
  return call<28, Status*>(api, options, domain);
}
inline Status* data_of(const Api& api, const Value* value, void** out) {
  return call<51, Status*>(api, const_cast<Value*>(value), out);
}
inline Status* element_type(const Api& api, const TensorInfo* info, ElementType* out) {
  return call<60, Status*>(api, info, out);
}
inline Status* rank_of(const Api& api, const TensorInfo* info, std::size_t* out) {
  return call<61, Status*>(api, info, out);
}
inline Status* sizes_of(const Api& api, const TensorInfo* info, std::int64_t* out, std::size_t rank) {
  return call<62, Status*>(api, info, out, rank);
}
inline Status* tensor_info(const Api& api, const Value* value, TensorInfo** out) {
  return call<65, Status*>(api, value, out);
}
inline Status* attribute(const Api& api, const KernelInfo* info, const char* name, float* out) {
  return call<85, Status*>(api, info, name, out);
}
inline Status* attribute(const Api& api, const KernelInfo* info, const char* name, std::int64_t* out) {
  return call<86, Status*>(api, info, name, out);
}
inline Status* attribute(const Api& api, const KernelInfo* info, const char* name, char* out, std::size_t* size) {
  return call<87, Status*>(api, info, name, out, size);
}
inline Status* attribute(const Api& api, const KernelInfo* info, const char* name, std::int64_t* out,
                         std::size_t* size) {
  return call<163, Status*>(api, info, name, out, size);
}
inline Status* attribute(const Api& api, const KernelInfo* info, const char* name, float* out, std::size_t* size) {
  return call<162, Status*>(api, info, name, out, size);
}
inline Status* input_count(const Api& api, const KernelContext* context, std::size_t* out) {
  return call<88, Status*>(api, context, out);
}
/// *out is nullptr if an optional input is missing.
inline Status* input(const Api& api, const KernelContext* context, std::size_t index, const Value** out) {
  return call<90, Status*>(api, context, index, out);
}
inline Status* output(const Api& api, KernelContext* context, std::size_t index, const std::int64_t* sizes,
                      std::size_t rank, Value** out) {
  return call<91, Status*>(api, context, index, sizes, rank, out);
}
inline void release(const Api& api, Status* status) {
  call<93, void>(api, status);
}
inline void release(const Api& api, TensorInfo* info) {
  call<99, void>(api, info);
}

/// The questions that onnxruntime asks an operator, in the order of its struct of version 16.
struct CustomOperator {
  using Self = const CustomOperator*;

  std::uint32_t version = kApiVersion;
  void* (*create)(Self, const Api*, const KernelInfo*) = nullptr;  // create_or_fail is asked instead
  const char* (*name)(Self) = nullptr;
  const char* (*provider)(Self) = nullptr;  // nullptr from it: the CPU
  ElementType (*input_type)(Self, std::size_t) = nullptr;
  std::size_t (*input_types)(Self) = nullptr;
  ElementType (*output_type)(Self, std::size_t) = nullptr;
  std::size_t (*output_types)(Self) = nullptr;
  void (*compute)(void*, KernelContext*) = nullptr;  // compute_or_fail is asked instead
  void (*destroy)(void*) = nullptr;
  Presence (*input_presence)(Self, std::size_t) = nullptr;
  Presence (*output_presence)(Self, std::size_t) = nullptr;
  int (*input_memory)(Self, std::size_t) = nullptr;
  int (*variadic_inputs)(Self) = nullptr;
  int (*variadic_inputs_alike)(Self) = nullptr;
  int (*variadic_outputs)(Self) = nullptr;
  int (*variadic_outputs_alike)(Self) = nullptr;
  Status* (*create_or_fail)(Self, const Api*, const KernelInfo*, void**) = nullptr;
  Status* (*compute_or_fail)(void*, KernelContext*) = nullptr;
};

}  // namespace mluops::ort
