"""Storage formats."""

import pytest
import torch
import torch_npu


@pytest.fixture
def internal():
    torch.npu.config.allow_internal_format = True
    yield
    torch.npu.config.allow_internal_format = False


def test_base_formats_by_rank():
    ranks = {1: 2, 2: 2, 3: 2, 4: 0, 5: 30}
    for rank, code in ranks.items():
        assert torch_npu.get_npu_format(torch.empty([2] * rank, device="npu")) == code
    with pytest.raises(RuntimeError, match="expected an NPU tensor"):
        torch_npu.get_npu_format(torch.empty(1))


@pytest.mark.parametrize(
    ("dtype", "width"),
    [(torch.float16, 16), (torch.bfloat16, 16), (torch.int8, 32), (torch.float32, 8)],
)
@pytest.mark.parametrize("shape", [(32, 64), (16, 16), (17, 33), (1, 1), (2, 3, 40, 20)])
def test_nz_blocks_the_bytes(internal, ext, dtype, width, shape):
    plain = torch.randint(-50, 50, shape).to(dtype)
    nz = torch_npu.npu_format_cast(plain.npu(), 29)
    assert torch_npu.get_npu_format(nz) == torch_npu.Format.FRACTAL_NZ and nz.shape == plain.shape
    m, n = shape[-2:]
    m1, n1 = -(-m // 16), -(-n // width)
    sizes = [*shape[:-2], n1, m1, 16, width]
    assert ext.storage_sizes(nz) == sizes
    raw = (
        torch.empty(0, dtype=dtype, device="npu")
        .set_(nz.untyped_storage().cpu().npu(), 0, sizes)
        .cpu()
    )
    padded = torch.zeros(*shape[:-2], m1 * 16, n1 * width, dtype=dtype)
    padded[..., :m, :n] = plain
    blocks = padded.unflatten(-1, (n1, width)).unflatten(-3, (m1, 16))  # m1 16 n1 width
    assert torch.equal(raw, blocks.movedim(-2, -4))
    assert torch.equal(nz.cpu(), plain)
    back = torch_npu.npu_format_cast(nz, 2)
    assert torch_npu.get_npu_format(back) in (0, 2) and torch.equal(back.cpu(), plain)


def test_operators_read_and_write_nz(internal):
    a, w = torch.randn(8, 32), torch.randn(32, 48)
    nz = torch_npu.npu_format_cast(w.npu(), 29)
    torch.testing.assert_close((a.npu() @ nz).cpu(), a @ w)
    torch.testing.assert_close((nz[4:9, 1:].t() + 1).cpu(), w[4:9, 1:].t() + 1)
    nz[2:4] *= 3
    w[2:4] *= 3
    nz.copy_(nz * 2)
    assert torch_npu.get_npu_format(nz) == 29
    torch.testing.assert_close(nz.cpu(), w * 2)


def test_nz_needs_permission_and_rank():
    x = torch.randn(16, 16, device="npu")
    with pytest.warns(UserWarning, match="allow_internal_format"):
        assert torch_npu.get_npu_format(torch_npu.npu_format_cast(x, 29)) == 2
    torch.npu.config.allow_internal_format = True
    try:
        with pytest.warns(UserWarning, match="at least 2 dimensions"):
            assert torch_npu.get_npu_format(torch_npu.npu_format_cast(x[0], 29)) == 2
        with pytest.raises(RuntimeError, match="format 3 is not supported"):
            torch_npu.npu_format_cast(x, 3)
        with pytest.raises(RuntimeError, match="elements of 1, 2 or 4 bytes, not Double"):
            torch_npu.npu_format_cast(x.double(), 29)
    finally:
        torch.npu.config.allow_internal_format = False


def test_quant_matmul():
    a, b = (
        torch.randint(-9, 9, (4, 32), dtype=torch.int8),
        torch.randint(-9, 9, (32, 6), dtype=torch.int8),
    )
    scale = torch.rand(6)
    got = torch_npu.npu_quant_matmul(a.npu(), b.npu(), scale.npu(), output_dtype=torch.float16)
    want = ((a.int() @ b.int()).float() * scale).half()
    assert got.dtype == torch.float16 and torch.equal(got.cpu(), want)
    saturated = torch_npu.npu_quant_matmul(a.npu(), b.npu(), torch.full((1,), 100.0, device="npu"))
    assert torch.equal(
        saturated.cpu(), ((a.int() @ b.int()).float() * 100).round().clamp(-128, 127).to(torch.int8)
    )
