// One C call of one operator as data, so that a table can break one thing at a time.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "mlu_op_ext.h"

namespace mluops::test {

using Dims = std::vector<std::int64_t>;

/// One tensor argument with its buffer. Outputs are filled with a pattern before the call.
struct Arg {
  std::string name;
  bool output = false;
  mluOpTensorLayout_t layout = MLUOP_LAYOUT_NHWC;
  mluOpDataType_t dtype = MLUOP_DTYPE_FLOAT;
  Dims dims;
  Dims strides = {};  // empty: dense
  bool no_desc = false;
  bool no_data = false;
  std::string shares = {};  // name of the argument whose memory it uses instead of its own
  std::int64_t shift = 0;   // bytes into that memory
  std::vector<std::uint8_t> memory = {};
};

/// What the operator's C function is given besides tensors.
using Params = std::map<std::string, double>;

class OpCall;

/// Descriptors and pointers of a prepared call, by argument name.
struct Prepared {
  mluOpHandle_t handle;
  std::map<std::string, mluOpTensorDescriptor_t> desc;
  std::map<std::string, void*> data;
};

/// An operator's valid base call and how to make it.
class OpCall {
 public:
  using Function = std::function<mluOpStatus_t(const OpCall&, Prepared&)>;
  OpCall(std::string function_name, Function run, std::vector<Arg> tensors, Params parameters)
      : function(std::move(function_name)), args(std::move(tensors)), params(std::move(parameters)), run_(run) {}

  Arg& arg(const std::string& name);
  int integer(const std::string& name) const { return static_cast<int>(params.at(name)); }

  /// Makes the call with a fresh handle. Afterwards outputs_touched() tells whether any output byte changed.
  mluOpStatus_t make();
  bool outputs_touched() const;

  std::string function;
  std::vector<Arg> args;
  Params params;
  bool no_handle = false;
  mluOpExtContract_t contract = MLUOP_EXT_CONTRACT_STRICT;

 private:
  void allocate();
  void* data_of(Arg& a);
  Function run_;
};

/// One thing wrong, and what the call must answer.
struct Wrong {
  std::string what;
  std::function<void(OpCall&)> change;
  mluOpStatus_t status;
  std::string text;  // a part of the last-error text
};

/// What every operator has in common: NULLs, ranks, layouts, dtypes, each dimension, strides, aliasing, sizes.
struct CommonRules {
  mluOpStatus_t strided = MLUOP_STATUS_NOT_SUPPORTED;
  mluOpStatus_t too_large = MLUOP_STATUS_NOT_SUPPORTED;
  std::vector<std::string> optional = {};    // arguments that may be absent
  std::vector<std::string> any_layout = {};  // arguments whose layout is free
  std::vector<std::string> free_dims = {};   // "name:axis" whose growth another argument's check reports or allows
  std::function<void(OpCall&)> huge;         // makes every shape consistent but beyond 2^31 elements
  std::function<void(OpCall&)> overflow;     // the same, beyond 2^63
};
std::vector<Wrong> common_wrongs(const OpCall& base, const CommonRules& rules);

/// Makes the base call (must succeed), then every wrong one: status, text, outputs untouched, and the base again.
void check_table(const OpCall& base, const std::vector<Wrong>& table);

}  // namespace mluops::test
