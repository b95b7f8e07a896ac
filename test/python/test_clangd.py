"""`python -m mluops.neuware clangd-config`, and clangd as an editor's language server with what it writes."""

import json
import os
import queue
import shutil
import subprocess
import sys
import threading
from pathlib import Path

import pytest

import mluops
from mluops import neuware

CLANGD = next(filter(None, map(shutil.which, ["clangd", *(f"clangd-{n}" for n in range(22, 13, -1))])), None)
EXAMPLES = Path(__file__).resolve().parents[2] / "examples" / "bang"
KERNEL = """#include <bang.h>
#define CHUNK 1024
__nram__ half x[CHUNK];
__mlu_func__ void twice(half *p, int n) { __bang_mul_scalar(p, p, 2.0f, n); }
__mlu_entry__ void scale(half *out, const half *in, int n) {
  __mlu_shared__ float s[64];
  for (int begin = taskId * CHUNK; begin < n; begin += taskDim * CHUNK) {
    const int count = std::min(CHUNK, n - begin);
    __memcpy(x, in + begin, count * sizeof(half), GDRAM2NRAM);
    twice(x, count);
    x[0] = n > 3 ? 0 : x[1];
    __memcpy(out + begin, x, count * sizeof(half), NRAM2GDRAM);
  }
}
void scale_on(cnrtQueue_t queue, half *out, const half *in, int n) {
  cnrtDim3_t dim = {4, 1, 1};
  scale<<<dim, cnrtFuncTypeUnion1, queue>>>(out, in, n);
}
"""


def configured(folder, *options):
    environment = {**os.environ, "PYTHONPATH": str(Path(mluops.__file__).parents[1])}
    return subprocess.run([sys.executable, "-m", "mluops.neuware", "clangd-config", str(folder), *options],
                          capture_output=True, text=True, env=environment)


@pytest.fixture(scope="module", autouse=True)
def toolchain():
    try:
        neuware.home()
    except FileNotFoundError as error:
        pytest.skip(str(error))


class Server:
    """clangd over JSON-RPC."""

    SECONDS = 300

    def __init__(self, folder):
        self.process = subprocess.Popen([CLANGD, "--log=error", "-j=1"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.DEVNULL, cwd=folder)
        self.messages, self.last = queue.Queue(), 0
        threading.Thread(target=self._read, daemon=True).start()
        self.ask("initialize", {"processId": None, "rootUri": folder.as_uri(), "capabilities": {}})
        self.tell("initialized", {})

    def _read(self):
        out = self.process.stdout
        while True:
            length = 0
            for line in iter(out.readline, b"\r\n"):
                if not line:
                    return
                if line.lower().startswith(b"content-length:"):
                    length = int(line.split(b":")[1])
            self.messages.put(json.loads(out.read(length)))

    def _send(self, message):
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        self.process.stdin.write(b"Content-Length: %d\r\n\r\n%s" % (len(body), body))
        self.process.stdin.flush()

    def tell(self, method, params):
        self._send({"method": method, "params": params})

    def wait(self, wanted):
        while True:
            message = self.messages.get(timeout=self.SECONDS)
            if wanted(message):
                return message

    def ask(self, method, params):
        self.last += 1
        self._send({"id": self.last, "method": method, "params": params})
        return self.wait(lambda message: message.get("id") == self.last and "method" not in message)["result"]

    def opened(self, path):
        """What clangd has to say about a file: (line from 1, text) of each."""
        self.tell("textDocument/didOpen", {"textDocument": {
            "uri": path.as_uri(), "languageId": "cuda-cpp", "version": 1, "text": path.read_text()}})
        said = self.wait(lambda message: message.get("method") == "textDocument/publishDiagnostics"
                         and message["params"]["uri"] == path.as_uri())
        return [(one["range"]["start"]["line"] + 1, one["message"]) for one in said["params"]["diagnostics"]]

    def at(self, method, path, word):
        """An answer about the place behind the first `word`."""
        before = path.read_text().partition(word)[0] + word
        place = {"line": before.count("\n"), "character": len(before.rpartition("\n")[2])}
        return self.ask(f"textDocument/{method}", {"textDocument": {"uri": path.as_uri()}, "position": place})


@pytest.fixture
def server(tmp_path, request):
    if CLANGD is None:
        pytest.skip("clangd is not installed")
    options = getattr(request, "param", [])
    if "--torch" in options:
        pytest.importorskip("torch", minversion="2.7")
    assert configured(tmp_path, *options).returncode == 0
    made = Server(tmp_path)
    yield made
    made.process.kill()
    made.process.wait()


def written(folder, text):
    path = folder / "scale.mlu"
    path.write_text(text)
    return path


def test_a_right_kernel_and_its_builtins(server, tmp_path):
    path = written(tmp_path, KERNEL)
    assert server.opened(path) == []
    assert "mul_scalar" in json.dumps(server.at("hover", path, "__bang_mul_sca"))
    for begun, whole in (("cnrtQueue", "cnrtQueueCreate"), ("GDRAM2N", "GDRAM2NRAM")):
        items = server.at("completion", path, begun)["items"]
        assert any(whole in item["label"] for item in items), whole


@pytest.mark.parametrize("right, wrong, said", [
    ("twice(x, count);", "__bang_mul_scalar(x, count);", "__bang_mul_scalar"),
    ("twice(x, count);", "__bang_no_such_word(x, x, count);", "__bang_no_such_word"),
    ("GDRAM2NRAM", "GDRAM2NOWHERE", "GDRAM2NOWHERE"),
    ("cnrtFuncTypeUnion1, queue>>>", "queue>>>", "execution configuration")])
def test_a_wrong_call_is_told_at_its_line(server, tmp_path, right, wrong, said):
    path = written(tmp_path, KERNEL.replace(right, wrong))
    line = path.read_text().partition(wrong)[0].count("\n") + 1
    diagnostics = server.opened(path)
    assert [place for place, _ in diagnostics] == [line] and said in diagnostics[0][1], diagnostics


def test_the_examples(server, tmp_path):
    for example in sorted(EXAMPLES.glob("*.mlu")):
        path = tmp_path / example.name
        shutil.copy(example, path)
        assert server.opened(path) == [], example.name


@pytest.mark.parametrize("server", [["--torch"]], indirect=True, ids=["torch"])
def test_a_kernel_for_torch(server, tmp_path):
    path = written(tmp_path, (EXAMPLES.parent / "classroom" / "elementwise_mended.mlu").read_text())
    assert server.opened(path) == []


def test_what_is_written(tmp_path):
    path = tmp_path / ".clangd"
    done = configured(tmp_path, "--arch", "mtp_592")
    assert (done.returncode, done.stdout.strip()) == (0, str(path)) and "-D__BANG_ARCH__=592" in path.read_text()
    assert configured(tmp_path).returncode == 0 and "-D__BANG_ARCH__=372" in path.read_text()
    for options, said in ((["--arch", "mtp_1"], "--arch mtp_1: "), ([str(tmp_path / "none")], "unrecognized")):
        done = configured(tmp_path, *options)
        assert done.returncode == 2 and said in done.stderr
    done = configured(tmp_path / "none")
    assert done.returncode == 2 and "no such folder" in done.stderr


def test_a_file_of_the_users_own_stays(tmp_path):
    path = tmp_path / ".clangd"
    path.write_text("Index: {}\n")
    done = configured(tmp_path)
    assert done.returncode == 1 and "add this to it" in done.stderr and path.read_text() == "Index: {}\n"
