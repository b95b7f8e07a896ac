// Behind bang.h in every .mlu file: what the file is called. cncc puts it there.
#pragma once

#include "neuware.h"
#include "neuware_by_address.h"

namespace {
// Each translation unit lays out its on-chip arrays for itself.
[[maybe_unused]] ::neuware::Unit neuware_unit{NEUWARE_FILE, __BANG_ARCH__};
}  // namespace
