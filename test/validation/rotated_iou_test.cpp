// What RotatedIou refuses beyond what all operators do.
#include <gtest/gtest.h>

#include <string>

#include "test/validation/op_call.h"

namespace mluops::test {
namespace {

std::function<void(OpCall&)> dims(const std::string& name, const Dims& of) {
  return [=](OpCall& c) { c.arg(name).dims = of; };
}

TEST(RotatedIouValidation, Forward) {
  check_table(
      OpCall(Case::parse("rotated_iou_forward b=2 n=3")),
      {{"six numbers", dims("box1", {2, 3, 6}), MLUOP_STATUS_BAD_PARAM,
        "box1: wanted dimension 2 to be 7 (numbers of a box, or 5 of a rectangle)"},
       {"boxes and rectangles", dims("box2", {2, 3, 7}), MLUOP_STATUS_BAD_PARAM, "box2: wanted the shape of box1"},
       {"too few", dims("ious", {2, 2}), MLUOP_STATUS_BAD_PARAM, "ious: wanted dimension 1 to be 3"},
       {"one list", dims("ious", {1, 3}), MLUOP_STATUS_BAD_PARAM, "ious: wanted dimension 0 to be 2"}});
}

TEST(RotatedIouValidation, Backward) {
  check_table(OpCall(Case::parse("rotated_iou_backward b=2 n=3 numbers=7")),
              {{"six numbers", dims("box1", {2, 3, 6}), MLUOP_STATUS_BAD_PARAM, "box1: wanted dimension 2 to be 7"},
               {"a gradient of others", dims("grad_ious", {3, 2}), MLUOP_STATUS_BAD_PARAM,
                "grad_ious: wanted dimension 0 to be 2"},
               {"a short gradient", dims("grad_box1", {2, 2, 7}), MLUOP_STATUS_BAD_PARAM,
                "grad_box1: wanted the shape of box1"},
               {"one of rectangles", dims("grad_box2", {2, 3, 5}), MLUOP_STATUS_BAD_PARAM,
                "grad_box2: wanted the shape of box1"}});
}

}  // namespace
}  // namespace mluops::test
