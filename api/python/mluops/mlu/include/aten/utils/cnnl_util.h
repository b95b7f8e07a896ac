// Beside tensor_util.h, which programs include with it, nothing of this header is needed here.
#pragma once

#include "aten/utils/tensor_util.h"
