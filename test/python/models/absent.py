"""Stand-ins for packages that mmdet3d imports at its import and that these models never call: they read data sets, draw, or
want a compiler of their own. A package that is installed is used."""

import importlib.util
import sys
import types

ABSENT = ("lyft_dataset_sdk", "numba", "nuscenes", "open3d", "plyfile", "skimage", "tensorboard", "trimesh")


class _Absent(types.ModuleType):
    """Any attribute is another such thing; as a decorator, with arguments or without, it returns the function."""

    __path__ = []

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return _Absent(f"{self.__name__}.{name}")

    def __call__(self, *args, **kwargs):
        if len(args) == 1 and not kwargs and isinstance(args[0], types.FunctionType):
            return args[0]
        if self.__name__.startswith("numba."):
            return lambda function: function
        raise ModuleNotFoundError(f"{self.__name__} was called, and its package is not installed")


class _Finder:
    """The last place to look for a module."""

    @staticmethod
    def find_spec(name, path=None, target=None):
        if name.split(".")[0] in ABSENT:
            return importlib.util.spec_from_loader(name, _Finder)

    @staticmethod
    def create_module(spec):
        return _Absent(spec.name)

    @staticmethod
    def exec_module(module):
        pass


def stand_in():
    """From now on importing one of ABSENT that is not installed gives a stand-in."""
    sys.meta_path.append(_Finder)
