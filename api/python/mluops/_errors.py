"""Exceptions: one class per status of the C API, each carrying the library's own explanation."""


class MluOpError(RuntimeError):
    """A call of the library failed.

    ``status`` is the numeric status, ``status_name`` its enumerator, and the message is the text the library
    left for the failing call: which argument was wrong, what was wanted, what was given.
    """

    def __init__(self, status: int, status_name: str, text: str) -> None:
        super().__init__(f"{text} [{status_name}]" if text else status_name)
        self.status = status
        self.status_name = status_name
        self.text = text


class BadParamError(MluOpError, ValueError):
    """An argument breaks a rule of the operator."""


class NotSupportedError(MluOpError, NotImplementedError):
    """A legal call that the chosen backend cannot serve."""


class NotInitializedError(MluOpError):
    """No usable backend; the message lists the known names."""


class AllocFailedError(MluOpError, MemoryError):
    """The library could not get memory."""


class ExecutionFailedError(MluOpError):
    """The backend gave up while running."""


_CLASSES = {1: NotInitializedError, 2: AllocFailedError, 3: BadParamError, 6: ExecutionFailedError,
            7: NotSupportedError}


def error_for(status: int, status_name: str, text: str) -> MluOpError:
    """The exception for a status other than SUCCESS."""
    return _CLASSES.get(status, MluOpError)(status, status_name, text)
