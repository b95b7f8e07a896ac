"""libmluops_torch.so: the operators without this package, in Python processes and in a C++ program without Python."""

import os
import shutil
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

torch = pytest.importorskip("torch")

import mluops  # noqa: E402
import mluops.torch as mt  # noqa: E402
from cases import CASES  # noqa: E402
from mluops import _library  # noqa: E402
from mluops.torch import _operator  # noqa: E402
from test_shapes import CALLS  # noqa: E402
from torch.utils._python_dispatch import TorchDispatchMode  # noqa: E402

if not _operator.HAS_LIBRARY_API or not sys.platform.startswith("linux"):
    pytest.skip("libmluops_torch.so needs Linux and torch 2.4 or later", allow_module_level=True)
if not any(shutil.which(name) for name in ("g++", "clang++")):
    pytest.skip("no C++ compiler", allow_module_level=True)

from mluops.torch import library as of_library  # noqa: E402

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """The folder of a package with headers and library inside, as a wheel lays it out."""
    package, shared = Path(mluops.__file__).parent, Path(_library.path)
    if (package / "include").exists() or not shared.exists():
        return package.parent
    made = tmp_path_factory.mktemp("site") / "mluops"
    shutil.copytree(package, made, ignore=shutil.ignore_patterns("__pycache__"))
    (made / "include").symlink_to(package.parents[1] / "include")
    (made / "lib").mkdir()
    (made / "lib" / shared.name).symlink_to(shared.resolve())
    return made.parent


@pytest.fixture(scope="module")
def library(site, tmp_path_factory):
    folder = tmp_path_factory.mktemp("library")
    environment = {name: value for name, value in os.environ.items() if name != _library.LIBRARY_VARIABLE}
    done = subprocess.run([sys.executable, "-m", "mluops.torch.library", folder], capture_output=True, text=True,
                          cwd=folder, env={**environment, "PYTHONPATH": str(site)})
    assert done.returncode == 0, done.stdout + done.stderr
    path = folder / "libmluops_torch.so"
    assert done.stdout.split() == [str(path)]
    return path


def run(script, *arguments, **environment):
    """Runs a script in a process of its own; fails on a warning."""
    # What torch 2.4 says of every operator, torch 2.6 of a folder of its own, and torch 2.14's opcheck of its tensors.
    warnings = ("-W", "error", "-W", "ignore:At pre-dispatch tracing:UserWarning",
                "-W", "ignore:Implicitly cleaning up:ResourceWarning", "-W", "ignore:The .grad attribute of a Tensor:UserWarning")
    done = subprocess.run([sys.executable, *warnings, "-c", textwrap.dedent(script), *map(str, arguments)],
                          capture_output=True, text=True, env={**os.environ, **environment})
    assert done.returncode == 0, done.stdout + done.stderr
    assert "Warning" not in done.stderr, done.stderr
    return done.stdout


class Recorded(TorchDispatchMode):
    """The calls of our operators: names, arguments, results."""

    def __init__(self):
        super().__init__()
        self.calls = []

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        found = func(*args, **(kwargs or {}))
        if func.namespace == "mluops" and "_backward" not in func.__name__:
            self.calls.append((func._schema.name.split("::")[1], args, found if isinstance(found, tuple) else (found,)))
        return found


def further_calls():
    boxes, scores, groups = torch.rand(60, 4) * 8 + torch.tensor([0, 0, 8, 8.0]), torch.rand(60), torch.arange(60) % 7
    scores[7:20] = scores[3]
    for dtype in (torch.float32, torch.float64, torch.float16):
        for labels in (groups, groups.double() / 3, torch.zeros(60), torch.arange(60)):
            mt.batched_nms(boxes.to(dtype), scores, labels, {"iou_threshold": 0.3})
            mt.batched_nms(boxes, scores, labels, {"iou_threshold": 0.3, "score_threshold": 0.5, "max_num": 9, "offset": 1})
            mt.batched_nms(torch.cat([boxes, scores[:, None]], 1).to(dtype), scores, labels, {"type": "nms_rotated", "iou_threshold": 0.2})
        mt.nms(boxes.to(dtype), scores, 0.3, 0, 0.4, 11)
        mt.roi_align(torch.rand(1, 2, 9, 9, dtype=dtype), torch.tensor([[0, 1.3, 1.7, 7, 8]]), 3, 1 / 3, 2, "max")
        mt.roi_align(torch.rand(1, 2, 9, 9, dtype=dtype), torch.empty(0, 5), 3)
        mt.three_nn(torch.rand(1, 4, 3, dtype=dtype), torch.rand(1, 0, 3))
        mt.knn(2, torch.rand(1, 0, 3, dtype=dtype), torch.rand(1, 4, 3))
        mt.bbox_overlaps(boxes.to(dtype), boxes, "iof", True, 1)
        mt.box_iou_rotated(torch.rand(5, 5, dtype=dtype), torch.rand(5, 5), "iou", True)
        mt.furthest_point_sample(torch.rand(2, 50, 3, dtype=dtype), 9)
    mt.nms(boxes[:0], scores[:0], 0.3)
    mt.batched_nms(boxes[:0], scores[:0], groups[:0], {"iou_threshold": 0.3})
    mt.voxelization(torch.rand(5, 4), [0.3] * 3, [0, 0, 0, 1, 1, 1], 0, 9)
    mt.active_rotated_filter(torch.rand(2, 2, 2, 1, 1), torch.tensor([[[[1, 2]]], [[[2, 1]]]]))
    torch.ops.mluops.first_numbers(torch.tensor([5], dtype=torch.int32))
    mt.upfirdn2d(torch.rand(1, 2, 5, 6), torch.rand(3, 3), 2, 1, (2, 1))


