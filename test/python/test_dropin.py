"""mluops.dropin: which modules it stands for, when, and that it leaves nothing behind."""

import importlib
import os
import subprocess
import sys
import textwrap
import warnings

import pytest

torch = pytest.importorskip("torch")

from dropin_doors import EVERY_DOOR, opened  # noqa: E402
import compositions  # noqa: E402
import mluops  # noqa: E402
import mluops.dropin as dropin  # noqa: E402

# torch_mlu makes a device: test_torch_mlu.py has it.
DOORS = {file: door for file, door in dropin._doors().items() if door.PACKAGE != "torch_mlu"}


@pytest.fixture
def doors():
    """All of them but mmcv's, which test_mmcv.py has, and torch_mlu's."""
    with opened(*EVERY_DOOR):
        yield


def package(path, source=""):
    path.mkdir()
    (path / "__init__.py").write_text(textwrap.dedent(source))


def run(*arguments, cwd=None):
    return subprocess.run([sys.executable, *map(str, arguments)], capture_output=True, text=True, cwd=cwd, timeout=300)


@pytest.mark.parametrize("file", sorted(DOORS))
def test_a_door_has_what_it_says(file):
    door = DOORS[file]
    assert door.PACKAGE in dropin.names() and door.__doc__
    assert door.__all__ and all(hasattr(door, name) for name in door.__all__)


def test_a_module_that_is_not_installed(doors):
    module = importlib.import_module("MultiScaleDeformableAttention")
    assert module.__doc__ and sorted(module.__all__) == ["ms_deform_attn_backward", "ms_deform_attn_forward"]
    with pytest.raises(AttributeError, match="has ms_deform_attn_backward, ms_deform_attn_forward: no other"):
        module.other
    from MultiScaleDeformableAttention import other
    with pytest.raises(NotImplementedError, match="has ms_deform_attn_backward, ms_deform_attn_forward: no other"):
        other()
    assert not hasattr(module, "other")


def test_says_once_that_it_stands_for_a_package():
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        dropin.install("spconv")
        importlib.import_module("spconv.pytorch.conv")
        importlib.import_module("spconv.utils")
    dropin.uninstall()
    assert [str(each.message) for each in told] == [
        "mluops.dropin: spconv is not installed; mluops stands for it on the CPU"]


def test_installed_modules_are_not_hidden(doors, tmp_path, monkeypatch):
    package(tmp_path / "pointops", "own = True")
    monkeypatch.syspath_prepend(str(tmp_path))
    assert importlib.import_module("pointops").own
    del sys.modules["pointops"]


def test_an_extension_inside_a_program_s_package(doors, tmp_path, monkeypatch):
    package(tmp_path / "fork", "from . import iou3d_nms_cuda")
    monkeypatch.syspath_prepend(str(tmp_path))
    assert importlib.import_module("fork").iou3d_nms_cuda.nms_gpu
    with pytest.raises(ModuleNotFoundError, match="No module named 'fork.another_cuda'"):
        importlib.import_module("fork.another_cuda")
    for name in ("fork.iou3d_nms_cuda", "fork"):
        del sys.modules[name]


def test_another_version_of_a_package_stays_as_it_is(doors, tmp_path, monkeypatch):
    """spconv 1 has no spconv.pytorch; programs fall back on what it has."""
    package(tmp_path / "spconv")
    monkeypatch.syspath_prepend(str(tmp_path))
    with pytest.raises(ModuleNotFoundError):
        importlib.import_module("spconv.pytorch")
    del sys.modules["spconv"]


def test_uninstall_leaves_nothing(tmp_path):
    before, path = set(sys.modules), list(sys.meta_path)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        dropin.install("spconv", "MultiScaleDeformableAttention")
        dropin.install("pcdet")  # calls add up
        assert dropin.installed()
        for name in ("spconv.pytorch", "MultiScaleDeformableAttention", "iou3d_nms_cuda"):
            importlib.import_module(name)
    dropin.uninstall()
    assert not dropin.installed() and sys.meta_path == path
    assert not {name for name in set(sys.modules) - before if not name.startswith("mluops")}
    with pytest.raises(ModuleNotFoundError):
        importlib.import_module("spconv")
    dropin.uninstall()


