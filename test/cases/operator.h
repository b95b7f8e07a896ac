// One description per operator: what its tensors are, how it is called, what it should give, which cases it has. Tests,
// bench, explain and fuzz are all made from it, so an operator with a file here is tested on every backend that has
// it, against its reference and against the other backends, for its refusals, its threads and its memory, and is timed.
//
// To add an operator (carafe.cpp is an example of a forward and a backward one):
//   1. The reference in double: test/reference/<family>.{h,cpp}.
//   2. test/cases/<family>.cpp defines, in namespace mluops::cases,
//          std::vector<OperatorCases> <family>_operators();
//      with one entry for each operator of the file. Nothing else is edited: the folder lists itself.
//   3. describe() turns a case ("op n=1 h=3 ...", every parameter of the entry is there, given or by default) into
//      tensors in the order of the C function, inputs with a Fill, outputs without; the call; the reference.
//   4. The lists hold texts behind the operator's name: list({"n=1 h=3", "n=2 h=5"}).
// Run it: build/release/test/op/test_op --gtest_filter='*<op>*'; one case: MLUOP_TEST_CASE="<op> n=1 h=3".
//
// Descriptions own no memory and judge nothing: tests put the tensors between guard bytes (test/support), bench into
// sets of pages (bench/engine).
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "mlu_op.h"
#include "test/cases/base/case.h"
#include "test/cases/base/fill.h"
#include "test/cases/base/random.h"
#include "test/reference/reference.h"

namespace mluops::cases {

using reference::Coordinates;
using reference::Values;

// ---- one call ----

enum class Comparison {
  kNumeric,  ///< by the metrics of the accuracy standard
  kBits,     ///< every element the very same number: indices, copies
  kChoice,   ///< an index: the same, or one whose sample (Description::samples) is as good
};

/// Takes elements [first, first + count).
using RunVisitor = std::function<void(std::int64_t first, std::int64_t count)>;

struct TensorSpec {
  std::string name;  ///< as in the error texts of the operator
  mluOpTensorLayout_t layout = MLUOP_LAYOUT_ARRAY;
  mluOpDataType_t dtype = MLUOP_DTYPE_FLOAT;
  std::vector<std::int64_t> dims = {};
  Fill fill = {};  ///< none marks an output

  // Outputs only.
  Comparison comparison = Comparison::kNumeric;
  double term_size = 0;  ///< size of the terms an element is the sum of, where they may cancel to nothing; 0: the
                         ///< result's size tells
  // Inputs only: what the operator has to read of it.
  double touched = 1;                                ///< share of the elements
  std::function<void(const RunVisitor&)> runs = {};  ///< which ones, in memory order; none: the first ones

  bool optional = false;      ///< descriptor and data may both be NULL
  bool pointer_only = false;  ///< the C function takes no descriptor for it

  bool is_output() const { return !fill; }
  std::int64_t elements() const;
  std::int64_t bytes() const;
  /// Calls visit for the runs of elements that the operator has to read; none for an output.
  void visit_touched(const RunVisitor& visit) const;
};

/// A tensor as a call takes it; both members NULL for an absent one.
struct Argument {
  mluOpTensorDescriptor_t desc = nullptr;
  void* data = nullptr;
};
using Arguments = std::vector<Argument>;

/// The inputs' bytes, in the order of the input tensors.
using Inputs = std::vector<const void*>;

/// Value in double of sample `choice` for output element i: the greatest is the best; NaN when there is no such sample.
using SampleValue = std::function<double(std::int64_t i, int choice)>;

struct Description {
  Case text;
  mluOpDataType_t dtype = MLUOP_DTYPE_FLOAT;
  std::vector<TensorSpec> tensors;
  /// indice_num, which no tensor is, where the operator takes it: call and reference read it. A replay puts in its own.
  std::shared_ptr<std::vector<std::int64_t>> counts = {};
  /// The floats of the C function, in its order, as doubles: a call on DOUBLE gives them (mluOpExtSetScalars).
  std::vector<double> scalars = {};
  double flops = 0;  ///< that the operator has to compute; 0: it only moves data
  /// The C function on tensors in the order above. Called by name, never through a stored address: so the bench also
  /// starts on a library that lacks it.
  std::function<mluOpStatus_t(mluOpHandle_t, const Arguments&)> call;
  /// Outputs in double, in the order of the output tensors; indices as doubles.
  std::function<std::vector<Values>(const Inputs&, Coordinates)> reference;
  /// Where an output is a kChoice.
  std::function<SampleValue(const Inputs&, Coordinates)> samples = {};

