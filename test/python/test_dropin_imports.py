"""mluops.dropin: programs import whole packages, of which we have operators for some names; and their own fallbacks stay."""

import importlib
import importlib.util
import sys
import textwrap
import types

import pytest

torch = pytest.importorskip("torch")

from dropin_doors import EVERY_DOOR, opened  # noqa: E402
import mluops.dropin as dropin  # noqa: E402


@pytest.fixture
def doors():
    with opened(*EVERY_DOOR):
        yield


@pytest.fixture
def program(tmp_path, monkeypatch):
    """Writes a module and imports it; it is forgotten afterwards."""
    monkeypatch.syspath_prepend(str(tmp_path))
    made = []

    def write(name, source):
        place = tmp_path.joinpath(*name.split("."))
        place.parent.mkdir(parents=True, exist_ok=True)
        place.with_suffix(".py").write_text(textwrap.dedent(source))
        made.append(name)
        importlib.invalidate_caches()
        return lambda: importlib.import_module(name)

    yield write
    for name in made:
        for part in (name, name.split(".")[0]):
            sys.modules.pop(part, None)


# ---- names that we lack


def test_a_missing_name_imports_and_raises_when_it_is_called(doors, program):
    module = program("a_program", """
        from MultiScaleDeformableAttention import ms_deform_attn_forward, another_function
        class Derived(another_function):
            pass
    """)()
    assert module.ms_deform_attn_forward is not module.another_function
    for name in ("another_function", "Derived"):
        with pytest.raises(NotImplementedError, match="it has ms_deform_attn_backward, ms_deform_attn_forward: no "
                                                      "another_function"):
            getattr(module, name)(1, 2)


def test_a_missing_name_read_by_a_module_s_own_code(doors, program):
    module = program("a_program", """
        import MultiScaleDeformableAttention as ext
        another = ext.another_function
        class A:
            apply = ext.another_function.apply
        has = hasattr(ext, "another_function"), hasattr(ext, "ms_deform_attn_forward")
        def call():
            return ext.another_function()
    """)()
    assert module.has == (False, True)
    for call in (module.another, module.A.apply):
        with pytest.raises(NotImplementedError, match="no another_function"):
            call()
    with pytest.raises(AttributeError, match="no another_function"):
        module.call()


def test_a_module_that_we_have_nothing_of(doors, program):
    program("fork.__init__", "")
    module = program("fork.ops", """
        from . import feature_decorator_ext
        def call():
            return feature_decorator_ext.feature_decorator_forward()
    """)()
    with pytest.raises(AttributeError, match="no operator for it; of mmdet3d it has .*voxel_layer.*: no "
                                             "feature_decorator_forward"):
        module.call()
    assert importlib.util.find_spec("fork.feature_decorator_ext") is not None  # it is imported by now
    assert importlib.util.find_spec("feature_decorator_ext") is None


# ---- a program's own fallback


FALLBACKS = {
    "module": "try:\n    from . import feature_decorator_ext\nexcept ImportError:\n    feature_decorator_ext = None",
    "any exception": "try:\n    from . import feature_decorator_ext\nexcept:\n    feature_decorator_ext = None",
    "tuple": "try:\n    from . import feature_decorator_ext\nexcept (ImportError, OSError):\n    pass",
    "name": "try:\n    from MultiScaleDeformableAttention import another\nexcept ImportError as e:\n    another = None",
}
REFUSALS = {
    "raises": "try:\n    from . import feature_decorator_ext\nexcept ImportError as e:\n    raise RuntimeError('compile')",
    "exits": "import sys\ntry:\n    from . import feature_decorator_ext\nexcept ImportError:\n    sys.exit(1)",
    "another exception": "try:\n    from . import feature_decorator_ext\nexcept KeyError:\n    pass",
    "in the handler": "try:\n    import no_such_module_at_all\nexcept ImportError:\n    from . import feature_decorator_ext",
}


@pytest.mark.parametrize("kind", sorted(FALLBACKS))
def test_a_fallback_is_left_to_the_program(doors, program, kind):
    program("fork.__init__", "")
    module = program("fork.ops", FALLBACKS[kind])()
    assert getattr(module, "feature_decorator_ext", None) is None and getattr(module, "another", None) is None


@pytest.mark.parametrize("kind", sorted(REFUSALS))
def test_what_only_refuses_is_no_fallback(doors, program, kind):
    program("fork.__init__", "")
    assert program("fork.ops", REFUSALS[kind])().feature_decorator_ext


def test_a_fallback_further_out(doors, program):
    """A package that imports the extension, imported in a try: what names ImportError counts, what catches all does not."""
    program("fork.__init__", "")
    program("fork.ops", "from . import feature_decorator_ext")
    outer = "try:\n    from fork import ops\nexcept {}:\n    ops = None"
    assert program("outer_program", outer.format("ImportError"))().ops is None
    assert program("other_program", outer.format("Exception"))().ops is not None


def test_what_we_have_is_not_left_to_a_fallback(doors, program):
    program("fork.__init__", "")
    module = program("fork.ops", "try:\n    from . import iou3d_nms_cuda\nexcept ImportError:\n    iou3d_nms_cuda = None")()
    assert module.iou3d_nms_cuda.nms_gpu


