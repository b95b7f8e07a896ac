"""spconv.constants: switches that programs set; without effect."""

__all__ = ["ALL_WEIGHT_IS_KRSC", "SAVED_WEIGHT_LAYOUT", "SPCONV_USE_DIRECT_TABLE"]

PACKAGE = "spconv"
NAMES = ("spconv.constants",)
OF_OUR_PACKAGE = True

ALL_WEIGHT_IS_KRSC = True  # as the weights are
SAVED_WEIGHT_LAYOUT = ""
SPCONV_USE_DIRECT_TABLE = True