  bool exact() const;          ///< every output compared by bits
  double read_bytes() const;   ///< every input once, only its touched share
  double write_bytes() const;  ///< every output once
  double all_bytes() const;    ///< of all tensors, touched or not
};

// ---- one operator ----

/// A key of the operator's cases. Words are allowed as values: kinds of data.
struct Parameter {
  const char* name;
  const char* value;  ///< where a case does not say; all of them together are what `./run explain` shows
  const char* meaning;
};

/// Types of the operator's floating-point tensors, by the contract that allows them. Backends that imitate a device
/// have those of STRICT.
struct Dtypes {
  std::vector<mluOpDataType_t> strict = {MLUOP_DTYPE_HALF, MLUOP_DTYPE_FLOAT};
  std::vector<mluOpDataType_t> extended = {MLUOP_DTYPE_DOUBLE, MLUOP_DTYPE_BFLOAT16};
};

/// What is measured while one parameter grows, about in the steps 1, 2, 4, 8.
struct Growth {
  std::string name;
  Cases steps;
};

/// A scatter with a number of additions to each address.
struct Contention {
  std::string text;
  Case what;
};

struct OperatorCases {
  const char* op;        ///< as in mluops/operators.inc
  const char* function;  ///< the C function, as its error texts call it
  std::vector<Parameter> parameters;
  Description (*describe)(const Case& text, mluOpDataType_t dtype);

  /// One element of everything; last, a few of each, all sizes different: validation breaks one thing at a time in it.
  Cases (*smallest)();
  /// Shapes of the design documents and of the vendor's and mmcv's tests; the largest reduced (each says so).
  Cases (*document)();
  /// One awkward thing at a time.
  Cases (*edge)();
  /// A problem of at most `effort`: about 1 for the usual size, 0.2 for a device with little memory.
  Case (*random)(Random& random, double effort);
  /// Every way the cpu kernel can take, large enough for several threads.
  Cases (*large)();
  /// What bench measures: the network's own shapes. First a usual one with a quick reference: what a short run shows.
  Cases (*network)();

  Dtypes dtypes = {};
  /// Its sums go to addresses found in the data or shared by threads: it runs in an owner and in an atomic way.
  bool scatters = false;
  /// A chain in which each step needs the one before: the cpu kernel has no loop to share among threads.
  bool sequential = false;
  /// Coordinates in the data decide what is read, so their precision does: a device computes them in the tensors' type.
  bool coordinates = false;
  /// Whether a device that computes everything in half, coordinates and sums included, can be held to 3e-3
  /// (docs/accuracy.md); none: always.
  bool (*meaningful_in_half)(const Case& text) = nullptr;
  /// Parameters that may be divided, in this order, until an emulated machine can run a case of `network`.
  std::vector<const char*> reducible = {};
  std::vector<Growth> (*growth)() = nullptr;
  std::vector<Contention> (*contention)() = nullptr;
  std::string family = {};  ///< name of the file, filled in by the list
};

// ---- all operators ----

/// Names of the list of the API, mluops/operators.inc.
const std::vector<std::string>& api_operators();
/// In the order of that list. Throws std::logic_error when a file describes an operator the list has not.
const std::vector<OperatorCases>& all_operators();
/// Throws std::invalid_argument with the known names.
const OperatorCases& find_operator(const std::string& op);

/// The case as its operator describes it, defaults put in. Keys every operator knows: values=half|bfloat16 rounds the
/// floating-point inputs to that first, so that several dtypes can be given the very same numbers; seed=, misalign= (of
/// every tensor, in elements: test/support); dtype=: of several dtypes the case is run in, this alone
/// (names_dtype); contract=extended: the call asks for it. Throws std::invalid_argument for a key that is no parameter
/// or a size that is not positive.
Description describe(const Case& text, mluOpDataType_t dtype);

/// A number that the C function takes as a float, as the call computes with it: of DOUBLE the number itself.
double scalar_of(const Case& text, const std::string& key, mluOpDataType_t dtype);

/// Whether the case is of the dtype: it says none, or this one.
bool names_dtype(const Case& text, mluOpDataType_t dtype);

/// The product of all its numbers above 1: no fewer steps than any loop of its description takes. Of a case with its
/// defaults.
double work_of(const Case& full);

/// With every parameter of its operator.
Case with_defaults(const Case& text);

/// OperatorCases::meaningful_in_half of the case's operator.
bool meaningful_in_half(const Case& text);

/// A list of the operator's, under its name.
Cases cases_of(const OperatorCases& op, Cases (*list)());

/// `values` as they are after values=half or values=bfloat16: for describe(), where it looks at the numbers itself.
Values admissible(const Case& text, Values values);
Fill admissible(const Case& text, Fill fill);

/// The case four times, the parameter multiplied by 1, 2, 4, 8, or with the values given.
Growth growth_of(const Case& base, const std::string& parameter);
Growth growth_of(const Case& base, const std::string& parameter, const std::vector<std::string>& values);

/// A size in [1, most]: mostly small, often odd or prime, sometimes 1.
std::int64_t odd_size(Random& random, std::int64_t most);

}  // namespace mluops::cases
