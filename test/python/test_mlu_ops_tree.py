"""`python -m mluops.neuware mlu-ops-tree DIR`: what setup.py of mmcv asks of a tree of mlu-ops, and that programs in C and
C++ compile, link and run with it."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import mluops
from mluops._library import lib
from mluops.neuware.command import mlu_ops_tree

CHECKOUT = Path(__file__).resolve().parents[2] / "api" / "include"


def command(*arguments):
    environment = {**os.environ, "PYTHONPATH": str(Path(mluops.__file__).parents[1])}
    return subprocess.run([sys.executable, "-m", "mluops.neuware", "mlu-ops-tree", *map(str, arguments)],
                          capture_output=True, text=True, env=environment)


@pytest.fixture(scope="module")
def tree(tmp_path_factory):
    folder = tmp_path_factory.mktemp("tree of mlu-ops")
    done = command(folder)
    if "the headers of libmluops are not here" in done.stderr:
        pytest.skip(done.stderr)
    assert (done.returncode, done.stdout, done.stderr) == (0, f"{folder}\n", "")
    return folder


def version(header):
    """As setup.py reads it: of each name the last line that has it, the third word."""
    found = {}
    for line in header.read_text().splitlines():
        for name in ("MLUOP_MAJOR", "MLUOP_MINOR", "MLUOP_PATCHLEVEL"):
            if re.search(name, line):
                found[name] = line.strip().split(" ")[2]
    return list(found.values())


def test_what_setup_reads(tree):
    root = tree / "bangc-ops"
    assert version(root / "mlu_op.h") == ["0", "8", "1"]
    assert (root / "core").is_dir() and (root / "kernels").is_dir()
    assert (root / "kernels" / "kernel_wrapper" / "lib" / "libextops.a").is_file()
    assert not [file for end in ("*.cpp", "*.mlu") for file in root.rglob(end)], "there is nothing to compile"


def test_headers_are_the_librarys(tree):
    if not CHECKOUT.is_dir():
        pytest.skip("not in a checkout")
    root = tree / "bangc-ops"
    for file in (CHECKOUT / "mluops" / "op").iterdir():
        assert (root / "mluops" / "op" / file.name).read_bytes() == file.read_bytes()
    assert (root / "mluops" / "mlu_op.h").read_bytes() == (CHECKOUT / "mlu_op.h").read_bytes()


def test_wrong_folders_are_refused_and_keep_what_they_have(tmp_path):
    kept = tmp_path / "kept"
    kept.write_text("text")
    for wrong in (tmp_path, kept):
        done = command(wrong)
        assert (done.returncode, done.stdout) == (1, "")
        assert done.stderr == f"mlu-ops-tree: {wrong}: a new or an empty folder was wanted\n"
    below = command(kept / "below")
    assert below.returncode == 1 and below.stderr.startswith("mlu-ops-tree: ") and "Traceback" not in below.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["kept"] and kept.read_text() == "text"
    for arguments in ((), ("--help",), ("a", "b")):
        assert (command(*arguments).returncode, command(*arguments).stdout) == (2, "")


def test_absent_headers_are_explained(monkeypatch, tmp_path):
    monkeypatch.setattr(mlu_ops_tree, "_places", lambda: iter([tmp_path]))
    with pytest.raises(FileNotFoundError, match="headers of libmluops.*install the mluops wheel"):
        mlu_ops_tree.write(tmp_path / "tree")
    assert not (tmp_path / "tree").exists()


PROGRAM = r"""
#include <stdio.h>
#include "mlu_op.h"

#if MLUOP_MAJOR != 0 || MLUOP_MINOR != 8 || MLUOP_PATCHLEVEL != 1
#error "the version of 0.8.1 was wanted"
#endif

static void set(mluOpTensorDescriptor_t desc, mluOpDataType_t dtype, int n, int dims) {
  const int sizes[2] = {n, 4};
  mluOpSetTensorDescriptor(desc, MLUOP_LAYOUT_ARRAY, dtype, dims, sizes);
}

