/* Undefines the version of the API: mlu_op.h of this tree has another. */
#undef MLUOP_MAJOR
#undef MLUOP_MINOR
#undef MLUOP_PATCHLEVEL
