// Kinds of work of the vector unit, which take it different times a lane.
#pragma once

#include "backends/mlu_emu/device/rates.h"

namespace mluops::emu {

enum class Work { kPlain, kElementary, kConvert, kRearrange, kPool, kReduce };

/// By the word's name, as the vendor's manual has it.
Work work_of(const char* word);

/// Times what a lane of a plain word takes.
double cost_of(Work work, const Rates& rates);

}  // namespace mluops::emu
