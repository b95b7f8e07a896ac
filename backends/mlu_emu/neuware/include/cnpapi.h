/* The vendor's profiling interface. None of its functions is here: MLUOP_EMU_REPORT tells what a program's launches
 * did. Programs that only include it compile. */
#ifndef NEUWARE_CNPAPI_H_
#define NEUWARE_CNPAPI_H_

#include "cn_api.h"

#endif /* NEUWARE_CNPAPI_H_ */
