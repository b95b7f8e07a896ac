// Calls that no description tells how to make wrong, as text: calls of cases, and below them, indented, what each of
// them answers to changes (described.h has the words): a status and a part of the text. After SUCCESS: whether outputs
// are written.
#include <gtest/gtest.h>

#include <map>
#include <sstream>

#include "test/validation/described.h"

namespace mluops::test {
namespace {

constexpr const char* kText = R"(
roipoint_pool3d b=2 n=9 m=3 c=5 s=4
  points.1+1 point_features.1+1 -> BAD_PARAM pts_num
nms n=7 boxes=uniform
  confidence:HALF -> SUCCESS written
  EXTENDED boxes:DOUBLE confidence:HALF -> BAD_PARAM confidence: wanted the dtype of boxes
  boxes#9,7 -> BAD_PARAM confidence: wanted NULL with boxes of 7 numbers
  boxes#9,7 confidence!data -> BAD_PARAM confidence: wanted NULL with boxes of 7 numbers
  boxes#9,7 confidence!desc -> BAD_PARAM confidence: wanted NULL with boxes of 7 numbers
nms n=9 box=3d boxes=uniform iou=0.3
  output#8 -> BAD_PARAM output: wanted dimension 0 to be >= 9
  output#9,5 -> BAD_PARAM output: wanted 1 dimension
  output:FLOAT -> BAD_PARAM output: wanted dtype DTYPE_INT32, DTYPE_UINT32, got
  boxes:INT32 -> BAD_PARAM boxes: wanted
  boxes#0,7 -> SUCCESS written
ps_roi_pool_forward b=2 h=6 w=7 d=5 r=4 ph=3 pw=3 scale=1 rois=inside
ps_roi_pool_backward b=2 h=6 w=7 d=5 r=4 ph=3 pw=3 scale=1 rois=inside
  pw=2 -> BAD_PARAM pooled_width: wanted pooled_height (3), got 2
  mapping_channel!desc -> BAD_PARAM mapping_channel: wanted descriptor and data both given or both NULL
ps_roi_pool_forward b=2 h=6 w=7 d=5 r=4 ph=3 pw=3 scale=1 rois=inside
  output.0=0 mapping_channel.0=0 rois.0=0 -> BAD_PARAM rois: wanted a non-empty tensor
  EXTENDED output.0=0 mapping_channel.0=0 rois.0=0 -> SUCCESS untouched
  input:HALF output:HALF rois:HALF -> BAD_PARAM dtype
ps_roi_pool_backward b=2 h=6 w=7 d=5 r=4 ph=3 pw=3 scale=1 rois=inside
  top_grad.0=0 mapping_channel.0=0 rois.0=0 -> BAD_PARAM rois: wanted a non-empty tensor
  EXTENDED top_grad.0=0 mapping_channel.0=0 rois.0=0 -> SUCCESS written
  bottom_grad:HALF top_grad:HALF rois:HALF -> BAD_PARAM dtype
masked_im2col_forward c=5 h=6 w=7 m=9 kh=3 kw=2
  kh=1000003 -> BAD_PARAM data_col: wanted dimension 0 to be 5 channels
  data_col#30,0 mask_h_idx#0 mask_w_idx#0 -> SUCCESS untouched
masked_col2im_forward c=5 h=6 w=7 m=9
  col#5,0 mask_h_idx#0 mask_w_idx#0 -> SUCCESS written
roi_crop_forward b=2 h=6 w=7 c=5 grids=3 oh=2 ow=4 grid=inside
  grid.0=5 output.0=5 -> BAD_PARAM grid: wanted dimension 0 to be a multiple of 2
roi_crop_backward b=2 h=6 w=7 c=5 grids=3 oh=2 ow=4 grid=inside
  grid.0=5 grad_output.0=5 -> BAD_PARAM grid: wanted dimension 0 to be a multiple of 2
carafe_forward n=2 h=3 w=4 c=6 k=3 g=2 s=2
carafe_backward n=2 h=3 w=4 c=6 k=3 g=2 s=2
  g=3 -> BAD_PARAM group_size * kernel_size * kernel_size
  k=5 -> BAD_PARAM group_size * kernel_size * kernel_size
  s=3 -> BAD_PARAM scale_factor * height of input
carafe_forward n=2 h=3 w=4 c=6 k=3 g=2 s=2
  g=4 mask.3=36 -> BAD_PARAM input: wanted channels divisible by group_size 4, got 6
  input.0=0 mask.0=0 output.0=0 input!data mask!data output!data -> SUCCESS untouched
  k=47 input#1,1,1,6 mask#1,2,2,4418 output#1,2,2,6 -> NOT_SUPPORTED kernel_size: wanted <= 45, got 47
  s=6 input#1,1,1,6 mask#1,6,6,18 output#1,6,6,6 -> NOT_SUPPORTED scale_factor: wanted <= 5, got 6
  EXTENDED k=47 s=6 input#1,1,1,6 mask#1,6,6,4418 output#1,6,6,6 -> SUCCESS written
carafe_backward n=2 h=3 w=4 c=6 k=3 g=2 s=2
  g=4 mask.3=36 grad_mask.3=36 -> BAD_PARAM input: wanted channels divisible by group_size 4, got 6
  k=139 s=1 input#1,1,1,6 mask#1,1,1,38642 grad_output#1,1,1,6 grad_input#1,1,1,6 grad_mask#1,1,1,38642
    -> NOT_SUPPORTED kernel_size: wanted <= 137, got 139
  EXTENDED k=139 s=1 input#1,1,1,6 mask#1,1,1,38642 grad_output#1,1,1,6 grad_input#1,1,1,6 grad_mask#1,1,1,38642
    -> SUCCESS written
  input.0=0 mask.0=0 grad_output.0=0 grad_input.0=0 grad_mask.0=0
    input!data mask!data grad_output!data grad_input!data grad_mask!data -> SUCCESS untouched
dcn_forward n=2 h=5 w=6 ci=4 co=6 kh=2 kw=3 g=2 dg=2 stride=2
dcn_backward_data n=2 h=5 w=6 ci=4 co=6 kh=2 kw=3 g=2 dg=2 stride=2
  filter.1=9 -> BAD_PARAM filter: wanted height that fits
  filter.1=0 -> BAD_PARAM filter: wanted a non-empty tensor
dcn_backward_weight n=2 h=5 w=6 ci=4 co=6 kh=2 kw=3 g=2 dg=2 stride=2
  grad_filter.1=9 -> BAD_PARAM grad_filter: wanted height that fits
  grad_filter.1=0 -> BAD_PARAM grad_filter: wanted a non-empty tensor
dcn_forward n=2 h=5 w=6 ci=4 co=6 kh=2 kw=3 g=2 dg=2 stride=2
dcn_backward_data n=2 h=5 w=6 ci=4 co=6 kh=2 kw=3 g=2 dg=2 stride=2
dcn_backward_weight n=2 h=5 w=6 ci=4 co=6 kh=2 kw=3 g=2 dg=2 stride=2
  mask!data -> BAD_PARAM mask: wanted descriptor and data both given or both NULL
  g=3 -> BAD_PARAM conv_group: wanted a divisor of the 4 channels of input
  dg=3 -> BAD_PARAM deformable_group: wanted a divisor of the 4
  g=4 -> BAD_PARAM conv_group: wanted a divisor of the 6 channels of
dcn_backward_data n=2 h=5 w=6 ci=4 co=6 kh=2 kw=3 g=2 dg=2 stride=2
  mask!desc mask!data -> BAD_PARAM grad_mask: wanted it exactly when mask is given, got only grad_mask
  grad_mask!desc grad_mask!data -> BAD_PARAM grad_mask: wanted it exactly when mask is given, got only mask
indice_convolution_backward_data l=9 m=7 ci=5 co=3
  filters@NTC -> BAD_PARAM filters: wanted layout LAYOUT_ARRAY, _NDHWC or _NCDHW, got
  filters@HWCN -> BAD_PARAM filters: wanted layout LAYOUT_ARRAY, _NDHWC or _NCDHW, got
indice_convolution_backward_data l=9 m=7 ci=5 co=3 filters=channels_last
  filters@NHWC -> BAD_PARAM filters: wanted layout LAYOUT_ARRAY, _NDHWC or _NCDHW, got
indice_convolution_backward_data l=9 m=7 ci=5 co=3 axes=2
  filters@NTC -> BAD_PARAM filters: wanted layout LAYOUT_ARRAY, _NHWC, _NCHW or _HWCN, got
indice_convolution_backward_data l=9 m=7 ci=5 co=3 filters=channels_last axes=2
  filters@NDHWC -> BAD_PARAM filters: wanted layout LAYOUT_ARRAY, _NHWC, _NCHW or _HWCN, got
indice_convolution_forward l=9 m=7 ci=5 co=3
  filters@NTC -> NOT_SUPPORTED filters: wanted layout
generate_proposals_v2 n=1 h=3 w=5 a=6 pre=40 post=7
  scores.0=0 bbox_deltas.0=0 im_shape.0=0 rpn_rois.0=0 rpn_roi_probs.0=0 rpn_rois_num.0=0 -> SUCCESS written
yolo_box n=2 s=3 c=5 h=4 w=6
  x#2,31,4,6 -> BAD_PARAM (anchors times 5 + class_num)
  iou_aware=1 -> BAD_PARAM (anchors times 6 + class_num)
  iou_aware=1 x#2,33,4,6 factor=1.5 -> BAD_PARAM iou_aware_factor: wanted >= 0 and <= 1, got 1.5
  iou_aware=1 x#2,33,4,6 factor=nan -> BAD_PARAM iou_aware_factor: wanted >= 0 and <= 1, got nan
  x.2=0 boxes.3=0 scores.3=0 -> SUCCESS untouched
prior_box h=3 w=2 sizes=5 ratios=6 squares=1
  max_sizes#4 -> BAD_PARAM max_sizes: wanted dimension 0 to be 5
  max_sizes#0 -> BAD_PARAM output: wanted dimension 2 to be 30
  output#3,2,34,4 var#3,2,34,4 -> BAD_PARAM output: wanted dimension 2 to be 35
  h=0 output.0=0 var.0=0 -> SUCCESS untouched
ms_deform_attn_forward b=2 q=5 m=3 d=7 l=2 p=4 h=5 w=6
  data_spatial_shapes[0]=8 -> BAD_PARAM data_spatial_shapes: wanted maps among the 39 pixels of data_value
  data_spatial_shapes[2]=-3 -> BAD_PARAM data_spatial_shapes: wanted maps among the 39 pixels of data_value
  data_level_start_index[0]=-1 -> BAD_PARAM data_spatial_shapes: wanted maps among the 39 pixels of data_value
  data_level_start_index[1]=31 -> BAD_PARAM data_spatial_shapes: wanted maps among the 39 pixels of data_value
ms_deform_attn_backward b=2 q=5 m=3 d=7 l=2 p=4 h=5 w=6
  spatial_shapes[0]=8 -> BAD_PARAM spatial_shapes: wanted maps among the 39 pixels of value
  spatial_shapes[2]=-3 -> BAD_PARAM spatial_shapes: wanted maps among the 39 pixels of value
  level_start_index[0]=-1 -> BAD_PARAM spatial_shapes: wanted maps among the 39 pixels of value
  level_start_index[1]=31 -> BAD_PARAM spatial_shapes: wanted maps among the 39 pixels of value
focal_loss_sigmoid_forward n=5 c=7
focal_loss_sigmoid_backward n=5 c=7
  target[1]=8 -> BAD_PARAM target: wanted a class or background (at most 7), got 8 in row 1
focal_loss_softmax_forward n=5 c=7
focal_loss_softmax_backward n=5 c=7
  target[1]=7 -> BAD_PARAM target: wanted a class or a negative number (at most 6), got 7 in row 1
focal_loss_sigmoid_forward n=5 c=7 weight=1
focal_loss_sigmoid_backward n=5 c=7 weight=1
  target[1]=-1 -> BAD_PARAM target: wanted a class with a weight (at most 6), got -1
  target[1]=7 -> BAD_PARAM target: wanted a class with a weight (at most 6), got 7
  weight.0=0 weight!data -> SUCCESS written
focal_loss_softmax_forward n=5 c=7 weight=1
focal_loss_softmax_backward n=5 c=7 weight=1
  weight.0=0 weight!data -> SUCCESS written
bbox_overlaps n=3 m=5
box_iou_rotated n=3 m=5
box_iou_quadri n=3 m=5
  mode=2 -> BAD_PARAM mode: wanted >= 0 and <= 1, got 2
  ious#3 -> BAD_PARAM ious: wanted 2 dimensions
  ious#3,4 -> BAD_PARAM ious: wanted dimension 1 to be 5
bbox_overlaps n=4 aligned=1
box_iou_rotated n=4 aligned=1
box_iou_quadri n=4 aligned=1
  ious#4,1 -> BAD_PARAM ious: wanted 1 dimension
  ious#3 -> BAD_PARAM ious: wanted dimension 0 to be 4
bbox_overlaps n=3 m=5
  offset=2 -> BAD_PARAM offset: wanted >= 0 and <= 1, got 2
bbox_overlaps n=1 aligned=1
  bbox1#0,4 bbox2#0,4 ious#0 -> SUCCESS untouched
  bbox1#0,4 bbox2#0,4 ious#0,1 -> SUCCESS untouched
box_iou_quadri n=3 m=5
  bbox2#0,8 ious#3,0 -> SUCCESS untouched
convex_iou n=3 k=5
  polygons#0,8 ious#3,0 -> SUCCESS untouched
points_in_polygons n=3 m=5
  inside:INT32 -> BAD_PARAM inside: wanted dtype DTYPE_FLOAT, got DTYPE_INT32
  polygons#0,8 inside#3,0 -> SUCCESS untouched
roi_align_rotated_forward b=2 h=6 w=7 c=5 r=4 ph=2 pw=3 scale=1 rois=inside
roi_align_rotated_backward b=2 h=6 w=7 c=5 r=4 ph=2 pw=3 scale=1 rois=inside
  ratio=257 -> NOT_SUPPORTED sample_ratio: wanted at most 256
bezier_align_forward b=2 h=6 w=7 c=5 r=4 ph=2 pw=3 scale=1 rois=inside
bezier_align_backward b=2 h=6 w=7 c=5 r=4 ph=2 pw=3 scale=1 rois=inside
  ratio=257 -> NOT_SUPPORTED sampling_ratio: wanted at most 256
bezier_align_backward b=2 h=6 w=7 c=5 r=4 ph=2 pw=3 scale=1 rois=inside
  grad_output#4,0,3,5 -> SUCCESS written
ball_query b=2 m=5 n=7 s=4 max=1
  s=0 idx.2=0 -> SUCCESS untouched
roi_align_backward b=1 h=6 w=7 c=5 r=4 ph=2 pw=3 scale=1 ratio=2 rois=inside pool=greatest
  EXTENDED grads@NCHW grads#4,5,0,3 argmax_x@NCHW argmax_x#4,5,0,3 argmax_y@NCHW argmax_y#4,5,0,3
    grads_image@NCHW grads_image#1,5,6,7 -> BAD_PARAM height of grads: wanted >= 1, got 0
  EXTENDED grads@NCHW grads#4,5,2,0 argmax_x@NCHW argmax_x#4,5,2,0 argmax_y@NCHW argmax_y#4,5,2,0
    grads_image@NCHW grads_image#1,5,6,7 -> BAD_PARAM width of grads: wanted >= 1, got 0
border_align_backward n=2 h=4 w=5 c=3 k=7 p=2 argmax=uniform
  p=65536 -> NOT_SUPPORTED pool_size: wanted fewer than 65536, got 65536
border_align_forward n=2 h=4 w=5 c=3 k=7 p=2
  input.3=0 output.3=0 argmax_idx.3=0 -> BAD_PARAM input: wanted a non-empty tensor
deform_roi_pool_forward b=2 h=5 w=6 c=4 r=3 ph=3 pw=2 scale=1 gamma=1
  offset!desc offset!data -> SUCCESS written
deform_roi_pool_backward b=2 h=5 w=6 c=4 r=3 ph=3 pw=2 scale=1 gamma=1
  offset!desc offset!data -> BAD_PARAM grad_offset: wanted it exactly when offset is given, got only grad_offset
  grad_offset!desc grad_offset!data -> BAD_PARAM grad_offset: wanted it exactly when offset is given, got only offset
  offset!desc offset!data grad_offset!desc grad_offset!data -> SUCCESS written
psamask_forward n=2 h=4 w=5 hm=3 wm=2 type=0
  hm=0 x.3=0 -> SUCCESS untouched
  EXTENDED x:INT8 y:INT8 -> BAD_PARAM x: wanted dtype
psamask_backward n=2 h=4 w=5 hm=3 wm=2 type=1
  hm=0 dx.3=0 -> SUCCESS untouched
  EXTENDED dy:INT8 dx:INT8 -> BAD_PARAM dy: wanted dtype
correlation_forward n=2 h=6 w=7 c=5 displacement=1 kh=2 kw=3 ph=2 pw=1
correlation_backward n=2 h=6 w=7 c=5 displacement=1 kh=2 kw=3 ph=2 pw=1
  dw=2000000000 -> BAD_PARAM kernel_w: wanted a window inside of 7 pixels and their padding
  displacement=2000000000 -> BAD_PARAM output: wanted dimension 1 to be 4000000001 (2 max_displacement + 1)
  sh=2 -> BAD_PARAM output: wanted dimension 3 to be 5 (the windows down)
  pw=2 -> BAD_PARAM output: wanted dimension 4 to be 9 (the windows across)
upfirdn2d n=2 h=6 w=7 c=5 fh=3 fw=4 ux=2 dy=2 x0=2 x1=1 y0=1
  x1=-2147483647 -> BAD_PARAM filter: wanted at most the -2147483631 columns of the padded input, got 4
  ux=2147483647 -> BAD_PARAM output: wanted dimension 2 to be 15032385529 (the filtered columns)
  dx=3 -> BAD_PARAM output: wanted dimension 2 to be 5 (the filtered columns)
prroi_pool_backward b=2 h=6 w=7 c=5 r=4 ph=2 pw=3 scale=1 rois=inside
  grad_input!desc grad_input!data grad_rois!desc grad_rois!data -> BAD_PARAM grad_input: wanted it or grad_rois, got neither
)";

const std::map<std::string, mluOpStatus_t> kStatuses = {{"SUCCESS", MLUOP_STATUS_SUCCESS},
                                                        {"BAD_PARAM", MLUOP_STATUS_BAD_PARAM},
                                                        {"NOT_SUPPORTED", MLUOP_STATUS_NOT_SUPPORTED}};

struct Table {
  std::vector<std::string> calls;
  std::vector<Wrong> rows;
};

/// "changes -> STATUS text"
Wrong row(const std::string& line) {
  const std::size_t arrow = line.find("->"), space = line.find(' ', arrow + 3);
  const std::string words = line.substr(0, arrow);
  return {words, changes(words), kStatuses.at(line.substr(arrow + 3, space - arrow - 3)), line.substr(space + 1)};
}

std::vector<Table> tables() {
  std::vector<Table> made(1);
  std::istringstream text(kText);
  std::string line, begun;
  while (std::getline(text, line)) {
    if (line.empty()) continue;
    if (line[0] != ' ') {
      if (!made.back().rows.empty()) made.emplace_back();
      made.back().calls.push_back(line);
    } else if (begun += line; line.find("->") != std::string::npos) {
      made.back().rows.push_back(row(begun));
      begun.clear();
    }
  }
  return made;
}

TEST(WrongCalls, AnswerAsTheTableSays) {
  for (const Table& table : tables()) {
    for (const std::string& call : table.calls) {
      SCOPED_TRACE(call);
      check_table(OpCall(Case::parse(call)), table.rows);
    }
  }
}

/// Calls that the smallest case of their operator is not: with weights, and with groups, which another C function
/// takes.
TEST(WrongCalls, FollowFromTheDescriptionOfOtherCases) {
  for (const std::string direction : {"forward", "backward"}) {
    for (const std::string loss : {"sigmoid", "softmax"}) {
      const OpCall base(Case::parse("focal_loss_" + loss + "_" + direction + " n=5 c=7 weight=1"));
      check_table(base, described(base));
    }
    OpCall groups(Case::parse("gather_points_" + direction + " b=2 c=3 n=7 m=4 s=5"));
    groups.function = direction == "forward" ? "mluOpExtGroupPoints" : "mluOpExtGroupPointsBackward";
    check_table(groups, described(groups));
  }
}

}  // namespace
}  // namespace mluops::test
