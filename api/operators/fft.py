"""FFT."""
from api.generate.describe import *

family("Fft", "mluOp's fft.", numpy=False, includes="common/op/fft_plan.h", hooks="""
/// Every rule but the handle's.
Status check_fft_call(const FftArgs& args);
mluopsFftShape shape_of_call(const FftArgs& args);
""")

struct("mluopsFftLayout", """
  int64_t rows, columns;
  int64_t batch, row, column;
""", """Where signals lie: element (b, i, j) at b * batch + i * row + j * column; in elements of the tensor's own type. Of a
signal rows * columns are there.""")

struct("mluopsFftShape", """
  mluOpDataType_t dtype; /* COMPLEX_FLOAT or COMPLEX_HALF; the real side of kinds 1 and 2 is FLOAT or HALF */
  int32_t kind;          /* 0 complex to complex, 1 real to complex, 2 complex to real */
  int32_t backward;      /* 0: exp(-2 pi i jk / n), 1: exp(+2 pi i jk / n); kind 1 is forward, kind 2 backward */
  int64_t batch, n0, n1;
  mluopsFftLayout in, out; /* input beyond n0 or n1 is left out, missing input counts as 0 */
""", "FFT: `batch` signals of n0 x n1 numbers, n0 = 1 for one dimension.")

prose("""
typedef struct mluOpFFTStruct* mluOpFFTPlan_t;

/** Creates a plan. BAD_PARAM: NULL. */
mluOpStatus_t MLUOP_WIN_API mluOpCreateFFTPlan(mluOpFFTPlan_t* fft_plan);

/** Sets a plan: Fourier transforms of one or two dimensions.
 *
 *  X[k] = scale_factor * the sum over j of x[j] * exp(-+ 2 pi i jk / n), along each dimension
 *
 *  @param input_desc   [n...] or [B, n...], the second for a batch; any strides >= 0, any layout. On-chip dtype as the
 *                      vendor asks: HALF or INT16 for HALF, FLOAT or INT31 for FLOAT; no effect (EXTENDED: any).
 *                      FLOAT or HALF: real to complex, else COMPLEX_FLOAT or COMPLEX_HALF. More than n[i] numbers along
 *                      a dimension are cut off, missing ones count as 0.
 *  @param output_desc  as many dimensions, and B. COMPLEX_FLOAT or COMPLEX_HALF, last dimension n (from complex), or
 *                      n / 2 + 1 (from real); FLOAT or HALF, last dimension n: complex to real, from n / 2 + 1 numbers.
 *                      With two dimensions the other one is n[0].
 *  @param rank         1 or 2; 3: NOT_SUPPORTED.
 *  @param n            [rank], each >= 1. HALF: n[rank - 1] a power of two, else NOT_SUPPORTED (EXTENDED: any).
 *  @param reservespace_size, workspace_size  0.
 *  NOT_INITIALIZED: fft_plan is NULL. BAD_PARAM: another argument is NULL, ranks, sizes or dtypes do not fit.
 *  NOT_SUPPORTED: output elements that share memory; 2^31 elements or more (EXTENDED: 2^60 bytes). */
mluOpStatus_t MLUOP_WIN_API mluOpMakeFFTPlanMany(mluOpHandle_t handle, mluOpFFTPlan_t fft_plan,
                                                 const mluOpTensorDescriptor_t input_desc,
                                                 const mluOpTensorDescriptor_t output_desc, const int rank,
                                                 const int n[], size_t* reservespace_size, size_t* workspace_size);

/** Keeps a pointer, which has no effect. BAD_PARAM: handle or fft_plan is NULL. */
mluOpStatus_t MLUOP_WIN_API mluOpSetFFTReserveArea(mluOpHandle_t handle, mluOpFFTPlan_t fft_plan, void* reservespace);

/** Destroys a plan. BAD_PARAM: NULL. */
mluOpStatus_t MLUOP_WIN_API mluOpDestroyFFTPlan(mluOpFFTPlan_t fft_plan);""")

operator("fft", "mluOpExecFFT", 108, doc="""Transforms the signals of a plan. Half is computed in float.

@param fft_plan      one that mluOpMakeFFTPlanMany has set.
@param scale_factor  a number, by which results are multiplied.
@param workspace     not used.
@param output        may be input; else it shares nothing with it. Gaps between its elements are not written.
@param direction     0 forward, 1 backward; from and to real numbers it has no effect.
BAD_PARAM: a pointer but workspace is NULL; the plan is fresh. Without elements: SUCCESS. Lengths with prime factors
above 13 are computed as convolutions (Bluestein).""", args="""
    host mluOpFFTPlan_t fft_plan
    host const void* input
    const float scale_factor
    workspace void* workspace
    host void* output
    int direction
    """, order="hook(check_fft_call)", shape="", keys=None, lead="input", members="""
  mluopsFftShape shape;
  const void* input;
  void* output; /* may be input */
  double scale_factor;
""", fill={"shape": "shape_of_call(args)", "input": "input", "output": "output",
           "scale_factor": "static_cast<double>(scale_factor.value)"})