def test_detectron2_s_evaluator_keeps_pycocotools(doors, program):
    """Its fast COCOeval is in the extension; the evaluator imports it in a try."""
    program("detectron2.__init__", "")
    program("detectron2.evaluation.__init__", "")
    program("detectron2.evaluation.fast_eval_api", "from detectron2 import _C\nclass COCOeval_opt: pass")
    source = """
        try:
            from detectron2.evaluation.fast_eval_api import COCOeval_opt
        except ImportError:
            COCOeval_opt = "pycocotools"
    """
    assert program("evaluator", source)().COCOeval_opt == "pycocotools"
    program("detectron2._C", "COCOevalEvaluateImages = 1")  # a built extension
    for name in ("evaluator", "detectron2", "detectron2.evaluation", "detectron2._C"):
        sys.modules.pop(name, None)
    assert isinstance(program("evaluator", source)().COCOeval_opt, type)


# ---- functions that refuse CPU tensors


def test_is_cuda_in_functions_that_ask_our_modules(doors, program):
    program("fork.__init__", "")
    module = program("fork.ops", """
        from . import iou3d_nms_cuda
        from .iou3d_nms_cuda import nms_gpu
        def asks(boxes):
            assert boxes.is_cuda
            return iou3d_nms_cuda.nms_gpu
        def asks_the_function(boxes):
            return boxes.is_cuda and nms_gpu
        def does_not(boxes):
            return boxes.is_cuda
    """)()
    boxes = torch.zeros(2, 7)
    assert module.asks(boxes) is module.nms_gpu is module.asks_the_function(boxes)
    assert not module.does_not(boxes) and not torch.nn.Parameter(boxes).is_cuda
    module = program("fork.by_a_function", """
        from . import iou3d_nms_cuda
        def launch(*args):
            return iou3d_nms_cuda.nms_gpu(*args)
        def other(*args):
            return args
        def asks(boxes):
            return boxes.is_cuda and launch
        def does_not(boxes):
            return boxes.is_cuda and other
    """)()
    assert module.asks(boxes) and not module.does_not(boxes)
    dropin.uninstall()
    assert not boxes.is_cuda and "is_cuda" not in vars(torch.Tensor)


# ---- extensions compiled at import


@pytest.fixture(params=["no compiler", "torch without CUDA", "no device"])
def no_cuda(request, monkeypatch, tmp_path):
    """Three ways of not being able to compile and run CUDA, whatever this machine has."""
    from torch.utils import cpp_extension
    monkeypatch.setattr(torch.cuda, "is_available", lambda: request.param != "no device")
    monkeypatch.setattr(cpp_extension, "CUDA_HOME", None if request.param == "no compiler" else str(compiler(tmp_path)))
    monkeypatch.setattr(torch.version, "cuda", None if request.param == "torch without CUDA" else "12.4")


def compiler(place):
    (place / "bin").mkdir(exist_ok=True)
    (place / "bin" / "nvcc").write_text("")
    return place


@pytest.fixture
def own(monkeypatch):
    """torch's own functions, which note that they were called."""
    from torch.utils import cpp_extension
    calls = []
    for name in ("load", "load_inline"):
        monkeypatch.setattr(cpp_extension, name, lambda *args, **kwargs: calls.append((args, kwargs)) or "torch's own")
    return calls


SOURCES = ["ops/chamfer3D/chamfer_cuda.cpp", "ops/chamfer3D/chamfer3D.cu"]


def test_loads_ours_where_cuda_cannot_be_compiled(no_cuda, own, doors):
    from torch.utils.cpp_extension import load, load_inline
    module = load(name="chamfer_3D", sources=SOURCES, extra_cuda_cflags=["-O3"])
    assert module.forward and module.__name__ == "chamfer_3D" and not own
    assert load("anything", SOURCES).__doc__ == module.__doc__  # by its sources' names, the kernels' first
    assert load_inline("chamfer_3D", ["..."], ["..."], functions=["forward"]).forward


def test_an_extension_that_we_do_not_know(no_cuda, own, doors):
    from torch.utils.cpp_extension import load, load_inline
    for call in (lambda: load("their_own", ["a/their.cpp", "a/their_kernel.cu"]),
                 lambda: load_inline("their_own", "", cuda_sources=["..."])):
        with pytest.raises(NotImplementedError, match="no module for the extension their_own.*it has .*chamfer_3D"):
            call()
    assert not own


def test_torch_compiles_what_it_can(monkeypatch, own, doors, tmp_path):
    from torch.utils import cpp_extension
    monkeypatch.setattr(cpp_extension, "CUDA_HOME", str(compiler(tmp_path)))
    monkeypatch.setattr(torch.version, "cuda", "12.4")
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    assert cpp_extension.load("chamfer_3D", SOURCES) == "torch's own"
    assert cpp_extension.load_inline("chamfer_3D", "", ["..."]) == "torch's own"
    assert len(own) == 2


def test_sources_in_c_are_torch_s(no_cuda, own, doors):
    from torch.utils.cpp_extension import load, load_inline
    assert load("chamfer_3D", ["a.cpp"], verbose=True) == "torch's own" and own[0][1] == {"verbose": True}
    assert load_inline("chamfer_3D", "...") == "torch's own"


def test_load_is_torch_s_again_afterwards(own):
    from torch.utils import cpp_extension
    before = cpp_extension.load
    dropin.install("chamfer")
    assert cpp_extension.load is not before
    dropin.uninstall()
    assert cpp_extension.load is before
    assert isinstance(sys.modules["torch.utils.cpp_extension"], types.ModuleType)
