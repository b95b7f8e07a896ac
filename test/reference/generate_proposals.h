// GenerateProposalsV2, each pair by itself, in double throughout.
#pragma once

#include "test/reference/reference.h"

namespace mluops::reference {

struct GenerateProposalsResult {
  Values rois;   ///< [n*post,4], zeros behind
  Values probs;  ///< [n*post], zeros behind
  Values num;    ///< [n]
  Values batch_size;
};
GenerateProposalsResult generate_proposals(const mluopsGenerateProposalsProblem& problem);

}  // namespace mluops::reference
