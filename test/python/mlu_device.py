"""Device mlu of torch: memory, copies, operators, gradients, streams, types, programs for CUDA."""

import copy
import io
import re
import resource

import pytest

from aten_cases import MODULES, OPERATORS
from mlu_setup import device, torch  # noqa: F401


def flat(value):
    return list(value) if isinstance(value, (list, tuple)) else [value]


def assert_same(on_mlu, on_cpu):
    assert len(flat(on_mlu)) == len(flat(on_cpu))
    for got, want in zip(flat(on_mlu), flat(on_cpu)):
        if isinstance(want, torch.Tensor):
            assert got.device.type == "mlu"
            torch.testing.assert_close(got.cpu(), want, atol=1e-5, rtol=1e-5)
        else:
            assert got == want


def test_is_told():
    import torch_mlu
    assert torch_mlu.mlu is torch.mlu and torch.mlu.is_available()
    assert (torch.mlu.device_count(), torch.mlu.current_device()) == (1, 0)
    properties = torch.mlu.get_device_properties(0)
    assert properties.cluster_count == 8 and properties.multi_processor_count == 32
    assert "MLU370-X4" in torch.mlu.get_device_name() and torch.mlu.get_device_capability() == (3, 0)
    assert torch.accelerator.current_accelerator().type == "mlu"


def test_tensors_and_modules_go_there():
    x = torch.ones(2, 3).mlu()
    assert x.is_mlu and x.device == torch.device("mlu:0") and not x.cpu().is_mlu
    assert torch.ones(2, device="mlu").to("mlu:0").is_mlu
    assert torch.nn.Linear(2, 2).mlu().weight.is_mlu
    assert "mlu:0" in repr(x)


def test_its_modules_have_what_they_say():
    import torch_mlu
    import torch_mlu.utils.cpp_extension
    for module in (torch_mlu, torch_mlu.utils.cpp_extension):
        assert module.__all__ and all(hasattr(module, name) for name in module.__all__)


def test_there_is_one():
    for wrong in (lambda: torch.zeros(1, device="mlu:1"), lambda: torch.mlu.set_device(2),
                  lambda: torch.ones(1).to("mlu:3")):
        with pytest.raises(RuntimeError, match="one device, mlu:0"):
            wrong()


def resident_megabytes():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * resource.getpagesize() / 2**20


def test_small_results_between_large_ones_do_not_keep_their_memory():
    """glibc's heap grew by 2 MB a turn: each small result lay in the hole that the next large copy needed."""
    x = torch.rand(200_000, 3).mlu()
    kept = []
    for turn in range(110):
        if turn == 10:
            before = resident_megabytes()
        kept.append(x[turn] * 2)
        x + x
    assert resident_megabytes() - before < 60


def test_memory_is_counted():
    before = torch.mlu.memory_allocated()
    torch.mlu.reset_peak_memory_stats()
    x = torch.zeros(1000, device="mlu")
    assert torch.mlu.memory_allocated() == before + 4000
    del x
    assert torch.mlu.memory_allocated() == before
    assert torch.mlu.max_memory_allocated() == before + 4000
    torch.mlu.empty_cache()


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16, torch.float64, torch.int64, torch.int32,
                                   torch.int8, torch.uint8, torch.bool, torch.complex64])
def test_copies_keep_values(dtype):
    x = torch.arange(24).reshape(2, 3, 4).to(dtype)
    for made in (x, x.transpose(0, 2), x[:, 1:], x[:0], x[0, 0, 0]):
        back = made.to("mlu").cpu()
        assert back.dtype == dtype and torch.equal(back, made)
    there = torch.zeros(4, 3, 2, dtype=dtype, device="mlu")
    there.copy_(x.transpose(0, 2))
    there[1:, 0] = there[:3, 1].clone()
    here = x.transpose(0, 2).clone()
    here[1:, 0] = here[:3, 1].clone()
    assert torch.equal(there.cpu(), here)


@pytest.mark.parametrize("name", OPERATORS)
def test_operators(name):
    results = []
    for where in ("mlu", "cpu"):
        torch.manual_seed(0)
        results.append(OPERATORS[name](where))
    assert_same(*results)


@pytest.mark.parametrize("name", MODULES)
def test_gradients(name):
    make, sizes = MODULES[name]
    results = []
    for where in ("mlu", "cpu"):
        torch.manual_seed(0)
        module, x = make().to(where), torch.randn(*sizes).to(where).requires_grad_()
        output = module(x)
        (output[0] if isinstance(output, tuple) else output).square().sum().backward()
        results.append([x.grad, *(parameter.grad for parameter in module.parameters())])
    assert_same(*results)


