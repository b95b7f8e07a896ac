// The sigmoid focal loss on the device: rows are shared out, blocks of them run through NRAM in three stages.
#pragma once

#include "backends/mlu_emu/plan/plan.h"
#include "mluops/problem/focal_loss.h"

namespace mluops::emu::plan {

/// A task has a contiguous share of the rows and cuts it into blocks of block_rows x block_classes. Only where NRAM
/// does not hold one row are classes cut, in forward alone: backward declines.
/// NRAM: | weight | compute: 2 arrays of float; half: 4 | ping: input, output, target | pong: the same |. Rows lie
/// `pitch` elements apart. Arrays have whole units of 64 elements.
struct FocalLossPlan : Plan {
  std::int64_t rows = 0, classes = 0;
  std::int64_t block_rows = 0, block_classes = 0, pitch = 0;
  std::int64_t weight = 0;       ///< byte offsets, these and the next
  std::int64_t compute[4] = {};  ///< float: of the first two alone
  std::int64_t input[2] = {}, output[2] = {}, target[2] = {};

  bool whole_rows() const { return block_classes == classes; }
};

FocalLossPlan plan_focal_loss_sigmoid(const mluopsFocalLossShape& shape, Direction direction, bool weighted,
                                      const Machine& machine);

}  // namespace mluops::emu::plan
