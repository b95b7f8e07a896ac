"""Streams and events: torch's own on device mlu, with the names programs use."""

from typing import Any, Optional

import torch

from . import _glue


class Stream(torch.Stream):
    """A queue of the device. Work on it is done when the call that put it there returns; its modelled time goes on."""

    def __new__(cls, device: Any = None, priority: int = 0, **numbers: Any) -> "Stream":
        if numbers:
            return super().__new__(cls, priority=priority, **numbers)
        return super().__new__(cls, torch.device("mlu" if device is None else device), priority=priority)

    @property
    def mlu_stream(self) -> int:
        """The address of its cnrtQueue_t."""
        return self.stream_id

    def wait_stream(self, stream: torch.Stream) -> None:
        event = Event()
        event.record(stream)
        self.wait_event(event)

    def __repr__(self) -> str:
        return f"<torch.mlu.Stream device={self.device} mlu_stream={self.mlu_stream:#x}>"


class Event(torch.Event):
    """A place on a stream. Times between two are those the emulated machine took for kernels: modelled, not measured;
    what runs on the host, copies and operators that the CPU does, takes none."""

    def __new__(cls, enable_timing: bool = False, blocking: bool = False, interprocess: bool = False) -> "Event":
        return super().__new__(cls, "mlu", enable_timing=True)  # there is nothing to save by less

    def hardware_time(self, end_event: torch.Event) -> float:
        """Microseconds until `end_event`."""
        if not (self.event_id and end_event.event_id):
            raise RuntimeError("both events must be recorded before there is a time between them")
        return _glue.load().mluops_torch_elapsed(self.event_id, end_event.event_id)

    def elapsed_time(self, end_event: torch.Event) -> float:
        """Milliseconds until `end_event`."""
        return self.hardware_time(end_event) * 1e-3


def ours(stream: torch.Stream) -> Stream:
    return Stream(stream_id=stream.stream_id, device_index=stream.device_index, device_type=stream.device_type)


def current_stream(device: Any = None) -> Stream:
    return ours(torch.accelerator.current_stream())


def default_stream(device: Any = None) -> Stream:
    any_stream = torch.accelerator.current_stream()
    return Stream(stream_id=0, device_index=0, device_type=any_stream.device_type)


def set_stream(stream: Optional[torch.Stream]) -> None:
    if stream is not None:
        torch.accelerator.set_stream(stream)


class StreamContext:
    """with torch.mlu.stream(s): kernels are launched on s."""

    def __init__(self, stream: Optional[torch.Stream]) -> None:
        self.stream = stream

    def __enter__(self) -> None:
        self._before = current_stream()
        set_stream(self.stream)

    def __exit__(self, *exception: Any) -> None:
        set_stream(self._before)


def stream(stream: Optional[torch.Stream]) -> StreamContext:
    return StreamContext(stream)