def test_what_was_never_written_is_told_where_it_is_read(capfd):
    """But not of a result, which the CPU gets as an argument."""
    x = torch.ones(8, device="mlu")
    repr(x.sum()), (x > 0).all().item(), torch.add(x, x, out=torch.empty(8, device="mlu")), x.std().cpu()
    assert "never written" not in capfd.readouterr().err
    torch.empty(64, device="mlu") + 1
    torch.mlu.synchronize()
    assert re.search("256 bytes to the host: block .* was never written", capfd.readouterr().err)


def test_a_network_learns_as_on_the_cpu():
    def train(where):
        torch.manual_seed(0)
        x, y = torch.randn(16, 3, 8, 8).to(where), torch.randint(0, 4, (16,)).to(where)
        net = torch.nn.Sequential(torch.nn.Conv2d(3, 8, 3), torch.nn.BatchNorm2d(8), torch.nn.ReLU(),
                                  torch.nn.AdaptiveAvgPool2d(2), torch.nn.Flatten(), torch.nn.Linear(32, 4)).to(where)
        optimizer = torch.optim.AdamW(net.parameters(), 1e-2)
        losses = []
        for _ in range(8):
            optimizer.zero_grad()
            loss = torch.nn.functional.cross_entropy(net(x), y)
            loss.backward()
            torch.nn.utils.clip_grad_norm_(net.parameters(), 1.0)
            optimizer.step()
            losses.append(loss.item())
        return losses

    there, here = train("mlu"), train("cpu")
    assert here[-1] < here[0]
    assert there == pytest.approx(here, abs=1e-4)


def test_autocast():
    with torch.autocast("mlu", dtype=torch.bfloat16):
        assert (torch.ones(2, 2, device="mlu") @ torch.ones(2, 2, device="mlu")).dtype == torch.bfloat16
        assert torch.ones(2, device="mlu").half().softmax(0).dtype == torch.float32


def test_scaled_gradients():
    """torch.mlu.amp: a step with scaled losses is the plain one; one that is infinite is left out."""
    from torch.mlu.amp import GradScaler, autocast
    with autocast(dtype=torch.bfloat16):
        assert (torch.ones(2, 2, device="mlu") @ torch.ones(2, 2, device="mlu")).dtype == torch.bfloat16
    weight = torch.ones(3, device="mlu", requires_grad=True)
    optimizer, scaler = torch.optim.SGD([weight], 0.5), GradScaler(init_scale=8.0, growth_interval=1)
    for factor, expected, scale in ((1.0, 0.5, 16.0), (float("inf"), 0.5, 8.0)):
        optimizer.zero_grad()
        scaler.scale((weight * factor).sum()).backward()
        scaler.step(optimizer)
        scaler.update()
        assert weight.tolist() == [expected] * 3 and scaler.get_scale() == scale


@pytest.fixture
def migration():
    """Programs for CUDA as torch_mlu moves them to the device."""
    from mluops.dropin.module import torch_mlu_migration
    import torch_mlu.utils.gpu_migration
    torch_mlu.utils.gpu_migration.apply_monkey_patches()  # it is done already, but for the second test
    yield torch_mlu.utils.gpu_migration
    torch_mlu_migration.undo()


def on_cuda(tensor):
    return tensor.is_cuda


def test_programs_for_cuda_run_on_the_device(migration, tmp_path):
    migration.apply_monkey_patches()  # changes nothing
    assert torch.cuda.is_available() and torch.cuda.device_count() == 1
    torch.cuda.set_device("cuda:0")
    torch.save({"x": torch.ones(2)}, tmp_path / "x.pt")
    layer, x = torch.nn.Linear(2, 3).cuda(), torch.ones(4, 2)
    for moved in (x.cuda(), x.cuda(0, non_blocking=True), x.to("cuda"), x.to(torch.device("cuda", 0)), x.to(0),
                  torch.ones(4, 2, device="cuda"), torch.ones(4, 2, device=0), layer.weight, x.type("torch.cuda.FloatTensor"),
                  torch.load(tmp_path / "x.pt", map_location="cuda:0")["x"], torch.nn.Linear(2, 3).to("cuda").weight):
        assert moved.device.type == "mlu" and on_cuda(moved)
    assert isinstance(x.cuda(), torch.cuda.FloatTensor) and not on_cuda(x)
    assert torch.allclose(layer(x.cuda()).cpu(), layer.cpu()(x))


