"""The building blocks that the files of op/ share: checks and conversions of arguments, makers of operators."""

from .._arguments import Size, at_least, integer, named, pair, renamed
from .._errors import bad_param
from .._shapes import expect, rank
from ._counts import first
from ._described import described
from ._integers import index32, int32
from ._operator import filled, linear_tangent, no_derivative, no_tangent, no_tangents, operator
from ._rois import Rois, rois_of
from ._tensors import floats, in_order_of, is_tensor, run

__all__ = ["Rois", "Size", "at_least", "bad_param", "described", "expect", "filled", "first", "floats", "in_order_of",
           "index32", "int32", "integer", "is_tensor", "linear_tangent", "named", "no_derivative", "no_tangent",
           "no_tangents", "operator", "pair", "rank", "renamed", "rois_of", "run"]
