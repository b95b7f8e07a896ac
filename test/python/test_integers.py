"""64-bit integers: what does not fit into 32 bits is refused where it would be another number, and computed where indices
outside have a meaning, eagerly and in compiled graphs."""

import pytest

torch = pytest.importorskip("torch")

import mluops  # noqa: E402
import mluops.torch as mt  # noqa: E402
from mluops.torch import _operator  # noqa: E402

FAR = [2**31, -2**31 - 1, 2**32 + 1, 2**63 - 1, -2**63]
every_far = pytest.mark.parametrize("far", FAR)


def wide(*numbers):
    return torch.tensor(numbers, dtype=torch.int64)


SHAPES, STARTS = wide([1, 1]), wide(0)
REFUSED = {
    "coors": lambda far: mt.dynamic_scatter(torch.ones(2, 1), wide([0, 0, 0], [0, far, 0])),
    "xyz_batch_cnt": lambda far: mt.ball_query(0, 1, 1, torch.ones(1, 3), torch.ones(1, 3), wide(far), wide(1)),
    "features_batch_cnt": lambda far: mt.grouping_operation(torch.ones(1, 1), wide([0]), wide(far), wide(1)),
    "source_batch_cnt": lambda far: mt.three_nn(torch.ones(1, 3), torch.ones(1, 3), wide(1), wide(far)),
    "target": lambda far: mt.sigmoid_focal_loss(torch.zeros(1, 2), wide(far)),
    "indice_pair_num": lambda far: mt.indice_conv(torch.ones(1, 1), torch.ones(1, 1, 1, 1, 1), wide([[0], [0]]),
                                                  wide(far), 1),
    "value_spatial_shapes": lambda far: mt.multi_scale_deformable_attn(
        torch.ones(1, 1, 1, 1), wide([1, far]), STARTS, torch.ones(1, 1, 1, 1, 1, 2), torch.ones(1, 1, 1, 1, 1)),
    "value_level_start_index": lambda far: mt.multi_scale_deformable_attn(
        torch.ones(1, 1, 1, 1), SHAPES, wide(far), torch.ones(1, 1, 1, 1, 1, 2), torch.ones(1, 1, 1, 1, 1)),
}


@every_far
@pytest.mark.parametrize("name", REFUSED)
def test_refused(name, far):
    with pytest.raises(mluops.BadParamError, match=f"{name}: wanted integers of 32 bits, got {far} "):
        REFUSED[name](far)
    if name == "coors":
        _, voxels = mt.dynamic_scatter(torch.ones(2, 1), wide([0, 2**31 - 1, 0], [0, 5, 0]))
        assert voxels.tolist() == [[0, 5, 0], [0, 2**31 - 1, 0]] and voxels.dtype == torch.int64


@every_far
def test_indices_outside_are_outside(far):
    features = torch.rand(1, 2, 3)
    assert not mt.gather_points(features, wide([far])).any()
    assert not mt.grouping_operation(features, wide([[far, -1]])).any()
    assert not mt.three_interpolate(features, wide([[far] * 3]), torch.ones(1, 1, 3)).any()
    assert not mt.assign_score_withk(torch.ones(1, 1, 1, 1), torch.rand(1, 2, 1, 1), torch.rand(1, 2, 1, 1),
                                     wide([[far]])).any()
    outputs, pairs, num = mt.get_indice_pairs(wide([0, 0, far], [far, 0, 0]), 1, (2**31 - 1, 2**31 - 1), 3, 2, 1)
    assert len(outputs) == 0 and not num.any() and (pairs == -1).all()
    rows = mt.indice_conv(torch.ones(1, 1), torch.ones(1, 1, 1, 1, 1), wide([[far], [0]]), wide(1), 1)
    assert rows.tolist() == [[0]]


def test_more_elements_than_32_bits_count():
    """Below sizes beyond 32 bits a number that was cut could be an index."""
    from mluops.torch import _integers
    for index, fits in ((2**31 - 1, True), (2**31, False)):
        if fits:
            assert _integers.index32("indices", wide(index), 2**31).dtype == torch.int32
        else:
            with pytest.raises(mluops.BadParamError, match=f"indices: wanted integers of 32 bits, got {index}"):
                _integers.index32("indices", wide(index), 2**31)


def test_dtypes():
    for dtype in (torch.int16, torch.uint8, torch.float32, torch.bool):
        with pytest.raises(TypeError, match=f"coors: wanted int32 or int64, got {dtype}"):
            mt.dynamic_scatter(torch.ones(1, 1), torch.zeros(1, 3, dtype=dtype))
    assert mt.dynamic_scatter(torch.ones(0, 1), torch.zeros(0, 3, dtype=torch.int64))[1].dtype == torch.int64


needs_library = pytest.mark.skipif(not _operator.HAS_LIBRARY_API, reason="this torch has no torch.library operators")


@needs_library
def test_compiled_and_fake():
    value, weights = torch.rand(1, 6, 1, 2), torch.rand(1, 3, 1, 1, 1)
    locations = torch.rand(1, 3, 1, 1, 1, 2)

    def call(shapes):
        return mt.multi_scale_deformable_attn(value, shapes, STARTS, locations, weights)

    compiled = torch.compile(call, fullgraph=True, backend="aot_eager")
    assert torch.equal(compiled(wide([2, 3])), call(wide([2, 3])))
    with pytest.raises(mluops.BadParamError, match="value_spatial_shapes: wanted integers of 32 bits, got 4294967298"):
        compiled(wide([2**32 + 2, 3]))
    with torch._subclasses.FakeTensorMode():
        voxels = torch.ops.mluops.int32(torch.zeros(4, 3, dtype=torch.int64), "coors")
        assert voxels.shape == (4, 3) and voxels.dtype == torch.int32


@needs_library
def test_opcheck():
    torch.library.opcheck(torch.ops.mluops.int32.default, (wide(1, 2, 3), "coors"))
    assert torch.equal(torch.func.vmap(lambda row: torch.ops.mluops.int32(row, "coors"))(wide([1, 2], [3, 4])),
                       wide([1, 2], [3, 4]).int())