def recorded():
    torch.manual_seed(3)
    with torch.inference_mode(), Recorded() as mode:
        for call in CALLS.values():
            for n in (2, 9):
                call(n)
        for case in CASES:
            for dtype in (torch.float32, torch.float64, torch.float16, torch.bfloat16):
                for channels_last in (False, True):
                    case.run(case.inputs(dtype, channels_last=channels_last))
        further_calls()
    return mode.calls


AGAIN = """
    import sys
    import torch

    torch.ops.load_library(sys.argv[1])
    differing = set()
    for name, arguments, wanted in torch.load(sys.argv[2], weights_only=True):
        found = getattr(torch.ops.mluops, name)(*arguments)
        found = found if isinstance(found, tuple) else (found,)
        rows = None  # those that count
        if len(found) > 1 and found[-1].shape == (1,) and found[-1].dtype == torch.int32:
            rows = int(wanted[-1])
            assert torch.equal(found[-1], wanted[-1]), name
        for ours, theirs in zip(found, wanted, strict=True):
            assert (ours.dtype, ours.shape, ours.stride()) == (theirs.dtype, theirs.shape, theirs.stride()), name
            if not torch.equal(ours[:rows].nan_to_num(-7), theirs[:rows].nan_to_num(-7)):
                differing.add(name)
    assert not any(module.split(".")[0] == "mluops" for module in sys.modules)
    print("differing:", *sorted(differing))
"""


def test_operators_give_what_those_of_the_package_give(library, tmp_path):
    served = set(of_library.served())
    calls = [call for call in recorded() if call[0] in served]
    assert {name for name, _, _ in calls} == served
    torch.save(calls, tmp_path / "calls.pt")
    assert run(AGAIN, library, tmp_path / "calls.pt") == "differing:\n"


def test_what_is_not_served_is_known_and_says_so(library):
    text = run("""
        import sys
        import torch

        torch.ops.load_library(sys.argv[1])
        x = torch.ones(2, 3)
        try:
            torch.ops.mluops.stack_three_nn(x, x, x.int(), x.int())
        except NotImplementedError as error:
            print(error)
        for call in (lambda: torch.ops.mluops.three_nn(x, x), lambda: torch.ops.mluops.nms(x, x, 0.5, 0, 0.0, -1),
                     lambda: torch.ops.mluops.carafe(torch.ones(1, 2, 3, 3), torch.ones(1, 9, 6, 5), 3, 1, 2),
                     lambda: torch.ops.mluops.carafe(torch.ones(1, 2, 3, 3), torch.ones(1, 4, 6, 6), 2, 1, 2)):
            try:
                call()
            except ValueError as error:
                print(error)
        try:
            torch.ops.mluops.three_nn(x.to("meta")[None], x[None])
        except NotImplementedError as error:
            print(error)
    """, library).splitlines()
    assert text == [
        "mluops::stack_three_nn: libmluops_torch.so does not have this operator. In Python, import mluops.torch has it",
        "mluops::three_nn: target: wanted 3 dimensions, got [2, 3]",
        "mluops::nms: scores: wanted 1 dimensions, got [2, 3]",
        "mluops::carafe: masks: wanted [1, 9, 6, 6], got [1, 9, 6, 5]",
        text[4],
        "mluops::three_nn: target: libmluops_torch.so takes tensors of the CPU, got meta. In Python, import mluops.torch serves others"]
    assert "kernel_size" in text[4] and "MLUOP_STATUS_BAD_PARAM" in text[4]


