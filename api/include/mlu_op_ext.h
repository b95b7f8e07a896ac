/* What mluOp lacks: choosing backends, reading errors, threads, contracts. All names start with mluOpExt. */
#ifndef MLU_OP_EXT_H_
#define MLU_OP_EXT_H_

#include <stddef.h>

#include "mlu_op.h"

#if defined(__cplusplus)
extern "C" {
#endif

/* ---- this library ------------------------------------------------------------------------ */

/** Version of this library, e.g. "0.1.0" (mluOpGetLibVersion gives the version of the API). */
const char* mluOpExtGetVersion(void);

/** Why the last failing call of this thread failed; "" before any failure. Valid until this thread's next failure. */
const char* mluOpExtGetLastErrorText(void);

/* ---- backends ---------------------------------------------------------------------------- */

/** Number of known backends, built in and from MLUOP_BACKEND_PATH. */
int mluOpExtGetBackendCount(void);
/** Name of backend i; NULL outside [0, count). */
const char* mluOpExtGetBackendName(int i);
/** One line about backend i; NULL outside [0, count). */
const char* mluOpExtGetBackendDescription(int i);

/** Binds the handle to a backend or a comma-separated chain ("mine,cpu": the next is asked when the one before
 *  lacks the operator or answers NOT_SUPPORTED). NULL or "": as MLUOP_BACKEND says, else "cpu".
 *  BAD_PARAM: handle is NULL. NOT_INITIALIZED: a name is unknown or unusable. ALLOC_FAILED: no memory. The handle keeps
 *  what it had when this fails. */
mluOpStatus_t mluOpExtSetBackend(mluOpHandle_t handle, const char* chain);
/** The chain in force, e.g. "cpu". Valid until the next SetBackend or Destroy. BAD_PARAM: an argument is NULL. */
mluOpStatus_t mluOpExtGetBackend(mluOpHandle_t handle, const char** chain);
/** The backend that ran this handle's last successful operator; "" before any. BAD_PARAM: an argument is NULL. */
mluOpStatus_t mluOpExtGetLastRunBackend(mluOpHandle_t handle, const char** name);

/** Sets an option of one backend in the handle's chain (docs/environment.md lists them), e.g.
 *  ("cpu", "scatter", "atomic"). BAD_PARAM: NULL argument, backend not in the chain, unknown key or value. */
mluOpStatus_t mluOpExtSetOption(mluOpHandle_t handle, const char* backend, const char* key, const char* value);
/** Gives back the working memory that the handle's backends hold between calls; the next calls take what they need
 *  again. Without it a block is given back once 64 calls in a row used less than half of it. BAD_PARAM: handle is
 *  NULL. */
mluOpStatus_t mluOpExtReleaseMemory(mluOpHandle_t handle);
/** Reads a property of one backend in the chain into buffer (at most size bytes, NUL-terminated); *length, if not
 *  NULL, gets the whole length without NUL. ("cpu", "isa") gives e.g. "AVX512"; "operators" the names of what any has.
 *  BAD_PARAM: handle, backend or key NULL, backend not in the chain, unknown key, or buffer NULL with size > 0. */
mluOpStatus_t mluOpExtQuery(mluOpHandle_t handle, const char* backend, const char* key, char* buffer, size_t size,
                            size_t* length);

/* ---- threads -----------------------------------------------------------------------------
 *
 * What may be shared: one handle may be used from several threads. Its operator calls, SetBackend, SetOption and Query
 * run one at a time, a second thread waits. Settings (threads, executor, contract, atomics mode, queue, round mode) may
 * be read and set at any time and never wait; a call goes by what it finds when it starts, an executor must live until
 * the calls that found it have returned. A text that GetBackend gave ends with the next SetBackend of any thread.
 * Destroy a handle when no other thread uses it. A descriptor may be read by any number of calls while none sets it.
 * After fork() a child may use the handles that no other thread was using, and make new ones.
 */

/** Threads for this handle's calls; 0 returns to MLUOP_NUM_THREADS, OMP_NUM_THREADS, or the affinity mask.
 *  BAD_PARAM: handle NULL or threads < 0. */
mluOpStatus_t mluOpExtSetNumThreads(mluOpHandle_t handle, int threads);
/** The number in force (never 0). BAD_PARAM: an argument is NULL. */
mluOpStatus_t mluOpExtGetNumThreads(mluOpHandle_t handle, int* threads);

/** Runs this handle's parallel loops on the caller's pool; NULL returns to the library's own.
 *  The struct is copied. BAD_PARAM: handle NULL or parallel_for NULL. */
mluOpStatus_t mluOpExtSetExecutor(mluOpHandle_t handle, const mluOpExtExecutor_t* executor);

/* ---- contract ---------------------------------------------------------------------------- */

/** BAD_PARAM: handle NULL or a value not in the enumeration. */
mluOpStatus_t mluOpExtSetContract(mluOpHandle_t handle, mluOpExtContract_t contract);
/** BAD_PARAM: an argument is NULL. */
mluOpStatus_t mluOpExtGetContract(mluOpHandle_t handle, mluOpExtContract_t* contract);

/** The float arguments of this thread's next operator call on the handle, as doubles: for tensors of DOUBLE, whose
 *  results would otherwise be those of rounded numbers (a threshold of 0.7 is 0.69999998807907104 as a float).
 *  values[count]: one for each float of the C function, in its order (mluOpRoiAlignForward_v2: the spatial_scale of its
 *  descriptor). The call must be given the same numbers, rounded to float, or it is BAD_PARAM and names the argument;
 * so is a count that is not its own. A call on tensors of another dtype computes with its floats. The next operator
 * call ends it, whatever its status; functions that compute nothing, such as those of workspaces and descriptors, do
 * not. count 0: nothing is given any more. mluOpNms takes none: mluOpExtSetNmsDescriptor has doubles. BAD_PARAM: handle
 * NULL, count < 0 or > 16, values NULL with count > 0. */
mluOpStatus_t mluOpExtSetScalars(mluOpHandle_t handle, const double* values, int count);

#if defined(__cplusplus)
}
#endif

#endif /* MLU_OP_EXT_H_ */
