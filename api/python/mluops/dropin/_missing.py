"""A placeholder for a name without an operator in mluops: it can be imported, and raises when it is called."""

from typing import Any


class Missing(type):
    """The type of such names. They are classes, so that programs can derive theirs from them."""

    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        raise NotImplementedError(cls.why)

    def __getattr__(cls, name: str) -> Any:
        if name.startswith("__") or name == "why":
            raise AttributeError(name)
        return missing(f"{cls.__qualname__}.{name}", cls.why)


def missing(name: str, why: str) -> Missing:
    """A name, and what is said when it is called."""
    return type.__call__(Missing, name.rpartition(".")[2], (), {"why": why, "__qualname__": name, "__doc__": why})
