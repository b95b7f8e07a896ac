"""One file per operator: its numpy functions, generated from its description (api/operators). Every module here is
imported, and what it names in __all__ becomes a function of mluops; SMALLEST has a call to try it with.

Arrays are NHWC like those of the C API; dtypes float32 and float16 (float64 under the extended contract), the same for
all arrays T of a call. Inputs that are not C-contiguous are copied; `out` arrays must be C-contiguous and of the right
shape and dtype, are overwritten, and are returned. A call with an empty array gives zeros.

Every function raises BadParamError (a ValueError) or TypeError naming the argument, what was wanted and what was got.
"""
