// One C call of one operator as data, so that a table can break one thing at a time.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "mlu_op_ext.h"
#include "test/support/settings.h"

namespace mluops::test {

using Dims = std::vector<std::int64_t>;

/// One tensor argument with its buffer. Outputs are filled with a pattern before the call.
struct Arg {
  std::string name;
  bool output = false;
  mluOpTensorLayout_t layout = MLUOP_LAYOUT_NHWC;
  mluOpDataType_t dtype = MLUOP_DTYPE_FLOAT;
  Dims dims;
  Dims strides = {};          // empty: dense
  bool pointer_only = false;  // the C function takes no descriptor for it
  bool no_desc = false;
  bool no_data = false;
  std::string shares = {};              // name of the argument whose memory it uses instead of its own
  std::int64_t shift = 0;               // bytes into that memory
  std::vector<std::uint8_t> data = {};  // of an input, at the start of its memory
  std::vector<std::uint8_t> memory = {};
};

/// The strides of a dense tensor, doubled.
void add_gaps(Arg& a);

/// The call of a case, whose tensors and parameters can be changed each alone.
class OpCall {
 public:
  explicit OpCall(const Case& valid, mluOpDataType_t dtype = MLUOP_DTYPE_FLOAT);

  Arg& arg(const std::string& name);
  /// What the C function is given besides tensors, which stay as they are.
  OpCall& set(const std::string& parameter, double value);

  /// Makes the call with a fresh handle. Afterwards outputs_touched() tells whether any output byte changed.
  mluOpStatus_t make();
  bool outputs_touched() const;

  std::string function;  ///< as the error texts call it
  std::vector<Arg> args;
  bool no_handle = false;
  mluOpExtContract_t contract = MLUOP_EXT_CONTRACT_STRICT;
  std::size_t missing_workspace = 0;  ///< the size it gives of a workspace that is NULL
  std::function<mluOpStatus_t(mluOpHandle_t, const Arguments&)> call;

 private:
  void allocate();
  Argument argument(Arg& a);

  Case text_;
  mluOpDataType_t dtype_;
};

/// One thing wrong, and what the call must answer.
struct Wrong {
  std::string what;
  std::function<void(OpCall&)> change;
  std::optional<mluOpStatus_t> status;  // none: BAD_PARAM or NOT_SUPPORTED
  std::string text;                     // a part of the last-error text
};

/// What every operator refuses: no handle, no descriptor, no data, other ranks, dtypes and strides, shared memory. The
/// text names the argument.
std::vector<Wrong> refused_by_all(const OpCall& base);

/// Makes one wrong call: status, text, outputs untouched; after SUCCESS the text tells whether outputs are "written".
void expect_answer(OpCall call, const Wrong& wrong);

/// Another C call in place of the case's must end with BAD_PARAM and this text.
void expect_bad_param(OpCall base, std::function<mluOpStatus_t(mluOpHandle_t, const Arguments&)> call,
                      const std::string& text);

/// Makes the base call (must succeed), then every wrong one: status, text, outputs untouched, and the base again.
void check_table(const OpCall& base, const std::vector<Wrong>& table);

}  // namespace mluops::test
