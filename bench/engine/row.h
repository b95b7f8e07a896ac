// One line of the table: a case on a target.
#pragma once

#include <string>
#include <vector>

#include "bench/engine/accuracy.h"
#include "bench/machine/machine.h"

namespace bench {

enum class Verdict {
  ok,
  wrong,     ///< ran, but the outputs are not those of the reference
  failed,    ///< a status that is neither SUCCESS nor NOT_SUPPORTED, or a required backend does not run it
  declined,  ///< NOT_SUPPORTED with a reason
  absent,    ///< the backend has no such operator
};

const char* verdict_name(Verdict verdict);

struct Row {
  std::string op, shape, dtype, backend;
  int threads = 1;
  bool reduced = false;  ///< a smaller case of the same kind ran
  Verdict verdict = Verdict::absent;
  std::string reason;  ///< why the verdict is not ok
  double read_bytes = 0, write_bytes = 0, flops = 0;
  std::vector<double> seconds;  ///< of each measured call, sorted
  Roof roof;                    ///< measured between these calls, the best of it; none where Settings::machine is not
  double floor = 0;             ///< seconds of moving the same bytes only (Floor); 0: not measured
  double warm = 0;              ///< seconds of the same call again and again on one set; 0: not measured, or too large
  double line_bytes = 0;        ///< read_bytes in whole cache lines, where floor was measured
  bool checked = false;
  double peer = 0;  ///< seconds of the same as a composition of stock PyTorch; 0: not measured
  Accuracy accuracy;
  double threshold = 0;

  bool measured() const { return !seconds.empty(); }
  double median() const;
  double least() const { return seconds.front(); }
  /// Seconds, and which figure of the roof they come from.
  double bound() const { return roof.bound(read_bytes, write_bytes, flops); }
  const char* limit() const { return roof.limit(read_bytes, write_bytes, flops); }
  /// The bound with reads counted in whole cache lines.
  double line_bound() const { return roof.bound(line_bytes, write_bytes, flops); }
  double bytes() const { return read_bytes + write_bytes; }
  /// Share of the roof that the median call reaches; 1 is the bound.
  double share() const { return bound() / median(); }
};

}  // namespace bench
