"""Non-maximum suppression, hard and soft, and its groups."""
from api.generate.describe import *

family("Non-maximum suppression, hard and soft, and its groups",
       "mluOpNms of MLU-OPS 1.11, mmcv's nms, soft_nms and nms_match.", numpy=False,
       problem_includes="mluops/op/nms.h", hooks="""
/// Checks the values and puts them into the descriptor.
Status set_nms_descriptor(mluOpNmsDescriptor_t desc, const mluOpNmsStruct& values);
/// What the vendor's function knows and this one does not.
Status has_nms_modes(const mluOpNmsStruct& desc, const TensorArg& boxes);
/// 4 or 7; a descriptor's modes, scores and limits count with boxes of 4 numbers alone.
std::int64_t nms_box_numbers(const NmsArgs& args);
Status is_score_threshold(const NmsArgs& args);
Status have_nms_dtypes(const NmsArgs& args);
/// The scores, and room in the output for what may be written.
Status have_nms_sizes(const NmsArgs& args);
/// The dtype indices are written as: INT32, EXTENDED also INT64.
Status has_index_dtype(const TensorArg& t, mluOpExtContract_t contract);
std::int64_t nms_boxes(const NmsArgs& args);
mluOpNmsOutputMode_t nms_output_mode(const NmsArgs& args);
/// NaN stands for -infinity: all boxes.
double nms_threshold(const NmsArgs& args);
""")

SHAPE = struct("mluopsNmsShape", """
  mluOpDataType_t dtype;
  mluOpDataType_t index_dtype;
  int64_t boxes;
  double iou_threshold; /* a C float unless the caller gave a double, as are the others */
  float offset;         /* 0 or 1 */
""", doc="""boxes boxes of dtype, maybe none; indices are written as index_dtype: INT32, UINT32 or INT64.""")

prose("""
/** What the numbers of a box of 4 are. */
typedef enum {
  MLUOP_NMS_BOX_DIAGONAL = 0, /**< x1, y1, x2, y2. */
  MLUOP_NMS_BOX_CENTER = 1,   /**< x and y of the centre, width, height. */
} mluOpNmsBoxPointMode_t;

/** What mluOpNms writes of each box it keeps, best score first. */
typedef enum {
  MLUOP_NMS_OUTPUT_TARGET_INDICES = 0,              /**< Index of the box; output [max]. */
  MLUOP_NMS_OUTPUT_TARGET_CONFIDENCE_AND_POS_1 = 1, /**< Score and the box's numbers as given; output [max, 5]. */
  MLUOP_NMS_OUTPUT_TARGET_CONFIDENCE_AND_POS_2 = 2, /**< The same, output [5, max]. */
  MLUOP_NMS_OUTPUT_TARGET_BATCH_AND_CLASS = 3,      /**< Batches and classes; NOT_SUPPORTED. */
} mluOpNmsOutputMode_t;

/** How scores of suppressed boxes change. mluOpNms knows HARD only; the soft ones are mluOpExtSoftNms. */
typedef enum {
  MLUOP_NMS_HARD_NMS = 0,
  MLUOP_NMS_SOFT_NMS_LINEAR = 1,
  MLUOP_NMS_SOFT_NMS_GAUSSIAN = 2,
} mluOpNmsMethodMode_t;

/** Kept for clients: `offset` alone decides, as with the vendor's library, which drops this value. */
typedef enum {
  MLUOP_NMS_ALGO_EXCLUDE_BOUNDARY = 0,
  MLUOP_NMS_ALGO_INCLUDE_BOUNDARY = 1,
} mluOpNmsAlgo_t;

typedef struct mluOpNmsStruct* mluOpNmsDescriptor_t;
""")

prose("""
/** Sets what mluOpNms does. With boxes of 7 numbers only iou_threshold and input_layout have an effect.
 *
 *  @param box_mode, output_mode, algo, method_mode  see the enumerations.
 *  @param iou_threshold         a box is suppressed by a better one when their IoU is greater.
 *  @param soft_nms_sigma        >= 0; without effect.
 *  @param max_output_size       most boxes kept, >= 0.
 *  @param confidence_threshold  boxes are looked at when their score is greater; in [0,1]. Under the EXTENDED contract
 *                               any number; -INFINITY looks at every box, NaN scores first.
 *  @param offset                0 or 1: the width of a box is x2 - x1 + offset, likewise the height.
 *  @param input_layout          0: boxes are [N, 4] or [N, 7]; 1: [4, N] or [7, N].
 *  @param pad_to_max_output_size  write zeros behind the kept boxes, up to max_output_size of them.
 *  BAD_PARAM: nms_desc NULL, a value outside its enumeration or range. */
mluOpStatus_t MLUOP_WIN_API mluOpSetNmsDescriptor(mluOpNmsDescriptor_t nms_desc, const mluOpNmsBoxPointMode_t box_mode,
                                                  const mluOpNmsOutputMode_t output_mode, const mluOpNmsAlgo_t algo,
                                                  const mluOpNmsMethodMode_t method_mode, const float iou_threshold,
                                                  const float soft_nms_sigma, const int max_output_size,
                                                  const float confidence_threshold, const float offset,
                                                  const int input_layout, const bool pad_to_max_output_size);
""")