def test_mixed_precision_for_cuda_acts_on_the_device(migration):
    """As mmcv's tests of deformable convolutions ask for it."""
    import mluops.torch as mt
    import torch.cuda.amp
    layer = mt.DeformConv2dPack(2, 4, 3, padding=1).cuda()
    x = torch.randn(1, 2, 5, 5, device="cuda", requires_grad=True)
    for autocast in (torch.cuda.amp.autocast, lambda enabled: torch.amp.autocast("cuda", enabled=enabled),
                     lambda enabled: torch.autocast(device_type="cuda", dtype=torch.float16, enabled=enabled)):
        for enabled, dtype in ((True, torch.float16), (False, torch.float32)):
            with autocast(enabled=enabled):
                assert torch.is_autocast_enabled() is enabled is torch.is_autocast_enabled("cuda")
                assert torch.get_autocast_gpu_dtype() == torch.float16
                assert torch.nn.functional.conv2d(x, torch.ones(4, 2, 3, 3).cuda()).dtype == dtype
                loss = layer(x).float().square().mean()
            loss.backward()
            assert on_cuda(x.grad) and x.grad.abs().sum() > 0
            x.grad = None
    scaler = torch.amp.GradScaler("cuda", init_scale=8.0)
    assert float(scaler.scale(torch.ones(1).cuda())) == 8.0


def test_all_is_as_it_was_after_the_migration():
    from mluops.dropin import _cuda_calls
    from mluops.dropin.module import torch_mlu_migration as migration
    owners = (torch, torch.cuda, torch.Tensor, torch.nn.Module, torch.fft, torch.amp.autocast, torch.amp.GradScaler)
    before = {(owner, name): vars(owner).get(name) for owner in owners for name in dir(owner)}
    migration.apply_monkey_patches()
    assert torch.ones(2).cuda().is_mlu
    migration.undo()
    assert all(vars(owner).get(name) is value for (owner, name), value in before.items())
    with pytest.warns(UserWarning, match="cuda_calls=True"):
        _cuda_calls.install()
    try:
        with pytest.raises(RuntimeError, match="gpu_migration.*keeps on the CPU"):
            migration.apply_monkey_patches()
    finally:
        _cuda_calls._done.undo()


def test_our_operators():
    import mluops.torch
    points, boxes = torch.rand(1, 50, 3), torch.tensor([[[0.5, 0.5, 0.0, 0.6, 0.5, 1.0, 0.3]]])
    there = mluops.torch.points_in_boxes_part(points.mlu(), boxes.mlu())
    assert there.is_mlu and torch.equal(there.cpu(), mluops.torch.points_in_boxes_part(points, boxes))


def test_saved_and_copied():
    x = torch.randn(3, 4).mlu()
    file = io.BytesIO()
    torch.save({"x": x, "view": x.t()}, file)
    file.seek(0)
    loaded = torch.load(file)
    assert loaded["x"].is_mlu and torch.equal(loaded["view"].cpu(), x.t().cpu())
    file.seek(0)
    assert torch.load(file, map_location="cpu")["x"].device.type == "cpu"
    assert torch.equal(copy.deepcopy(x).cpu(), x.cpu())


def test_seeds():
    torch.mlu.manual_seed(3)
    first = torch.randn(5, device="mlu")
    torch.mlu.manual_seed(3)
    assert torch.equal(first.cpu(), torch.randn(5, device="mlu").cpu())


def test_streams():
    stream = torch.mlu.Stream()
    assert stream != torch.mlu.current_stream() and torch.mlu.current_stream() == torch.mlu.default_stream()
    with torch.mlu.stream(stream):
        assert torch.mlu.current_stream().mlu_stream == stream.mlu_stream
    assert torch.mlu.current_stream() == torch.mlu.default_stream()
    assert stream.query()
    stream.synchronize()
    torch.mlu.synchronize()


def test_types_of_tensors():
    made = torch.mlu.FloatTensor([1.5, 2])
    assert made.device.type == "mlu" and made.tolist() == [1.5, 2]
    assert isinstance(made, torch.mlu.FloatTensor) and not isinstance(made, torch.mlu.HalfTensor)
    assert not isinstance(torch.ones(2), torch.mlu.FloatTensor)
    for dtype in (torch.bool, torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64, torch.half,
                  torch.bfloat16, torch.double):
        kinds = [name for name in dir(torch.mlu) if name.endswith("Tensor")
                 and isinstance(torch.zeros(1, dtype=dtype, device="mlu"), getattr(torch.mlu, name))]
        assert len(kinds) == 1, (dtype, kinds)
    torch.backends.cnnl.allow_tf32 = torch.backends.mlu.matmul.allow_tf32 = False


def test_mmengine_takes_its_masks():
    structures = pytest.importorskip("mmengine.structures")
    data = structures.InstanceData(boxes=torch.arange(6.0, device="mlu").reshape(3, 2))
    kept = data[torch.tensor([True, False, True], device="mlu")]
    assert kept.boxes.cpu().tolist() == [[0, 1], [4, 5]]
