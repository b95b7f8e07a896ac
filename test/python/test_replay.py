"""mluops_replay on files from anybody: refused with a text and status 2, in bounded time and memory."""

import json
import os
import resource
import subprocess
import time
from pathlib import Path

import numpy as np
import pytest

import mluops
from mluops._library import lib

TOOL = Path(lib._name).resolve().parents[1] / "bench" / "mluops_replay"
if not TOOL.exists():
    pytest.skip(f"{TOOL} is not built", allow_module_level=True)


@pytest.fixture(scope="module")
def good(tmp_path_factory):
    with mluops.capture(tmp_path_factory.mktemp("captured")) as folder:
        mluops.carafe(np.ones((1, 2, 3, 4), np.float32), np.ones((1, 4, 6, 9), np.float32), 3, 1, 2)
    file, = folder.iterdir()
    return file.read_bytes()


def replay(*words, **options):
    return subprocess.run([TOOL, *map(str, words)], capture_output=True, timeout=200, **options)


@pytest.fixture
def refused(tmp_path):
    def run(data, *words):
        file = tmp_path / "hostile.mluops"
        file.write_bytes(data)
        done = replay(file, *words)
        assert done.returncode == 2, (done.stdout, done.stderr)
        line, = done.stderr.decode().splitlines()
        assert line.startswith("mluops_replay: ") and b"\x1b" not in done.stdout + done.stderr
        return line

    return run


def test_the_good_one_runs(good, tmp_path):
    (tmp_path / "good.mluops").write_bytes(good)
    done = replay(tmp_path / "good.mluops", "--json", tmp_path / "rows.json")
    assert done.returncode == 0, done.stderr
    assert [row["reference"] for row in json.loads((tmp_path / "rows.json").read_text())] == ["right", "right"]


@pytest.mark.parametrize("what, by, said", [
    (b"tensor out output", b"tensor in output", "output: wanted an output, as the case says"),
    (b"tensor in input", b"tensor out input", "it ends too early|input: wanted an input, as the case says"),
    (b"tensor in mask", b"tensor in input", "tensor input is there twice"),
    (b"tensor in mask", b"tensor in other", "mask: wanted 864 bytes, as the case says, got 0"),
    (b" n=1 ", b" n=-1 ", "n: wanted a whole number from 1 to 1099511627776, got -1"),
    (b" n=1 ", b" n=2 ", "wanted 192 bytes, as the case says, got 96"),
    (b" k=3 ", b" k=1e8 ", "k: wanted at most 65536"),
    (b" k=3 ", b" k=0 ", "k: wanted a whole number from 1"),
    (b" n=1 ", b" n=99999999999999999999 ", "n: wanted at most 65536"),
    (b"threads ", b"threads 1e9", "threads: wanted a number from 1 to 4096"),
    (b"operator carafe_forward", b"operator carfae_forward", "operator: wanted that of the case"),
    (b"case carafe", b"case \x1b[2Jcarafe", r'unknown operator "\x1b[2Jcarafe_forward"'),
    (b"problem ", b"problem 99999999", "problem: wanted a number from 0 to"),
    (b"data\n", b"", "its header has no end"),
])
def test_files_that_contradict_themselves(good, refused, what, by, said):
    assert what in good
    line = refused(good.replace(what, by, 1))
    assert any(part in line for part in said.split("|")), line


def test_control_characters_do_not_reach_the_terminal(good, tmp_path):
    file = tmp_path / "a\x1b[2Jname.mluops"
    file.write_bytes(good.replace(b"backend cpu", b"backend \x1b]0;evil\x07\xff"))
    done = replay(file, "--json", tmp_path / "rows.json")
    assert done.returncode == 0, done.stderr
    assert b"\x1b" not in done.stdout and b"\x07" not in done.stdout and rb"\x1b]0;evil\x07\xff" in done.stdout
    done.stdout.decode("utf-8")
    json.loads((tmp_path / "rows.json").read_text("utf-8"))


def test_memory_that_no_bytes_stand_behind(refused):
    sides = 12000
    header = ["mluops-capture 1", "version 0", "operator carafe_forward",
              f"case carafe_forward n=1 h={sides} w={sides} c=1 k=1 g=1 s=1 dtype=float", "backend cpu", "threads 1",
              "atomics 2", "contract 1", "ms 1", "problem 0",
              *(f"tensor {kind} F L {sides}x{sides} 0 {sides * sides * 4} hash 0" for kind in ("in input", "in mask",
                                                                                              "out output"))]
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
    line = refused(("\n".join(header) + "\ndata\n").encode())
    assert "wanted at most 256 MiB, got 1647 MiB (--memory)" in line
    after = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss  # of the largest child so far, in KiB
    assert after <= max(before, 200 << 10)


@pytest.mark.parametrize("case", ["knn m=-1", "knn k=1e8", "roi_align_forward b=0", "carafe_forward n=1e8", "nms n=nan",
                                  "dcn_forward kh=1e8", "psamask_forward hm=1e9 wm=1e9", "x" * 5000, "knn n", ""])
def test_texts_of_cases(case):
    begin = time.monotonic()
    done = replay("--case", case)
    assert done.returncode == 2 and done.stderr.startswith(b"mluops_replay: "), (done.returncode, done.stderr)
    assert time.monotonic() - begin < 30


def test_time_has_an_end():
    begin = time.monotonic()
    done = replay("--case", "furthest_point_sample b=1 n=2000000 m=1000000", "--seconds", "2")
    assert done.returncode == 2 and b"takes more than 2 s (--seconds)" in done.stderr, done.stderr
    assert time.monotonic() - begin < 60


@pytest.mark.parametrize("file", ["/dev/zero", "/dev/null", ".", "absent"])
def test_what_is_no_file(file):
    done = replay(file)
    assert done.returncode == 2 and b"no regular file" in done.stderr


def test_options_that_are_none():
    for words in (["--threads", "x"], ["--calls", "-1"], ["--seconds", "0"], ["--memory", "1e9"], ["--what", "1"]):
        done = replay("--case", "knn", *words)
        assert done.returncode == 2 and words[0].encode() in done.stderr, done.stderr


def test_keep_writes_through_no_link(good, tmp_path):
    """The names of kept cases follow from the file."""
    (tmp_path / "good.mluops").write_bytes(good)
    kept = tmp_path / "kept"
    assert replay(tmp_path / "good.mluops", "--keep", kept).returncode == 0
    file, = kept.iterdir()
    file.unlink()
    (tmp_path / "precious").write_text("kept")
    os.symlink(tmp_path / "precious", file)
    assert replay(tmp_path / "good.mluops", "--keep", kept).returncode == 0
    assert (tmp_path / "precious").read_text() == "kept" and file.read_bytes() == good
