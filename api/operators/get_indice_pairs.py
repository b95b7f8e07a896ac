"""GetIndicePairs."""
from api.generate.describe import *

family("GetIndicePairs", "statuses as MLU-OPS gives them; mmcv's get_indice_pairs.", numpy=False,
       problem_prose="#define MLUOPS_MOST_SPARSE_AXES 4", hooks="""
/// The product of a size of all axes and a first factor, at most 2^62.
std::int64_t volume_of(const mluOpSparseConvolutionStruct& desc, std::int64_t first, std::int32_t mluopsSparseAxis::*size);
/// What a call asks of the descriptor.
Status can_find_pairs(const mluOpSparseConvolutionStruct& desc, bool strict);
/// Places of the filter and of both grids.
Status has_few_places(const GetIndicePairsArgs& args);
/// Nothing to do, and so told by the descriptor, where a tensor is empty.
Status none_where_empty(const GetIndicePairsArgs& args);
/// For MLUOP_CAPTURE.
Status note_num_act_out(const GetIndicePairsArgs& args);
mluopsGetIndicePairsShape pairs_shape_of(const GetIndicePairsArgs& args);
""", letters={"width": "axes + 1", "offsets": "K"})

struct("mluopsSparseAxis", """
  int32_t input, output; /**< sizes of the grids */
  int32_t filter, pad, stride, dilation;
""", doc="""One axis of space. Of a submanifold convolution pad is filter / 2 and stride 1; where dilation is not 1, stride is.""")

SHAPE = struct("mluopsGetIndicePairsShape", """
  int32_t axes;                                   /**< 2 to 4 */
  mluopsSparseAxis axis[MLUOPS_MOST_SPARSE_AXES]; /**< slowest first */
  int64_t batch;                                  /**< batch times either grid is less than 2^62 */
  int32_t sub_m, transpose;
  int64_t inputs;  /**< rows of indices */
  int64_t outputs; /**< rows of out_indices */
  int64_t offsets; /**< of the filter, its volume */
""")

descriptor("SparseConvolution", "sparse_conv_desc", "mluOpSparseConvolutionStruct", """
    int dimNb in 4..6 -- axes of space and 2 more; calls under STRICT take 5 alone
    int batch >= 1
    host const int pad[] -- >= 0
    host const int stride[] -- >= 1
    host const int dilation[] -- >= 1
    host const int input_space[] -- size of the input's grid, >= 1
    host const int filter_space[] -- size of the filter, >= 1
    host const int output_space[] -- size of the output's grid, >= 1
    const int sub_m in 0..1 -- 1, or any other number: submanifold, outputs where the inputs are
    const int transpose in 0..0 -- calls under EXTENDED take 1 too
    const int inverse in 0..0
    """,
    order="", desc="desc", address=True, by_hand="""
/// What mluOpSparseConvolutionDescriptor_t points to; axes is 0 until set.
struct mluOpSparseConvolutionStruct {
  int axes = 0;
  int batch = 0;
  mluopsSparseAxis axis[MLUOPS_MOST_SPARSE_AXES] = {};
  bool sub_m = false, transpose = false;
  std::int32_t num_act_out = 0;
};
""",
    docs={"create": """Creates a descriptor of a sparse convolution; set it before use. NOT_INITIALIZED: NULL.""",
          "destroy": """Destroys a descriptor. EXECUTION_FAILED: NULL.""",
          "set": """Sets a descriptor. Arrays have one number for each axis of space, slowest first.

{fields}
BAD_PARAM: a pointer is NULL or a number is none of these; the descriptor stays what it was."""})

prose("""
/** How many outputs the last mluOpGetIndicePairs with this descriptor found. NOT_INITIALIZED: an argument is NULL. */
mluOpStatus_t MLUOP_WIN_API mluOpGetSparseConvolutionNumActOut(mluOpSparseConvolutionDescriptor_t desc,
                                                               int* num_act_out);
""")

getter("mluOpGetIndicePairsWorkspaceSize", "get_indice_pairs",
       "sparse_conv_desc indices indice_pairs out_indices indice_num", "size form", "pairs, 5, sizeof(std::int32_t)",
       "five INT32 for each place of a pair; 0 where a tensor is empty")

operator("get_indice_pairs", "mluOpGetIndicePairs", 45, doc="""Which inputs of a sparse convolution meet which outputs, for each offset of the filter.

  Input i stands at indices[i] = (b, p...), output o at out_indices[o] = (b, q...). They are a pair for offset
  k = (k...), numbered row by row, where on each axis
      p + pad = q * stride + k * dilation         (transpose: q + pad = p * stride + k * dilation)
  and p and q are in their grids. sub_m: pad counts as filter_space / 2 and stride as 1.
  out_indices: the places that some input meets, in increasing order; sub_m: the rows of indices. Zeros behind.
  num_act_out: their number, for mluOpGetSparseConvolutionNumActOut.
  indice_num[k]                = number of pairs for k
  indice_pairs[k,0:2,0..n-1]   = their inputs and outputs, in increasing order of inputs; -1 behind.
  sub_m, several inputs at one place: the last of them is the output of all.

A tensor empty: SUCCESS, num_act_out is 0, nothing else written. STRICT: L and M are at most the places of their
grids; sub_m wants stride and dilation 1. Cost: K*L look-ups. Source: mmcv's get_indice_pairs.""", args="""
    descriptor mluOpSparseConvolutionDescriptor_t sparse_conv_desc -- set; a dilation other than 1 goes with a stride
        -- of 1. Receives num_act_out.
    in indices INT32 any [inputs, width] -- an input outside its grid or the batch has no pairs
    workspace void* workspace, const size_t workspace_size
    out indice_pairs INT32 any [offsets, 2, inputs] -- K <= 4096 the volume of the filter
    out out_indices INT32 any [outputs, width] -- more outputs than M: NOT_SUPPORTED, nothing written
    out indice_num INT32 any [offsets]
    """,
    order="descriptor descs ranks hook(can_find_pairs desc strict) sizes(indices out_indices indice_pairs indice_num) "
          "hook(has_few_places) dense dtypes indexable(indices.0 out_indices.0) | hook(none_where_empty) data workspace "
          "overlap hook(note_num_act_out)",
    shape=SHAPE, keys=None,
    derive={"width": "desc.axes + 1", "offsets": "volume_of(desc, 1, &mluopsSparseAxis::filter)",
            "pairs": "any_empty({indices, indice_pairs, out_indices, indice_num}) ? 0 : indice_pairs.desc->elements / 2"},
    say={"width": "a batch and a place", "offsets": "the volume of the filter", "2": "input and output",
         "inputs": "the rows of indices"},
    fill={"shape": "pairs_shape_of(args)", "num_act_out": "&sparse_conv_desc->num_act_out"},
    members="""
  mluopsGetIndicePairsShape shape;
  const int32_t* indices; /**< [inputs,axes+1]: batch and place, arbitrary numbers */
  int32_t* indice_pairs;  /**< [offsets,2,inputs] */
  int32_t* out_indices;   /**< [outputs,axes+1] */
  int32_t* indice_num;    /**< [offsets] */
  int32_t* num_act_out;   /**< [1] */
""")
