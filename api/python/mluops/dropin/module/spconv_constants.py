"""spconv.constants: switches that programs set; without effect."""

__all__ = ["ALL_WEIGHT_IS_KRSC", "FILTER_HWIO", "SAVED_WEIGHT_LAYOUT", "SPCONV_ALLOW_TF32", "SPCONV_USE_DIRECT_TABLE"]

PACKAGE = "spconv"
NAMES = ("spconv.constants",)
OF_OUR_PACKAGE = True

ALL_WEIGHT_IS_KRSC = True  # as the weights are
FILTER_HWIO = False
SAVED_WEIGHT_LAYOUT = ""
SPCONV_ALLOW_TF32 = False
SPCONV_USE_DIRECT_TABLE = True
