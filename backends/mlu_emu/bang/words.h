// The words of BANG C: bang.h says how a kernel uses them; kernels compiled by cncc see the same declarations.
#pragma once

#include "backends/mlu_emu/bang/vector_registers.h"
#include "backends/mlu_emu/bang/words/activations.h"
#include "backends/mlu_emu/bang/words/atomics.h"
#include "backends/mlu_emu/bang/words/convert.h"
#include "backends/mlu_emu/bang/words/copies.h"
#include "backends/mlu_emu/bang/words/lanes.h"
#include "backends/mlu_emu/bang/words/memory.h"
#include "backends/mlu_emu/bang/words/select.h"
#include "backends/mlu_emu/bang/words/tensor_unit.h"
#include "backends/mlu_emu/bang/words/windows.h"