descriptor("Nms", "nms_desc", "mluOpNmsStruct", """
    const mluOpNmsBoxPointMode_t box_mode in 0..1
    const mluOpNmsOutputMode_t output_mode in 0..2
    const double iou_threshold
    const int max_output_size >= 0
    const double confidence_threshold
    const int offset in 0..1
    const int input_layout in 0..1
    const bool pad_to_max_output_size
    """,
    order="", desc="desc", set_name="mluOpExtSetNmsDescriptor", by_hand="""
/// What mluOpNmsDescriptor_t points to.
struct mluOpNmsStruct {
  bool is_set = false;
  mluOpNmsBoxPointMode_t box_mode = MLUOP_NMS_BOX_DIAGONAL;
  mluOpNmsOutputMode_t output_mode = MLUOP_NMS_OUTPUT_TARGET_INDICES;
  mluOpNmsAlgo_t algo = MLUOP_NMS_ALGO_EXCLUDE_BOUNDARY;
  mluOpNmsMethodMode_t method_mode = MLUOP_NMS_HARD_NMS;
  double iou_threshold = 0;
  float soft_nms_sigma = 0;
  int max_output_size = 0;
  double confidence_threshold = 0;
  float offset = 0;
  int input_layout = 0;
  bool pad_to_max_output_size = false;
};
""",
    docs={"set": """As mluOpSetNmsDescriptor, for boxes and scores of double: the thresholds are not rounded to float."""})

getter("mluOpGetNmsWorkspaceSize", "nms", "nms_desc boxes confidence", "handle descriptor desc_pointers(boxes) size",
       size="size")

SAY = {"4": "x1, y1, x2, y2", "5": "x1, y1, x2, y2, score", "n": "the number of boxes"}

operator("nms", "mluOpNms", 10, doc="""Non-maximum suppression: walks over the boxes from the best score down (equal scores: lower index first) and keeps
each box whose IoU with every box kept before is not greater than the threshold.

  IoU(a,b) = inter / (area(a) + area(b) - inter)     NaN, as of degenerate boxes, is not greater

Boxes of 7 numbers are x, y, z, dx, dy, dz and the rotation about z. They are walked over in the order in which
they are given, by the IoU of mluOpExtNms3d with rotated 1. They have no scores, the output is indices, and of
nms_desc only iou_threshold and input_layout have an effect.

@param boxes        T [N, 4] or [4, N] by input_layout; [N, 7] or [7, N].
@param confidence   T [N], the scores; HALF beside FLOAT boxes is taken too. Boxes of 7 numbers: descriptor and data
                    NULL.
@param workspace    not used; may be NULL.
@param output       INT32 or UINT32 [>= min(N, max_output_size)] indices (EXTENDED: INT64 too), or T [that, 5], or
                    T [5, that]; with padding at least max_output_size. Boxes of 7 numbers: indices [>= N].
                    What lies behind is left as it was.
@param output_size  INT32 [1]: how many boxes were kept.
N = 0: SUCCESS, *output_size is 0. Boxes of 3 dimensions, soft methods: NOT_SUPPORTED. Strided tensors:
NOT_SUPPORTED. Source: mmcv's nms; docs/op/nms.md.""", args="""
    descriptor const mluOpNmsDescriptor_t nms_desc
    in boxes T any [n, 4]
    in confidence:scores T any [n] where numbers == 4
    workspace
    out output INT32 any [room] py=indices
    count output_size
    """,
    order="descriptor descs(boxes) hook(has_nms_modes desc boxes) no_scores descs(confidence output) hook(is_score_threshold) "
          "hook(have_nms_dtypes) hook(have_nms_sizes) dense data_where_needed counts overlap",
    shape=SHAPE, keys=None, derive={"numbers": "nms_box_numbers(args)"},
    rules={"no_scores": rule("numbers == 4 || (confidence.desc == nullptr && confidence.data == nullptr)",
                             "confidence: wanted NULL with boxes of 7 numbers, got a descriptor or data")},
    fill={"index_dtype": "nms_output_mode(args) == MLUOP_NMS_OUTPUT_TARGET_INDICES ? args.output.desc->dtype : MLUOP_DTYPE_INVALID",
          "shape.boxes": "nms_boxes(args)", "iou_threshold": "desc.iou_threshold", "offset": "numbers == 4 ? desc.offset : 0",
          "score_dtype": "numbers == 4 ? confidence.desc->dtype : MLUOP_DTYPE_INVALID",
          "box_mode": "numbers == 4 ? desc.box_mode : MLUOP_NMS_BOX_DIAGONAL", "output_mode": "nms_output_mode(args)",
          "transposed": "desc.input_layout", "max_output": "numbers == 4 ? desc.max_output_size : nms_boxes(args)",
          "score_threshold": "nms_threshold(args)",
          "room": "size_of(output, nms_output_mode(args) == MLUOP_NMS_OUTPUT_TARGET_CONFIDENCE_AND_POS_2 ? 1 : 0)",
          "pad": "numbers == 4 && desc.pad_to_max_output_size ? 1 : 0", "box_numbers": "static_cast<int>(numbers)"},
    members="shape, mluOpDataType_t score_dtype, mluOpNmsBoxPointMode_t box_mode, "
            "mluOpNmsOutputMode_t output_mode, int transposed, double score_threshold, int64_t max_output, "
            "int64_t room, int pad, boxes, scores, void* output, output_size, int box_numbers",
    notes={"score_dtype": "INVALID where box_numbers is 7",
           "output_mode": "indices or one of the two forms of score and box, in dtype",
           "transposed": "boxes are [box_numbers, boxes]",
           "score_threshold": "boxes count where score > it; NaN: all of them, NaN scores first",
           "room": "boxes there is room for in output: the row length of [5, room]",
           "pad": "zeros up to max_output boxes; room is then at least as much",
           "scores": "NULL where box_numbers is 7",
           "box_numbers": "4, or 7: boxes as those of mluopsNms3dProblem, rotated, without scores; output: indices"})

