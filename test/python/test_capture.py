"""mluops.capture: which calls are kept, with what."""

import os
import subprocess
import sys

import numpy as np
import pytest

import mluops


def one_call():
    mluops.psa_mask(np.ones((1, 2, 3, 9), np.float32), "collect", (3, 3))


def another_call():
    mluops.carafe(np.ones((1, 2, 3, 4), np.float32), np.ones((1, 4, 6, 9), np.float32), 3, 1, 2)


def header(path):
    return path.read_bytes().split(b"data\n")[0].decode()


def test_the_calls_of_the_block_are_kept(tmp_path):
    one_call()
    with mluops.capture(tmp_path / "made" / "here") as folder:
        one_call()
        another_call()
    one_call()
    names = sorted(path.name.split("-")[-1] for path in folder.iterdir())
    assert names == ["carafe_forward.mluops", "psamask_forward.mluops"]
    text = header(next(folder.glob("*psamask*")))
    assert "\ncase psamask_forward n=1 h=2 w=3 hm=3 wm=3 type=0 dtype=float" in text and " data " in text


def test_chosen_operators_and_a_number_of_files(tmp_path):
    with mluops.capture(tmp_path, ops=["cara", "ball"], calls=1):
        one_call()
        for _ in range(3):
            another_call()
    assert len(list(tmp_path.iterdir())) == 1


@pytest.mark.parametrize("chosen", [{"data": False}, {"limit": 5}])
def test_data_are_left_out(tmp_path, chosen):
    with mluops.capture(tmp_path, **chosen):
        one_call()
    kept, = tmp_path.iterdir()
    assert " hash " in header(kept) and " data " not in header(kept)
    assert kept.stat().st_size < 2000


def test_blocks_may_stand_in_one_another(tmp_path):
    with mluops.capture(tmp_path / "outer") as outer:
        with mluops.capture(tmp_path / "inner", ops="three"):
            one_call()
        one_call()
    assert len(list(outer.iterdir())) == 1
    assert not list((tmp_path / "inner").iterdir())


def test_wrong_arguments(tmp_path):
    with pytest.raises(mluops.BadParamError, match="0 or more"), mluops.capture(tmp_path, calls=-1):
        pass
    (tmp_path / "file").touch()
    with pytest.raises(OSError), mluops.capture(tmp_path / "file"):
        pass
    one_call()
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


def test_torch_calls_are_kept(tmp_path):
    torch = pytest.importorskip("torch")
    import mluops.torch

    x = torch.rand(1, 4, 6, 7, requires_grad=True)
    with mluops.capture(tmp_path):
        mluops.torch.carafe(x, torch.rand(1, 9, 12, 14), 3, 1, 2).sum().backward()
    names = {path.name.split("-")[-1] for path in tmp_path.iterdir()}
    assert names == {"carafe_forward.mluops", "carafe_backward.mluops"}


def test_the_line_of_a_call():
    """MLUOP_VERBOSE=2: operator, backend, path, status, the case, the time."""
    code = "import numpy as np, mluops; mluops.psa_mask(np.ones((1, 2, 3, 9), np.float32), 'collect', (3, 3))"
    done = subprocess.run([sys.executable, "-c", code], env={**os.environ, "MLUOP_VERBOSE": "2"}, capture_output=True,
                          text=True, check=True)
    op, backend, path, status, case, time = done.stderr.strip().split("mluops: ")[-1].split(",")
    assert (op, backend, status) == ("psamask_forward", "cpu", "MLUOP_STATUS_SUCCESS")
    assert path and case.startswith("psamask_forward n=1 h=2 w=3 hm=3 wm=3 type=0 dtype=float")
    assert time.endswith(" ms") and float(time[:-3]) > 0


def said(**variables):
    program = ("import numpy as np, mluops\n"
               "for _ in range(2): mluops.psa_mask(np.ones((1, 2, 3, 9), np.float32), 'collect', (3, 3))")
    done = subprocess.run([sys.executable, "-c", program], env={**os.environ, **variables}, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stderr.splitlines()


def test_a_folder_that_cannot_be_written_is_said_once(tmp_path):
    absent = str(tmp_path / "absent")
    assert said(MLUOP_CAPTURE=absent) == [
        f"mluops: MLUOP_CAPTURE: no call can be kept in {absent}: No such file or directory"]
    (tmp_path / "file").write_text("")
    line, = said(MLUOP_CAPTURE=str(tmp_path / "file"))
    assert line.endswith("file: it is no folder")
    assert said() == []


def test_numbers_that_are_none_are_said_once(tmp_path):
    lines = said(MLUOP_CAPTURE=str(tmp_path), MLUOP_CAPTURE_CALLS="many", MLUOP_CAPTURE_BYTES="-1")
    assert lines == ['mluops: MLUOP_CAPTURE_CALLS: wanted a whole number from 0 to 1073741824, got "many"',
                     'mluops: MLUOP_CAPTURE_BYTES: wanted a whole number from 0 to 1099511627776, got "-1"']
    assert len(list(tmp_path.iterdir())) == 2


def test_a_block_ends_where_the_environment_names_no_folder(tmp_path, monkeypatch):
    monkeypatch.setenv("MLUOP_CAPTURE", str(tmp_path / "absent"))
    with mluops.capture(tmp_path):
        one_call()
    one_call()
    assert len(list(tmp_path.iterdir())) == 1


def test_parts_that_are_in_no_operators_name(tmp_path):
    lines = said(MLUOP_CAPTURE=str(tmp_path), MLUOP_CAPTURE_OP="carafe,psamusk")
    assert lines == ['mluops: MLUOP_CAPTURE_OP: no operator\'s name contains "psamusk"']
    with pytest.raises(mluops.BadParamError, match="operators: wanted parts of operators' names, got \"roialign\""):
        with mluops.capture(tmp_path, ops=["carafe", "roialign"]):
            pass