def test_only_what_was_asked_for():
    dropin.install("pcdet")
    with pytest.raises(ModuleNotFoundError):
        importlib.import_module("spconv")
    dropin.uninstall()


def test_packages_that_look_for_devices_find_none():
    """As transformers and accelerate do."""
    dropin.install()
    try:
        assert "torch_mlu" in dropin.names() and importlib.util.find_spec("spconv") is not None
        assert importlib.util.find_spec("torch_mlu") is None
    finally:
        dropin.uninstall()


def test_an_installed_package_that_does_not_import(tmp_path, monkeypatch):
    """A program that does not use it is not stopped by it."""
    from mluops.dropin.module import mmcv

    def fails():
        raise RuntimeError("operator torchvision::nms does not exist")

    package(tmp_path / "mmcv")
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(mmcv, "install", fails)
    with pytest.warns(UserWarning, match="mmcv is installed, but left as it is, since it fails: RuntimeError: operator torchvision"):
        dropin.install()
    assert importlib.import_module("chamfer").forward
    dropin.uninstall()
    with pytest.raises(RuntimeError, match="operator torchvision"):
        dropin.install("mmcv")
    dropin.uninstall()


def test_unknown_names():
    with pytest.raises(mluops.BadParamError, match="names.*some of .*spconv.*spconvv"):
        dropin.install("spconvv")
    assert not dropin.installed()


def test_python_code_that_never_asks_the_extension(doors, tmp_path, monkeypatch):
    """GroundingDINO's composition is replaced, whether it is imported before install() or after; for CPU tensors."""
    place = tmp_path / "groundingdino"
    package(place)
    package(place / "models")
    package(place / "models" / "GroundingDINO")
    source = "def multi_scale_deformable_attn_pytorch(value, shapes, locations, weights): return 'theirs'"
    (place / "models" / "GroundingDINO" / "ms_deform_attn.py").write_text(source)
    monkeypatch.syspath_prepend(str(tmp_path))
    name = "groundingdino.models.GroundingDINO.ms_deform_attn"
    inputs = attention(torch.float32)
    wanted = compositions.multi_scale_deformable_attn(*inputs)
    module = importlib.import_module(name)

    def call(value):
        return module.multi_scale_deformable_attn_pytorch(value, *inputs[1:2], *inputs[3:])

    assert torch.allclose(call(inputs[0]), wanted, atol=1e-5)
    assert call(inputs[0].to("meta")) == "theirs"
    dropin.uninstall()
    assert call(inputs[0]) == "theirs"
    dropin.install("groundingdino")
    assert torch.allclose(call(inputs[0]), wanted, atol=1e-5)
    for each in [each for each in sys.modules if each.split(".")[0] == "groundingdino"]:
        del sys.modules[each]


def attention(dtype):
    generator = torch.Generator().manual_seed(3)
    shapes = torch.tensor([[6, 4], [3, 2]])
    starts = torch.tensor([0, 24])
    value = torch.rand(2, 30, 2, 8, generator=generator, dtype=torch.float64).mul(0.01).to(dtype)
    locations = torch.rand(2, 5, 2, 2, 3, 2, generator=generator, dtype=torch.float64).to(dtype)
    weights = torch.rand(2, 5, 2, 2, 3, generator=generator, dtype=torch.float64).add(1e-5)
    return value, shapes, starts, locations, (weights / weights.sum((3, 4), keepdim=True)).to(dtype)


