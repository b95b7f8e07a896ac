// How the rows of a tensor are cut for sums over them: by its shape alone, so results do not depend on threads.
#pragma once

#include <algorithm>
#include <cstdint>

namespace mluops::cpu::sync_batch_norm {

/// Lines of x are summed in pieces that stay in the caches for a second look; pieces are joined in double, in their
/// order, into one of at most kMostParts parts; parts are joined at the end.
struct Cut {
  static constexpr std::int64_t kPieceElements = 8192, kMostParts = 64;

  std::int64_t piece_lines, pieces, part_pieces, parts;

  Cut(std::int64_t lines, std::int64_t width)
      : piece_lines(std::max<std::int64_t>(1, kPieceElements / width)),
        pieces((lines + piece_lines - 1) / piece_lines),
        part_pieces((pieces + kMostParts - 1) / kMostParts),
        parts((pieces + part_pieces - 1) / part_pieces) {}
};

}  // namespace mluops::cpu::sync_batch_norm
