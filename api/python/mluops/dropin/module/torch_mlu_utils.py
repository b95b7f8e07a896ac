"""torch_mlu.utils and torch_mlu.utils.cpp_extension: extensions with kernels in BANG C."""

PACKAGE = "torch_mlu"
NAMES = ("torch_mlu.utils", "torch_mlu.utils.cpp_extension")
OF_OUR_PACKAGE = True

__all__ = ["BuildExtension", "MLUExtension", "include_paths", "library_paths", "load", "load_inline"]


def __getattr__(name: str):
    if name in __all__:
        from ...mlu import cpp_extension
        return getattr(cpp_extension, name)
    raise AttributeError(name)