@pytest.mark.parametrize("name", ["MultiScaleDeformableAttention", "groundingdino._C"])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=str)
def test_multi_scale_deformable_attention(name, dtype, doors, tmp_path, monkeypatch):
    """Its output and gradients, as the program's autograd function asks for them."""
    package(tmp_path / "groundingdino")
    monkeypatch.syspath_prepend(str(tmp_path))
    module = importlib.import_module(name)
    value, shapes, starts, locations, weights = attention(dtype)
    found = module.ms_deform_attn_forward(value, shapes, starts, locations, weights, 64)
    wide = [each.double().requires_grad_() for each in (value, locations, weights)]
    wanted = compositions.multi_scale_deformable_attn(wide[0], shapes, starts, *wide[1:])
    limit = 1e-5 if dtype == torch.float32 else 1e-14
    assert found.dtype == dtype and found.shape == (2, 5, 16)
    assert (found.double() - wanted).abs().max() <= limit
    grad = torch.rand(found.shape, generator=torch.Generator().manual_seed(1)).to(dtype)
    gradients = module.ms_deform_attn_backward(value, shapes, starts, locations, weights, grad, 64)
    for ours, theirs in zip(gradients, torch.autograd.grad(wanted, wide, grad.double())):
        assert ours.dtype == dtype and (ours.double() - theirs).abs().max() <= limit * max(1, theirs.abs().max())
    for each in ("groundingdino._C", "groundingdino"):
        sys.modules.pop(each, None)


CUDA_CALLS = """
    import torch, warnings
    import mluops.dropin
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        mluops.dropin.install("pcdet", cuda_calls=True)
        mluops.dropin.install("spconv", cuda_calls=True)
    assert [str(each.message) for each in told] == [
        "mluops.dropin: cuda_calls=True, tensors and modules sent to CUDA stay on the CPU"], told
    x = torch.arange(6.0)
    same = [x.cuda(), x.cuda(0, non_blocking=True), x.to("cuda"), x.to("cuda:1", torch.float64), x.to(device="cuda"),
            x.to(torch.device("cuda")), x.type(torch.cuda.DoubleTensor), x.type("torch.cuda.FloatTensor"),
            torch.arange(6.0, device="cuda"), torch.tensor(range(6), device=torch.device("cuda", 0)),
            x.new_tensor(range(6), device=0), torch.cuda.FloatTensor(range(6)), x.pin_memory()]
    assert all(each.device.type == "cpu" and torch.equal(each.double(), x.double()) for each in same)
    assert torch.cuda.IntTensor(2, 3).dtype == torch.int32 and torch.cuda.LongTensor(2, 3).shape == (2, 3)
    assert x.to("cuda", torch.float64).dtype == torch.float64
    net = torch.nn.Linear(2, 2)
    assert net.cuda() is net and net.to("cuda:0") is net and net.cuda(0).weight.device.type == "cpu"
    with torch.cuda.device(0):
        torch.cuda.synchronize()
    torch.cuda.set_device(0)
    assert torch.cuda.current_device() == 0 and x.to(0) is x and x.to(0, torch.float64).dtype == torch.float64
    begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    begin.record()
    with torch.cuda.stream(torch.cuda.Stream()) as stream:
        end.record(stream)
    torch.cuda.current_stream().wait_stream(torch.cuda.default_stream(0))
    torch.cuda.current_stream().record_event().synchronize()
    end.synchronize()
    assert end.query() and 0 <= begin.elapsed_time(end) < 60000
    assert not torch.cuda.is_available()

    @torch.jit.script
    def scripted(y):
        return torch.zeros(3) + y

    assert torch.equal(scripted(torch.ones(3)), torch.ones(3))
    import io
    saved = io.BytesIO()
    torch.save(net.state_dict(), saved)
    saved.seek(0)
    assert torch.equal(torch.load(saved, "cuda:0")["weight"], net.weight)
    saved.seek(0)
    assert torch.equal(torch.load(saved)["weight"], net.weight)
    if hasattr(torch, "compile"):  # has rules by the identity of torch's functions
        def sent(y):
            return torch.zeros(3, device="cuda") + y.cuda().to("cuda:0")
        assert torch.equal(torch.compile(sent, backend="eager")(torch.ones(3)), torch.ones(3))
    mluops.dropin.uninstall()
    for call in (x.cuda, lambda: x.to("cuda"), lambda: torch.zeros(1, device="cuda"), lambda: torch.cuda.IntTensor(1),
                 lambda: x.to(0), torch.cuda.current_device):
        try:
            call()
        except (AssertionError, RuntimeError, TypeError, AttributeError):
            continue
        raise SystemExit("still on the CPU")
    print("ok")
"""


