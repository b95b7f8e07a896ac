/* BANG C for the emulated MLU, under the name kernel files include. */
#pragma once
#include "bang.h"
