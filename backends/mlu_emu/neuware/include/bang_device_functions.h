/* The words, under a name some programs include. */
#pragma once
#include "bang.h"
