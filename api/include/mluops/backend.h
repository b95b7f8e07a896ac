/* The plugin ABI: a backend is one constant struct of function pointers, version first.
 *
 * A plugin is a shared object that exports the data symbol `mluops_backend` of type mluopsBackend (no function of
 * it is called before abi_version has been read). Name its absolute path in MLUOP_BACKEND_PATH. docs/plugin.md
 * walks through one. Built-in backends use the same struct.
 */
#ifndef MLUOPS_BACKEND_H_
#define MLUOPS_BACKEND_H_

#include "mlu_op_ext.h"
#include "mluops/backend_types.h"
#include "mluops/problem.h"

#endif /* MLUOPS_BACKEND_H_ */
