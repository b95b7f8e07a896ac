"""torch_mlu: device mlu of torch, over the emulated machine; torch.mlu and tensors' .mlu() come with it.

Importing it compiles C++ once for each torch (mluops.mlu)."""

PACKAGE = "torch_mlu"
NAMES = ("torch_mlu",)
# Packages that work on any device (transformers, accelerate) look for it by themselves, and would move to device mlu.
ON_REQUEST = True

__all__ = ["__version__", "mlu"]

__version__ = "1.24.1"  # whose interface this is


def prepare() -> None:
    """Makes the device: torch.device("mlu") alone is no import."""
    from ... import mlu  # noqa: F401


def __getattr__(name: str):
    if name == "mlu":
        from ... import mlu
        return mlu
    raise AttributeError(name)
