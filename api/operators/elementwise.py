"""Elementwise functions."""
from api.generate.describe import *

family("Elementwise", "mluOp's abs, log, sqrt, div, lgamma and logspace.", numpy=False,
       includes="common/op/strided.h", letters={"n": "any shape"}, hooks="""
/// The dtypes of mluOpAbs.
Status have_abs_dtypes(const TensorArg& x, const TensorArg& y, mluOpExtContract_t contract);
/// The dtypes of mluOpLogspace.
Status has_logspace_dtype(const TensorArg& res, mluOpExtContract_t contract);
Status has_finite_base(const Scalar& base);
std::int64_t elements_of(const TensorArg& t);
""")

prose("""
/** The base of mluOpLog. */
typedef enum {
  MLUOP_LOG_E = 0,
  MLUOP_LOG_2 = 1,
  MLUOP_LOG_10 = 2,
} mluOpLogBase_t;""")

SHAPE = shape("mluopsElementwiseShape", "count", "Elementwise functions: tensors of `count` elements.")
LOG_SHAPE = shape("mluopsLogShape", "count; int32_t base /* 0 e, 1 two, 2 ten */")
LOGSPACE_SHAPE = shape("mluopsLogspaceShape", "steps; float start, end, base",
                       "Logspace: the first `steps` elements of res.")

COUNT = {"count": "elements_of(x)"}
REACH = "hook(has_reach x contract) hook(has_reach y contract) "
UNARY = ("descs dtypes sizes(y) countable " + REACH + "hook(has_elements_apart y) done_if_empty(x) data "
         "hook(apart_or_in_place x y)")
STRIDES = """Tensors have any rank, layout and strides >= 0, and the same shape. An input may have several elements at
one address. An output that has: NOT_SUPPORTED. A tensor is copied if it has gaps or its strides differ from the
output's."""
ANY = f"""{STRIDES} The output may be an input of the same strides (in place). Without elements: SUCCESS."""

operator("abs", "mluOpAbs", 89, doc=f"""y = |x|, element by element; of complex x = a + bi the modulus sqrt(a^2 + b^2).

@param x  HALF, FLOAT, INT32 or COMPLEX_FLOAT; EXTENDED also DOUBLE, BFLOAT16.
@param y  the dtype of x; FLOAT for COMPLEX_FLOAT. The least INT32 stays itself.
{STRIDES}
y may be x with the same strides, but for complex x. Without elements: SUCCESS.""", args="""
    in x T any [n]
    out y T like x
    """,
    order=UNARY.replace("dtypes", "hook(have_abs_dtypes x y contract)"), strided="copied",
    shape=SHAPE, keys="n=count", problem="mluopsUnaryProblem", derive=COUNT)

operator("log", "mluOpLog", 90, doc=f"""y = logarithm of x to the base e, 2 or 10, element by element.

{ANY}""", args="""
    const mluOpComputationPreference_t prefer in 0..2 -- no effect: results are within 4 units in the last place
    const mluOpLogBase_t base in 0..2
    in x T any [n] -- of 0 the logarithm is -Inf, below 0 NaN
    out y T like x -- of a power of two the logarithm to the base 2 is exact
    """,
    order="numbers " + UNARY, strided="copied", shape=LOG_SHAPE, keys="n=count base", derive=COUNT,
    fill={"base": "static_cast<std::int32_t>(base)"})

operator("sqrt", "mluOpSqrt", 91, doc=f"""y = square root of x, element by element, correctly rounded.

{ANY}""", args="""
    const mluOpComputationPreference_t prefer in 0..2 -- no effect
    in x T any [n] -- below 0 the root is NaN
    out y T like x
    """,
    order="numbers " + UNARY, strided="copied", shape=SHAPE, keys="n=count", problem="mluopsUnaryProblem", derive=COUNT)

operator("sqrt_backward", "mluOpSqrtBackward", 92, doc=f"""diff_x = diff_y / 2 / y, element by element: the gradient of mluOpSqrt, whose result is y.

{ANY}""", args="""
    in y T any [n] -- where it is 0, the gradient is Inf, or NaN if diff_y is 0
    in diff_y T like y
    out diff_x T like y
    """,
    order="descs dtypes sizes(diff_y diff_x) countable hook(has_reach y contract) hook(has_reach diff_y contract) "
          "hook(has_reach diff_x contract) hook(has_elements_apart diff_x) done_if_empty(y) data "
          "hook(apart_or_in_place y diff_x) hook(apart_or_in_place diff_y diff_x)", strided="copied",
    shape=SHAPE, keys="n=count", derive={"count": "elements_of(y)"})

operator("div", "mluOpDiv", 93, doc=f"""z = x / y, element by element, correctly rounded.

{ANY}""", args="""
    const mluOpComputationPreference_t prefer in 0..2 -- no effect
    in x T any [n]
    in y T like x -- where it is 0, the quotient is Inf or NaN
    out z T like x
    """,
    order="numbers descs dtypes sizes(y z) countable " + REACH + "hook(has_reach z contract) hook(has_elements_apart z) "
          "done_if_empty(x) data hook(apart_or_in_place x z) hook(apart_or_in_place y z)", strided="copied",
    shape=SHAPE, keys="n=count", derive=COUNT)

operator("lgamma", "mluOpLgamma", 94, doc=f"""y = logarithm of |gamma(x)|, element by element, within 4 units in the last place.

{ANY}""", args="""
    in x T any [n] -- of 0, a negative integer, Inf and -Inf the logarithm is Inf
    out y T like x
    """,
    order=UNARY, strided="copied", shape=SHAPE, keys="n=count", problem="mluopsUnaryProblem", derive=COUNT)

operator("logspace", "mluOpLogspace", 95, doc="""res[i] = base^(start + i * (end - start) / (steps - 1)): `steps` powers between base^start and base^end.

@param start  exponent of res[0].
@param end    exponent of res[steps - 1]. One step: only start counts.
@param steps  0 to the length of res; elements of res beyond are not written. 0: SUCCESS.
@param base   finite. Below 0: NaN where the exponent is no integer.
@param res    [length]; HALF, FLOAT or INT32; EXTENDED also DOUBLE, BFLOAT16. INT32: without its fraction, the nearest
              INT32 where it is out of range, 0 for NaN. Strided: NOT_SUPPORTED.
Computed in double; rounded once.""", args="""
    const float start
    const float end
    const int64_t steps >= 0
    const float base
    out res T any [length]
    """,
    order="numbers hook(has_finite_base base) descs ranks hook(has_logspace_dtype res contract) room dense "
          "done_if(steps == 0) data",
    shape=LOGSPACE_SHAPE, keys="steps start end base",
    rules={"room": rule("steps <= length", "res: wanted {steps} elements or more, got {length}")})
