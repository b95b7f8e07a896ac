"""Exceptions: one class per status of the C API, each carrying the library's own explanation."""

from typing import Any, Tuple, Union


class MluOpError(RuntimeError):
    """A call of the library failed.

    ``status`` is the numeric status, ``status_name`` its enumerator, and the message is the text the library
    left for the failing call: which argument was wrong, what was wanted, what was given.
    """

    default = (10, "MLUOP_STATUS_INTERNAL_ERROR")  # status and name of an exception made from a text alone

    def __init__(self, status: Union[int, str], status_name: str = "", text: str = "") -> None:
        if isinstance(status, str):  # a finished message: so torch rebuilds the exception of a DataLoader's worker
            super().__init__(status)
            (status, status_name), text = self.default, status
        else:
            super().__init__(f"{text} [{status_name}]" if text else status_name)
        self.status = status
        self.status_name = status_name
        self.text = text

    def __reduce__(self) -> Tuple[type, tuple]:
        """Exceptions are rebuilt from `args` by default, which holds the message only: workers could not send them."""
        return type(self), (self.status, self.status_name, self.text)


class BadParamError(MluOpError, ValueError):
    """An argument breaks a rule of the operator."""

    default = (3, "MLUOP_STATUS_BAD_PARAM")

    @classmethod
    def of(cls, text: str) -> "BadParamError":
        """A rule checked before the library is asked."""
        return cls(*cls.default, text)


class NotSupportedError(MluOpError, NotImplementedError):
    """A legal call that the chosen backend cannot serve."""

    default = (7, "MLUOP_STATUS_NOT_SUPPORTED")


class NotInitializedError(MluOpError):
    """No usable backend; the message lists the known names."""

    default = (1, "MLUOP_STATUS_NOT_INITIALIZED")


class AllocFailedError(MluOpError, MemoryError):
    """The library could not get memory."""

    default = (2, "MLUOP_STATUS_ALLOC_FAILED")


class ExecutionFailedError(MluOpError):
    """The backend gave up while running."""

    default = (6, "MLUOP_STATUS_EXECUTION_FAILED")


_CLASSES = {cls.default[0]: cls for cls in (NotInitializedError, AllocFailedError, BadParamError, ExecutionFailedError,
                                            NotSupportedError)}


def error_for(status: int, status_name: str, text: str) -> MluOpError:
    """The exception for a status other than SUCCESS."""
    return _CLASSES.get(status, MluOpError)(status, status_name, text)


def bad_param(name: str, wanted: object, got: Any) -> BadParamError:
    return BadParamError.of(f"{name}: wanted {wanted}, got {got!r}")
