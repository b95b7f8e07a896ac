"""One file per operator: the functions of mmcv's compiled extension for CPU tensors, with mmcv's names and argument
orders. Adding a file is enough. A file says in

    ENTRY_POINTS: its functions;
    METHODS (may be missing): {(module, autograd function, "forward" or "backward"): ours} for those of mmcv's Python
        code that ask for a CUDA device, {(module, function, ""): ours} where they are plain functions;
    KEEPS_OWN (may be missing): the functions a compiled mmcv has CPU code for and keeps;
    COMPOSED (may be missing): those of its functions that torch's operators compute, without a kernel of the library.

mmcv allocates the outputs (NCHW, zeroed) and passes them; results are copied into them, which is also their conversion
from channels_last. Mixed dtypes are promoted for the computation.
"""
