"""A server that the serving examples share: POST an array in numpy's file format, get the prediction in the same format."""

import contextlib
import io
import threading
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Callable, Iterator, List

import numpy as np

Predict = Callable[[np.ndarray], np.ndarray]


def _to_bytes(array: np.ndarray) -> bytes:
    file = io.BytesIO()
    np.save(file, array)
    return file.getvalue()


def _from_bytes(data: bytes) -> np.ndarray:
    return np.load(io.BytesIO(data), allow_pickle=False)


def _handler(predict: Predict) -> type:
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            try:
                array = _from_bytes(self.rfile.read(int(self.headers["Content-Length"])))
                status, body = 200, _to_bytes(predict(array))
            except ValueError as error:  # a body that is no array, or one whose shape the model does not take
                status, body = 400, str(error).encode()
            self.send_response(status)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    return Handler


@contextlib.contextmanager
def serving(predict: Predict, port: int = 0) -> Iterator[str]:
    """Serves predict() on this machine, one thread per request, and yields the address."""
    server = ThreadingHTTPServer(("127.0.0.1", port), _handler(predict))
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def ask(address: str, array: np.ndarray) -> np.ndarray:
    with urllib.request.urlopen(urllib.request.Request(address, data=_to_bytes(array))) as answer:
        return _from_bytes(answer.read())


def ask_all(address: str, arrays: List[np.ndarray], clients: int = 4) -> List[np.ndarray]:
    """The answers to all arrays, from several clients at once."""
    with ThreadPoolExecutor(clients) as pool:
        return list(pool.map(lambda array: ask(address, array), arrays))
