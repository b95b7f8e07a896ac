"""One file per operator: its torch.library operators with fake kernels and derivatives, its public function, its
modules. Adding a file is enough: every module here is imported, and what it names in __all__ becomes part of
mluops.torch. A file takes what all share from _blocks.py, and holds, in this order (psa_mask.py is a short example):

    gradient = described("name_backward(grad, size)", BACKWARD)
    forward = described("name(features, size)", FORWARD, gradient=gradient, linear="features")

where FORWARD and BACKWARD are the C functions that _functions/<family>.py has from the family's description:
described() (_described.py) takes types, sizes, dtypes and limits from there. What is no C function of its own is made by
operator("schema", _fake, _call, setup=..., backward=..., jvp=...): `_fake(*inputs)` states and checks shapes, once, and
allocates the outputs, `_call(outputs, *inputs)` fills them. Then the public function: floats(), int32() and index32()
check and promote its tensors, integer() and pair() its numbers, in_order_of() gives all images of the call one memory
order, that in which new_image() allocates results. SMALLEST has the smallest call of each operator that operator() made,
or that is called otherwise than its function, given makers of ones and of int32 zeros: what `python -m mluops` tries. Those
of described() follow from the description.

mluops/mmcv/op/<name>.py holds the entry points of mmcv's extension.
"""