int main(void) {
  const float boxes[12] = {0, 0, 2, 2, 10, 10, 12, 12, 0, 0, 2, 2.25f}, scores[3] = {0.5f, 0.7f, 0.9f};
  int kept[3] = {-1, -1, -1}, count = -1;
  size_t bytes = 99;
  mluOpHandle_t handle;
  mluOpTensorDescriptor_t of_boxes, of_scores, of_kept;
  mluOpNmsDescriptor_t nms;
  mluOpCreate(&handle);
  mluOpCreateTensorDescriptor(&of_boxes);
  mluOpCreateTensorDescriptor(&of_scores);
  mluOpCreateTensorDescriptor(&of_kept);
  set(of_boxes, MLUOP_DTYPE_FLOAT, 3, 2);
  set(of_scores, MLUOP_DTYPE_FLOAT, 3, 1);
  set(of_kept, MLUOP_DTYPE_INT32, 3, 1);
  const mluOpStatus_t asked = mluOpGetNmsWorkspaceSize(handle, of_boxes, of_scores, &bytes);
  const mluOpStatus_t refused = mluOpGetNmsWorkspaceSize(NULL, of_boxes, of_scores, &bytes);
  mluOpCreateNmsDescriptor(&nms);
  mluOpSetNmsDescriptor(nms, (mluOpNmsBoxPointMode_t)0, (mluOpNmsOutputMode_t)0, (mluOpNmsAlgo_t)0,
                        (mluOpNmsMethodMode_t)0, 0.5f, 0.0f, 3, 0.0f, 0.0f, 0, false);
  const mluOpStatus_t status = mluOpNms(handle, nms, of_boxes, boxes, of_scores, scores, NULL, bytes, of_kept, kept,
                                        &count);
  printf("%d %d %d %d: %d %d of %d\n", asked, refused, (int)bytes, status, kept[0], kept[1], count);
  mluOpDestroyNmsDescriptor(nms);
  mluOpDestroyTensorDescriptor(of_boxes);
  mluOpDestroyTensorDescriptor(of_scores);
  mluOpDestroyTensorDescriptor(of_kept);
  return mluOpDestroy(handle);
}
"""


def stand_in_runtime(folder):
    """cnrt.h and cn_api.h: of the emulated toolchain where there is one, else those that declare types alone."""
    from mluops import neuware
    try:
        return neuware.home() / "include"
    except FileNotFoundError:
        if not CHECKOUT.is_dir():
            pytest.skip("neither a toolchain nor a checkout")
        for name in ("cnrt.h", "cn_api.h"):
            shutil.copy(CHECKOUT / name, folder)
        return folder


@pytest.mark.parametrize("compiler, suffix", [("gcc", "c"), ("g++", "cpp"), ("clang", "c"), ("clang++", "cpp")])
def test_programs_compile_link_and_run(tree, tmp_path, compiler, suffix):
    if shutil.which(compiler) is None:
        pytest.skip(f"{compiler} is not installed")
    if "/" not in lib._name:
        pytest.skip("the library is where the linker looks for it, or not")
    source = tmp_path / f"program.{suffix}"
    source.write_text(PROGRAM)
    archive = tree / "bangc-ops" / "kernels" / "kernel_wrapper" / "lib" / "libextops.a"
    built = subprocess.run([compiler, "-Wall", "-Wextra", "-Werror", f"-I{tree / 'bangc-ops'}",
                            f"-isystem{stand_in_runtime(tmp_path)}", str(source), "-Wl,--whole-archive", str(archive),
                            "-Wl,--no-whole-archive", f"-Wl,-rpath,{Path(lib._name).resolve().parent}", "-o",
                            str(tmp_path / "program")], capture_output=True, text=True)
    assert built.returncode == 0, built.stderr
    done = subprocess.run([str(tmp_path / "program")], capture_output=True, text=True)
    bad_param = 3
    assert (done.returncode, done.stdout) == (0, f"0 {bad_param} 0 0: 2 1 of 2\n"), done.stderr
