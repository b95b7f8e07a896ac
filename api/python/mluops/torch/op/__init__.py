"""One file per operator: its torch.library operators with fake kernels and derivatives, its public function, its
modules. Adding a file is enough: every module here is imported, and what it names in __all__ becomes part of
mluops.torch. A file holds, in this order (three_interpolate.py is a short example):

    forward = operator("name(Tensor features, int size) -> Tensor", _fake, _call, setup=..., backward=..., jvp=...)

where `_fake(*inputs)` states and checks shapes, once, and allocates the outputs (the kernel does so through it), and
`_call(outputs, *inputs)` returns run(FUNCTION, ...) with the tensors and numbers in the order of the C function.
FUNCTION is a CFunction (_function.py): its parts give the ctypes signature, the memory order of each tensor and the
names errors use. It stands with the shape rules in mluops/op/<name>.py where numpy has the operator too, else here. Then the public
function: floats(), int32() and index32() check and promote its tensors, integer() and pair() its numbers, in_order_of() gives all
images of the call one memory order, that in which new_image() allocates results. SMALLEST has a call to try it with.

mluops/mmcv/op/<name>.py holds the entry points of mmcv's extension.
"""
