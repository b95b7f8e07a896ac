#include "bench/engine/row.h"

#include "bench/machine/median.h"

namespace bench {

const char* verdict_name(Verdict verdict) {
  switch (verdict) {
    case Verdict::ok:
      return "ok";
    case Verdict::wrong:
      return "WRONG";
    case Verdict::failed:
      return "FAILED";
    case Verdict::declined:
      return "declined";
    case Verdict::absent:
      return "absent";
  }
  return "?";
}

double Row::median() const {
  return median_of(seconds);
}

}  // namespace bench
