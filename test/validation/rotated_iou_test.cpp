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
  check_table(OpCall(Case::parse("rotated_iou_forward b=2 n=3")),
              {{"six numbers", dims("box1", {2, 3, 6}), MLUOP_STATUS_BAD_PARAM,
                "box1: wanted dimension 2 to be 7 (numbers of a box, or 5 of a rectangle)"}});
}

TEST(RotatedIouValidation, Backward) {
  check_table(OpCall(Case::parse("rotated_iou_backward b=2 n=3 numbers=7")),
              {{"six numbers", dims("box1", {2, 3, 6}), MLUOP_STATUS_BAD_PARAM, "box1: wanted dimension 2 to be 7"}});
}

}  // namespace
}  // namespace mluops::test
