"""Buffers that are too short or of the wrong dtype: the error names the argument as the program knows it, what was wanted
and what was got, and no buffer of the call has changed."""

import ast
import importlib
import re
from pathlib import Path

import pytest

torch = pytest.importorskip("torch")

from dropin_doors import opened  # noqa: E402
import mluops  # noqa: E402

_HERE = Path(mluops.__file__).parent
_FILES = sorted([*_HERE.glob("dropin/*.py"), *_HERE.glob("dropin/module/*.py"), *_HERE.glob("torch/filling/*.py")])
_VIEWS = ("detach", "flatten", "permute", "reshape", "squeeze", "t", "transpose", "unsqueeze", "view", "view_as")
_WRITERS = ("add", "add_all", "fill", "fill_all", "fill_first", "write")


# ---- by the source: all modules


def _owner(node):
    """The variable whose memory an expression means."""
    while not isinstance(node, ast.Name):
        if isinstance(node, ast.Call):
            if getattr(node.func, "attr", None) not in _VIEWS:
                return None
            node = node.func.value
        elif isinstance(node, (ast.Attribute, ast.Subscript)):
            node = node.value
        else:
            return None
    return node.id


def _written(node):
    """The variables that a statement or call writes into: x.add_(..), x[..] = .."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        name = node.func.attr
        inplace = name.endswith("_") and not name.startswith("_") and name != "requires_grad_"
        return [_owner(node.func.value)] if inplace else []
    if isinstance(node, (ast.Assign, ast.AugAssign)):
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        return [_owner(target) for target in targets if isinstance(target, ast.Subscript)]
    return []


def _called(node):
    return {getattr(each.func, "attr", getattr(each.func, "id", "")) for each in ast.walk(node) if isinstance(each, ast.Call)}


def _is_checked(function):
    """The names that a function binds anew to a buffer that was checked, or to a copy."""
    return {name.id for node in ast.walk(function) if isinstance(node, ast.Assign)
            and _called(node.value) & {"room", "neighbour_buffers", "clone"}
            for target in node.targets for name in ast.walk(target) if isinstance(name, ast.Name)}


def _functions():
    for file in _FILES:
        for function in ast.walk(ast.parse(file.read_text())):
            if isinstance(function, ast.FunctionDef):
                yield file.relative_to(_HERE), function


def test_buffers_are_written_through_the_functions_that_check_them():
    """No function writes into its parameters but by torch/_buffers.py, or after room(), which checks."""
    found = []
    for file, function in _functions():
        arguments = function.args
        parameters = {each.arg for each in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)}
        parameters -= {"self", "cls", "destination"} | _is_checked(function)
        found += [f"{file}:{node.lineno} {function.name} writes into {name}" for node in ast.walk(function)
                  for name in _written(node) if name in parameters]
    assert not found, "\n".join(found)


def test_a_call_writes_all_its_buffers_at_once():
    """Or else the first would have changed when the second does not fit."""
    found = []
    for file, function in _functions():
        calls = [node.func.id for node in ast.walk(function) if isinstance(node, ast.Call)
                 and isinstance(node.func, ast.Name) and node.func.id in _WRITERS]
        if len(calls) > 1:
            found.append(f"{file} {function.name} calls {', '.join(calls)}")
    assert not found, "\n".join(found)


# ---- by calls: one or more of each kind of writing


def ints(*values):
    return torch.tensor(values, dtype=torch.int32)


def integers(*shape):
    return torch.zeros(*shape, dtype=torch.int32)


X = torch.arange(24.0).reshape(8, 3) / 24
ENDS, TWO = ints(3, 8), ints(2, 4)
IDX = ints([0, 1], [1, 2], [2, 0], [3, 7], [4, 5], [5, 6], [6, 7], [7, 3])
ONES = torch.ones(8, 2, 4)

# module, function, arguments, buffers by place and name
CALLS = {
    "fill": ("pointnet2_batch_cuda", "three_nn_wrapper", lambda: [1, 4, 8, X[None, :4], X[None], torch.zeros(1, 4, 3), integers(1, 4, 3)],
             {5: "dist2", 6: "idx"}),
    "fill, of mmcv's names": ("pointnet2_batch_cuda", "ball_query_wrapper",
                              lambda: [1, 8, 2, 0.5, 3, X[None, :2], X[None], integers(1, 2, 3)], {7: "idx"}),
    "parts of a buffer": ("pointops_cuda", "knnquery_cuda",
                          lambda: [4, 2, X, X[:4], ENDS, TWO, integers(4, 2), torch.zeros(4, 2)], {6: "idx", 7: "dist2"}),
    "samples": ("pointops_cuda", "furthestsampling_cuda", lambda: [2, 5, X, ENDS, TWO, torch.full((8,), 1e10), integers(4)],
                {6: "idx"}),
    "samples of stacks": ("pointnet2_stack_cuda", "stack_farthest_point_sampling_wrapper",
                          lambda: [X, torch.full((8,), 1e10), ints(3, 5), integers(4), ints(2, 2)], {3: "idx"}),
    "rows by index": ("pointops_cuda", "grouping_backward_cuda", lambda: [8, 2, 3, torch.ones(8, 2, 3), IDX, torch.zeros(8, 3)],
                      {5: "grad_input"}),
    "rows by index and weight": ("pointops_cuda", "interpolation_backward_cuda",
                                 lambda: [8, 3, 2, X, IDX, torch.ones(8, 2), torch.zeros(8, 3)], {6: "grad_input"}),
    "several": ("pointops_cuda", "aggregation_backward_cuda",
                lambda: [8, 2, 4, 2, torch.ones(8, 4), ONES, torch.ones(8, 2, 2), IDX, torch.ones(8, 4),
                         torch.zeros(8, 4), torch.zeros(8, 2, 4), torch.zeros(8, 2, 2)],
                {9: "grad_input", 10: "grad_position", 11: "grad_weight"}),
    "as much as there is": ("ingroup_inds_cuda", "forward", lambda: [ints(3, 3, 5, 3).long(), torch.zeros(4).long()],
                            {1: "out_inds"}),
    "of proposals": ("PG_OP", "sec_min", lambda: [X, ints(0, 3, 8), torch.zeros(2, 3), 2, 3], {2: "out"}),
    "of proposals, back": ("PG_OP", "roipool_bp", lambda: [torch.zeros(8, 3), ints(0, 3, 8), ints([0, 1, 2], [7, 6, 5]), X[:2], 2, 3],
                           {0: "d_feats"}),
    "of intervals": ("bev_pool_v2_ext", "bev_pool_v2_forward",
                     lambda: [torch.ones(4), X, torch.zeros(1, 1, 1, 3, 3), ints(0, 1, 2, 3), ints(0, 1, 2, 3), ints(0, 0, 2, 2),
                              ints(2, 2), ints(0, 2)], {2: "out"}),
    "of a table": ("votr_ops_cuda", "build_mapping_with_tensor_wrapper",
                   lambda: [2, 2, 2, 2, ints([0, 0, 0, 1], [1, 1, 1, 1]), ints(1, 1), integers(2, 2, 2, 2)],
                   {6: "xyz_to_vidx"}),
    "of a table of keys": ("votr_ops_cuda", "build_mapping_with_hash_wrapper",
                           lambda: [2, 2, 2, 2, 3, ints([0, 0, 0, 1], [1, 1, 1, 1]), ints(1, 1), integers(2, 3, 2)],
                           {7: "xyz_to_vidx"}),
    "of coarse voxels": ("votr_ops_cuda", "downsample_with_tensor_wrapper",
                         lambda: [1, 1, 1, 2, 2, 2, 2, 1, ints([0, 0, 0, 1], [1, 1, 1, 1]), integers(2, 1, 3),
                                  integers(2, 1, 1, 1), integers(2)],
                         {9: "ds_v_indices", 10: "xyz_to_vidx", 11: "vcount"}),
    "of features attended to": ("votr_ops_cuda", "group_features_wrapper",
                                lambda: [1, 8, 3, 2, X, ints(8), IDX, ints(8), torch.zeros(8, 3, 2)], {8: "out"}),
    "a result of torch_scatter": ("torch_scatter", "scatter_sum",
                                  lambda: [X, ints(0, 0, 1, 1, 2, 2, 3, 3).long(), 0, torch.zeros(4, 3)], {3: "out"}),
    "another of torch_scatter": ("torch_scatter", "scatter_max",
                                 lambda: [X, ints(0, 0, 1, 1, 2, 2, 3, 3).long(), 0, torch.zeros(4, 3)], {3: "out"}),
    "two gradients": ("deform_conv_ext", "deform_conv_backward_input",
                      lambda: [torch.ones(1, 2, 4, 4), torch.zeros(1, 18, 4, 4), torch.ones(1, 3, 4, 4), torch.zeros(1, 2, 4, 4),
                               torch.zeros(1, 18, 4, 4), torch.ones(3, 2, 3, 3), torch.empty(0), 3, 3, 1, 1, 1, 1, 1, 1, 1, 1, 1],
                      {3: "gradInput", 4: "gradOffset"}),
    "sums of gradients": ("deform_conv_ext", "deform_conv_backward_parameters",
                          lambda: [torch.ones(1, 2, 4, 4), torch.zeros(1, 18, 4, 4), torch.ones(1, 3, 4, 4), torch.zeros(3, 2, 3, 3),
                                   torch.empty(0), torch.empty(0), 3, 3, 1, 1, 1, 1, 1, 1, 1, 1, 1.0, 1], {3: "gradWeight"}),
}
RESIZED = {
    "correlation": ("correlation_cuda", "forward",
                    lambda: [torch.ones(1, 2, 5, 5), torch.ones(1, 2, 5, 5), torch.empty(0), torch.empty(0), torch.empty(0), 1, 1, 1, 1,
                             1, 1], {4: "output"}),
    "clusters": ("PG_OP", "voxelize_idx",
                 lambda: [ints([0, 1, 1, 1], [0, 1, 1, 1], [0, 2, 1, 1]).long(), torch.empty(0).long(), integers(3), integers(0), 1, 4],
                 {1: "output_coords", 2: "input_map", 3: "output_map"}),
}


@pytest.fixture(scope="module", autouse=True)
def doors():
    with opened("pcdet", "pointops", "pointgroup", "mmdet3d", "torch_scatter", "deform_conv", "flownet2"):
        yield


def fails(module, name, make, place, buffer, argument, got):
    """Calls a function with a buffer in the place of a good one."""
    arguments = make()
    arguments[place] = buffer
    before = [each.clone() if isinstance(each, torch.Tensor) else each for each in arguments]
    with pytest.raises((TypeError, ValueError), match=rf"^{argument}: wanted a buffer .*, got {re.escape(got)}"):
        getattr(importlib.import_module(module), name)(*arguments)
    for now, then in zip(arguments, before):
        assert not isinstance(now, torch.Tensor) or torch.equal(now, then)


def of_wrong_dtype(buffer):
    kinds = [torch.int32] if buffer.is_floating_point() else [torch.float32, torch.uint8]
    return [buffer.to(kind) for kind in kinds]


@pytest.mark.parametrize("call", CALLS)
def test_too_short(call):
    module, name, make, buffers = CALLS[call]
    getattr(importlib.import_module(module), name)(*make())
    for place, argument in buffers.items():
        good = make()[place]
        short = good[:-1].clone() if len(good) > 1 else good[..., :-1].clone()
        fails(module, name, make, place, short, argument, str(list(short.shape)))


@pytest.mark.parametrize("call", [*CALLS, *RESIZED])
def test_wrong_dtype(call):
    module, name, make, buffers = {**CALLS, **RESIZED}[call]
    for place, argument in buffers.items():
        for wrong in of_wrong_dtype(make()[place]):
            fails(module, name, make, place, wrong, argument, str(wrong.dtype))


def test_inputs_that_do_not_fit_are_told_with_their_names():
    module = importlib.import_module("pointops_cuda")
    with pytest.raises(RuntimeError, match=r"^pointops_cuda.aggregation_forward_cuda: .*; got input float32 \[8, 4\], position "
                                           r"float32 \[7, 2, 4\], weight"):
        module.aggregation_forward_cuda(8, 2, 4, 2, torch.ones(8, 4), ONES[:7], torch.ones(8, 2, 2), IDX, torch.zeros(8, 4))


# ---- numbers


def as_tensors(args):
    """Numbers as tensors of floats without axes, which pybind11 takes for sizes too."""
    kinds = {int: torch.float64, float: torch.float64, bool: torch.bool}
    return [torch.tensor(each, dtype=kinds[type(each)]) if type(each) in kinds else each for each in args]


def tensors_of(made):
    if isinstance(made, torch.Tensor):
        return [made]
    return [each for part in made for each in tensors_of(part)] if isinstance(made, (list, tuple)) else []


@pytest.mark.parametrize("call", CALLS)
def test_numbers_may_be_tensors(call):
    module, name, make, _ = CALLS[call]
    function, args, same = getattr(importlib.import_module(module), name), make(), make()
    for one, other in zip(tensors_of([function(*args), *args]), tensors_of([function(*as_tensors(same)), *same])):
        assert torch.equal(one, other)


def test_a_size_that_a_program_has_in_a_tensor():
    """BEVDet keeps its grid's sizes as floats; MapTR's are parameters without gradient."""
    module = importlib.import_module("bev_pool_ext")
    place = torch.tensor([[0, 1, 0, 0], [1, 0, 0, 0]], dtype=torch.int32)
    sizes = torch.nn.Parameter(torch.tensor([1.0, 2.0, 2.0]), requires_grad=False)
    made = module.bev_pool_forward(torch.tensor([[1.0], [2.0]]), place, None, None, 1, *sizes)
    assert made.tolist() == [[[[[0.0], [1.0]], [[2.0], [0.0]]]]]


def test_functions_of_tensors_without_axes_keep_them():
    from mluops.dropin._telling import telling
    one, other = torch.tensor(2.0), torch.tensor(3.0, requires_grad=True)
    given = telling("f", lambda *args: args)
    assert given(one, 2)[0] is one and given(torch.ones(2), other)[1] is other and given(torch.ones(2), one)[1] == 2