@pytest.mark.skipif(torch.cuda.is_available(), reason="this torch has CUDA")
def test_cuda_calls(tmp_path):
    (tmp_path / "program.py").write_text(textwrap.dedent(CUDA_CALLS))  # torch.jit.script reads its source
    done = run(tmp_path / "program.py")
    assert done.stdout == "ok\n", done.stderr


PROGRAM = """
    import sys
    import torch
    import beside
    from MultiScaleDeformableAttention import ms_deform_attn_forward
    print(__name__, sys.argv[1:], beside.value, ms_deform_attn_forward.__name__)
    print(torch.ones(2, device="cuda").device)
"""


def test_a_program_without_a_change(tmp_path):
    (tmp_path / "program.py").write_text(textwrap.dedent(PROGRAM))
    (tmp_path / "beside.py").write_text("value = 7")
    done = run("-W", "ignore", "-m", "mluops.dropin", "--cuda-calls", tmp_path / "program.py", "--lr", "2")
    assert done.stdout == "__main__ ['--lr', '2'] 7 ms_deform_attn_forward\ncpu\n", done.stderr
    done = run("-W", "ignore", "-m", "mluops.dropin", "-m", "program", "x", cwd=tmp_path)
    assert done.stdout.startswith("__main__ ['x'] 7 ms_deform_attn_forward"), done.stderr
    assert "cpu" not in done.stdout  # only where the user says so


@pytest.mark.parametrize("words, beside, found", [
    (["program.py"], "", False), (["program.py"], "# import torch_mlu", True), (["other.py"], "# import torch_mlu", False),
    (["--torch-mlu", "-m", "program"], "", True), (["elsewhere/one.py", "beside.py::test"], "# import torch_mlu", True)])
def test_programs_that_name_torch_mlu_get_it(words, beside, found, tmp_path):
    look = "import importlib.util as util\nprint(util.find_spec('torch' + '_mlu') is not None)"
    (tmp_path / "elsewhere").mkdir()
    for file in ("program.py", "elsewhere/one.py"):
        (tmp_path / file).write_text("if 0:\n    from beside import x\n" + look)
    (tmp_path / "other.py").write_text(look)
    (tmp_path / "beside.py").write_text(beside)
    done = run("-W", "ignore", "-m", "mluops.dropin", *words, cwd=tmp_path)
    assert done.stdout == f"{found}\n", done.stderr


def test_files_beside_a_program_that_it_does_not_import_are_not_read(tmp_path):
    """Nor do those end it that cannot be read or are no text."""
    from mluops.dropin.__main__ import _names_torch_mlu
    program = tmp_path / "program.py"
    program.write_bytes(b"import one, two as three\nfrom . import four\nfrom .five import x\n\xff import gone, lost\nimport six.seven\n")
    (tmp_path / "one.py").symlink_to(tmp_path / "nowhere.py")
    (tmp_path / "two.py").mkdir()
    (tmp_path / "five.py").write_bytes(b"import one, program, five\n\x00\xfe")
    (tmp_path / "stranger.py").write_text("import torch_mlu")
    os.mkfifo(tmp_path / "six.py")
    arguments = ["x" * 5000 + ".py", "no\x00file.py", "gone.py"]
    assert not _names_torch_mlu(program, arguments) and not _names_torch_mlu(tmp_path / "absent.py", arguments)
    (tmp_path / "five.py").write_bytes(b"import torch_mlu  # \xfe")
    assert _names_torch_mlu(program, arguments)


def test_the_table():
    done = run("-m", "mluops.dropin")
    for name in ("MultiScaleDeformableAttention", "iou3d_nms_cuda", "spconv.pytorch", "pointops"):
        assert name in done.stdout
    assert run("-m", "mluops.dropin", "--cuda-calls", "--x").returncode == 1


def test_help_explains_every_option():
    from mluops.dropin.__main__ import _OPTIONS
    done = run("-m", "mluops.dropin", "--help")
    assert done.returncode == 0 and done.stderr == ""
    for option in _OPTIONS:
        assert f"\n  {option} " in done.stdout