prose("""
/** What mluOpExtSoftNms multiplies the score of a box by, given its IoU with the box kept last. */
typedef enum {
  MLUOP_EXT_SOFT_NMS_NAIVE = 0,    /**< 0 where IoU >= iou_threshold, else 1. */
  MLUOP_EXT_SOFT_NMS_LINEAR = 1,   /**< 1 - IoU where IoU >= iou_threshold, else 1. */
  MLUOP_EXT_SOFT_NMS_GAUSSIAN = 2, /**< exp(-IoU^2 / sigma). */
} mluOpExtSoftNmsMethod_t;
""")

operator("soft_nms", "mluOpExtSoftNms", 11, doc="""Soft non-maximum suppression: takes the box of the greatest score, lowers the scores of the others by their IoU with
it, drops those that fall below min_score, and goes on until none is left.

N = 0: SUCCESS, *output_size is 0. Cost: O(N * kept).
Source: Bodla et al., "Soft-NMS", ICCV 2017; mmcv's soft_nms, whose order of equal scores is kept.""", args="""
    in boxes T any [n, 4] -- x1, y1, x2, y2
    in scores T any [n]
    const float iou_threshold number exact
    const float sigma number exact -- read by GAUSSIAN only
    const float min_score number exact
    const mluOpExtSoftNmsMethod_t method in 0..2
    const int offset in 0..1 -- as with mluOpSetNmsDescriptor
    out dets T any [n, 5] -- box and new score, in the order taken; zeros from row *output_size on
    out indices INT32 any [n] -- EXTENDED: INT64 too; which boxes these are; 0 from *output_size on
    count output_size -- how many boxes were taken
    """,
    order="descs ranks dtypes(boxes scores dets) hook(has_index_dtype indices contract) numbers "
          "sizes(boxes scores dets indices) dense data_where_needed counts overlap",
    shape=SHAPE, keys=None, say=SAY,
    fill={"index_dtype": "indices.desc->dtype", "shape.boxes": "n", "iou_threshold": "iou_threshold.of(boxes.desc->dtype)",
          "offset": "static_cast<float>(args.offset)"},
    members="shape, float sigma, float min_score, mluOpExtSoftNmsMethod_t method, boxes, scores, dets, "
            "void* indices, output_size, double exact_sigma, double exact_min_score",
    notes={"boxes": "[boxes,4]", "scores": "[boxes]", "dets": "[boxes,5]",
           "exact_sigma": "sigma; in DOUBLE what the caller may have given more exactly",
           "exact_min_score": "likewise"})

operator("nms_match", "mluOpExtNmsMatch", 12, doc="""Groups boxes by suppression: every box belongs to the best box kept before it whose IoU with it is at least the
threshold, or is kept itself.

N = 0: SUCCESS, *group_count is 0. Source: mmcv's nms_match.""", args="""
    in dets T any [n, 5] -- x1, y1, x2, y2, score
    const float iou_threshold number exact
    out indices INT32 any [n] -- EXTENDED: INT64 too; the groups one after the other, best kept box first; in each the
        -- kept box, then those it suppresses, by score (equal scores: lower index first)
    out group_sizes INT32 any [n] -- the dtype of indices; boxes of each group; 0 from *group_count on
    count group_count -- number of groups
    """,
    order="descs ranks dtypes(dets) hook(has_index_dtype indices contract) hook(same_dtype group_sizes indices) numbers "
          "sizes(dets indices group_sizes) dense data_where_needed counts overlap",
    shape=SHAPE, keys=None, say=SAY,
    fill={"index_dtype": "indices.desc->dtype", "shape.boxes": "n", "iou_threshold": "iou_threshold.of(dets.desc->dtype)",
          "offset": "0.0F"},
    members="shape, dets, void* indices, void* group_sizes, group_count",
    notes={"shape": "offset is 0", "dets": "[boxes,5]"})
