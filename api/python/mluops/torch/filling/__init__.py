"""One file per operator: its functions as compiled extensions have them, which fill the buffers they are given.

Names and argument orders are mmcv's; the doors mluops.mmcv and mluops.dropin are thin over them. Mixed dtypes are
promoted for the computation; a buffer that does not fit raises BadParamError or TypeError with its name.
"""
