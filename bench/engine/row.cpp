#include "bench/engine/row.h"

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
  const std::size_t n = seconds.size();
  return n % 2 == 1 ? seconds[n / 2] : (seconds[n / 2 - 1] + seconds[n / 2]) / 2;
}

}  // namespace bench
