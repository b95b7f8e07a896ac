"""GenerateProposalsV2."""
from api.generate.describe import *

family("GenerateProposalsV2", "mlu_op.h of mlu-ops and its design document.",
       letters={"deltas": "4 A", "rows": "N post_nms_top_n"})

shape("mluopsGenerateProposalsShape", "n /* may be 0 */; h, w, a /* h * w * a < 2^31 */",
      "scores [n,h,w,a], bbox_deltas [n,h,w,4*a], im_shape [n,2], anchors and variances [h,w,a,4], rpn_rois "
      "[n*post_nms_top_n,4], rpn_roi_probs [n*post_nms_top_n], rpn_rois_num [n].")

getter("mluOpGetGenerateProposalsV2WorkspaceSize", "generate_proposals_v2", "scores",
       "handle desc_pointers(scores) size ranks(scores) layouts(scores) nonzero", more="H, W or A = 0, or another layout than ARRAY: BAD_PARAM.",
       size="size")

alias("mluOpGetGenerateProposalsV2WorkspaceSize_v2", "mluOpGetGenerateProposalsV2WorkspaceSize", "",
      "const int32_t pre_nms_top_n")

SAY = {"n": "the batch of scores", "h": "the height of scores", "w": "the width of scores", "a": "the anchors of scores",
       "deltas": "4 of each anchor", "2": "height, width", "anchors.4": "of a box", "variances.4": "of a box",
       "rows": "the batch of scores times post_nms_top_n", "rpn_rois.4": "x1, y1, x2, y2", "1": "a score"}

operator("generate_proposals_v2", "mluOpGenerateProposalsV2", 68, doc="""Proposes RoIs: of the anchors of the best scores, moved by their deltas, clipped to the image and large enough,
those whose IoU with every better one that is kept is not greater than a threshold.

What is kept is decided in double. H, W or A of 0: BAD_PARAM. 2^31 anchors or more: NOT_SUPPORTED. Cost: at most
pre_nms_top_n times post_nms_top_n pairs an image. Source: Ren et al., "Faster R-CNN", NIPS 2015; Paddle's
generate_proposals; docs/op/generate_proposals.md.""", args="""
    const int pre_nms_top_n -- the most anchors of an image that are looked at; <= 0: all
    const int post_nms_top_n >= 1 -- the most that are kept
    const float nms_thresh > 0
    const float min_size -- the least side of a RoI, not below 1
    const float eta -- of adaptive suppression, which is not done; >= 1
    bool pixel_offset -- a side is 1 longer, and the centre of a RoI lies in the image
    in scores T [n, h, w, a] -- NaN counts as the best, equal ones are taken in order
    in bbox_deltas T [n, h, w, deltas] -- x, y, w, h
    in im_shape T [n, 2] py=img_size -- height, width
    in anchors T [h, w, a, 4] -- x1, y1, x2, y2
    in variances T [h, w, a, 4] -- what deltas are multiplied by
    workspace
    out rpn_rois T [rows, 4] py=rois -- the RoIs of all images, best first, zeros behind
    out rpn_roi_probs T [rows, 1] py=probs -- their scores, zeros behind
    out rpn_rois_num INT32 [n] py=num -- how many each image has. One without any gets one of zeros
    count rpn_rois_batch_size -- how many all have, with 0 where N = 0
    """,
    order="descs counts numbers adaptive ranks(scores) layouts(scores) nonzero ranks sizes dtypes "
          "layouts(scores bbox_deltas im_shape anchors variances) "
          "dense(scores bbox_deltas im_shape anchors variances) layouts(rpn_rois rpn_roi_probs rpn_rois_num) "
          "dense(rpn_rois rpn_roi_probs rpn_rois_num) few_anchors indexable(rpn_rois.0) "
          "data(scores: scores bbox_deltas im_shape anchors variances rpn_rois rpn_roi_probs rpn_rois_num) overlap",
    keys="n h w a pre=pre_nms_top_n post=post_nms_top_n iou=nms_thresh least=min_size offset=pixel_offset", problem="mluopsGenerateProposalsProblem",
    say=SAY, floats="FLOAT",
    derive={"deltas": "dim_product({4, a})", "rows": "dim_product({n, post_nms_top_n})", "all": "dim_product({h, w, a})"},
    rules={"adaptive": rule("eta.value >= 1", "eta: wanted >= 1, no adaptive suppression, got {eta.value}"),
           "nonzero": rule("h > 0 && w > 0 && a > 0", "scores: wanted a non-empty tensor, got {shape_text(scores)}",
                           wrong="scores.1=0"),
           "few_anchors": rule("all >= 0 && all <= 2147483647", "scores: wanted fewer than 2^31 anchors of an image, got more",
                               "NOT_SUPPORTED")},
    members="shape, scores, bbox_deltas, im_shape, anchors, variances, rpn_rois, rpn_roi_probs, rpn_rois_num, "
            "rpn_rois_batch_size, int64_t pre_nms_top_n, int64_t post_nms_top_n, nms_thresh, min_size, "
            "int32_t pixel_offset",
    notes={"scores": "these and all below: NULL where n = 0", "im_shape": "height, width",
           "rpn_rois_batch_size": "never NULL", "pre_nms_top_n": "<= 0: all",
           "post_nms_top_n": ">= 1; n times it < 2^31", "nms_thresh": "> 0", "min_size": "may be NaN: 1",
           "pixel_offset": "0 or 1"})
