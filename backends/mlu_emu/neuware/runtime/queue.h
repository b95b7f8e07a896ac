// Queues and notifiers. Work is done when it is put on a queue; a queue keeps its modelled time and its first error.
#pragma once

#include <string>

#include "backends/mlu_emu/neuware/include/cnrt.h"

struct cnrtQueue {
  double time_ns = 0;
  cnrtRet_t error = cnrtSuccess;
  std::string fault;  // what the error is about
};

struct cnrtNotifier {
  double time_ns = 0;
};

namespace neuware {

/// The queue, or the default one for NULL; nullptr for what is no queue, or no longer one.
cnrtQueue* queue_of(cnrtQueue_t queue);

}  // namespace neuware