BOTH = """
    import sys
    import torch

    def the_library():
        torch.ops.load_library(sys.argv[1])

    def the_package():
        import mluops.torch

    for step in {order}:
        step()
    import mluops
    import mluops.torch as mt

    x, rois = torch.rand(1, 2, 6, 6), torch.tensor([[0, 1.0, 1, 5, 5]])
    wanted = mt.roi_align(x, rois, 2)
    assert torch.equal(torch.ops.mluops.roi_align(x, rois, 2, 2, 1.0, 0, 1, True)[0], wanted)
    torch.library.opcheck(torch.ops.mluops.roi_align.default, (x.requires_grad_(), rois, 2, 2, 1.0, 0, 1, True))
    exported = torch.export.export(mt.RoIAlign(2), (x.detach(), rois))
    assert torch.equal(exported.module()(x.detach(), rois), wanted)
    torch.ops.mluops.stack_ball_query(x[0, 0, :, :3].detach(), x[0, 0, :, :3].detach(), torch.tensor([6]).int(),
                                      torch.tensor([6]).int(), 0.0, 1.0, 2)
    try:
        torch.ops.mluops.three_nn(x, x)
    except mluops.BadParamError:  # the kernels of the package, in either order
        print("refused")
"""


@pytest.mark.parametrize("order", ["the_library, the_package", "the_package, the_library"])
def test_beside_the_package(order, library):
    assert run(BOTH.replace("{order}", f"[{order}]"), library) == "refused\n"


class Detector(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.features = mt.ModulatedDeformConv2dPack(3, 8, kernel_size=3, padding=1)
        self.register_buffer("boxes", torch.tensor([[0.0, 0, 16, 16], [1, 0, 16, 15], [4, 4, 12, 12]]))

    def forward(self, image):
        scores = self.features(image).relu().mean((0, 2, 3))[:3]
        dets, kept = mt.nms(self.boxes, scores, 0.5)
        rois = torch.cat([dets.new_zeros(dets.shape[0], 1), dets[:, :4]], 1)
        return mt.roi_align(self.features(image), rois, (2, 2), 1.0), kept


def test_exported_and_traced_models_load(library, tmp_path):
    torch.manual_seed(0)
    model, image = Detector().eval(), torch.randn(1, 3, 16, 16)
    with torch.no_grad():
        torch.export.save(torch.export.export(model, (image,)), tmp_path / "model.exported")
        torch.jit.save(torch.jit.trace(model, (image,)), tmp_path / "model.traced")
        torch.save([image, *model(image)], tmp_path / "wanted.pt")
    script = """
        import sys
        import torch

        if sys.argv[1:]:
            torch.ops.load_library(sys.argv[1])
        image, *wanted = torch.load("wanted.pt", weights_only=True)
        with torch.no_grad():
            for load in (lambda: torch.export.load("model.exported").module(), lambda: torch.jit.load("model.traced")):
                try:
                    found = load()(image)
                except Exception as error:
                    print(type(error).__name__, error)
                else:
                    print([torch.equal(ours, theirs) for ours, theirs in zip(found, wanted, strict=True)])
        assert "mluops" not in sys.modules
    """
    done = [subprocess.run([sys.executable, "-c", textwrap.dedent(script), *given], capture_output=True, text=True,
                           cwd=tmp_path) for given in ([library], [])]
    assert done[0].stdout == "[True, True]\n[True, True]\n", done[0].stdout + done[0].stderr
    assert "mluops" in done[1].stdout and "True" not in done[1].stdout  # docs/python.md shows these texts


@pytest.mark.long
@pytest.mark.skipif(shutil.which("cmake") is None, reason="no CMake")
@pytest.mark.skipif(not hasattr(torch._inductor, "aoti_compile_and_package"), reason="AOTInductor packages need torch 2.6")
def test_a_program_without_python_runs_models(library, tmp_path):
    """examples/cpp/libtorch on what examples/python/export_detector.py writes."""
    environment = {**os.environ, "TORCHINDUCTOR_CPP_CACHE_PRECOMPILE_HEADERS": "0", "AOT_INDUCTOR_COMPILE_WRAPPER_OPT_LEVEL": "O0"}
    for command in ([sys.executable, EXAMPLES / "python/export_detector.py", tmp_path],
                    ["cmake", "-S", EXAMPLES / "cpp/libtorch", "-B", tmp_path / "build", f"-DMLUOPS_TORCH_LIBRARY={library}",
                     f"-DCMAKE_PREFIX_PATH={torch.utils.cmake_prefix_path}"],
                    ["cmake", "--build", tmp_path / "build"]):
        done = subprocess.run(command, capture_output=True, text=True, env=environment)
        assert done.returncode == 0, done.stdout + done.stderr
    program = tmp_path / "build/run_model"
    linked = subprocess.run(["ldd", program], capture_output=True, text=True).stdout
    assert "libmluops_torch.so" in linked and "libpython" not in linked
    for model in ("detector.pt2", "detector.traced"):
        done = subprocess.run([program, tmp_path / model, tmp_path / "inputs.pt", tmp_path / "outputs.pt"], capture_output=True,
                              text=True)
        assert done.returncode == 0, done.stdout + done.stderr
        wanted, found = (torch.load(tmp_path / f"{name}.pt", weights_only=True) for name in ("expected", "outputs"))
        for ours, theirs in zip(found, wanted, strict=True):
            torch.testing.assert_close(ours, theirs, rtol=1e-4, atol=1e-5)
