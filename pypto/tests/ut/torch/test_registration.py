"""Schemas and Fake/Meta kernels of operators that write into passed tensors, without a device.

Namespaces are made for one test; the kernels are CPU functions written here. Where a schema returns one
of its inputs, the tests look at the schema and at fake results only: torch's functionalisation does not
take such operators.
"""

from __future__ import annotations

import gc
import itertools
import tomllib
from pathlib import Path

import pytest
import torch
from pypto.ir.param_info import ParamDirection, ParamInfo
from pypto.torch.registration import RegistrationSignature
from torch._dynamo.source import ConstantSource
from torch._dynamo.testing import CompileCounterWithBackend
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.fx.experimental.symbolic_shapes import (
    DimDynamic,
    ShapeEnv,
    StatelessSymbolicContext,
)

from pypto import dtypes

In, Out, InOut = ParamDirection.In, ParamDirection.Out, ParamDirection.InOut
_count = itertools.count()


def tensor(name, direction=In, shape=(-1, 8), dtype="FP32"):
    return ParamInfo(name, direction, shape, dtypes.ALL[dtype])


def scalar(name, dtype="INT64", direction=In):
    return ParamInfo(name, direction, None, dtypes.ALL[dtype])


SCALE = RegistrationSignature([tensor("x"), scalar("n"), tensor("y", Out)])
SCALE_RETURNS = RegistrationSignature(
    [tensor("x"), scalar("n"), tensor("y", Out)], return_aliases=[2]
)


def scale_cpu(x, n, y):
    y.copy_(x * n)


@pytest.fixture
def library():
    made = torch.library.Library(f"pypto_test_{next(_count)}", "FRAGMENT")
    yield made
    made._destroy()


@pytest.fixture
def scale(library):
    SCALE.define(library, "scale")
    library.impl("scale", scale_cpu, "CPU")
    return getattr(torch.ops, library.ns).scale


# Schema.


@pytest.mark.parametrize(
    "aliases, returned",
    [
        ([], "()"),
        ([2], "Tensor(a2!)"),
        ([2, 3], "(Tensor(a2!), Tensor(a3!))"),
        ([3, 3], "(Tensor(a3!), Tensor(a3!))"),
    ],
)
def test_schema_marks_what_is_written_and_ties_results(aliases, returned):
    params = [tensor("x"), scalar("n"), tensor("y", Out), tensor("z", InOut)]
    signature = RegistrationSignature(params, return_aliases=aliases)
    text = signature.schema("op")
    assert text == f"op(Tensor(a0) x, SymInt n, Tensor(a2!) y, Tensor(a3!) z) -> {returned}"
    parsed = torch._C.parse_schema("ns::" + text)
    assert [a.alias_info.is_write for a in parsed.arguments if a.alias_info] == [False, True, True]
    assert [r.alias_info.before_set for r in parsed.returns] == [{f"a{i}"} for i in aliases]


def test_the_signature_holds_the_shared_parameters():
    params = [tensor("x", shape=(-1, 4), dtype="FP4"), tensor("y", Out)]
    signature = RegistrationSignature(params, return_aliases=[1])
    assert signature.params == tuple(params) and signature.params[0] is params[0]
    assert signature.return_aliases == (1,)


@pytest.mark.parametrize(
    "dtype, kind",
    [("INT8", "SymInt"), ("INT64", "SymInt"), ("UINT32", "SymInt"), ("INDEX", "SymInt")]
    + [("FP16", "float"), ("BF16", "float"), ("FP32", "float"), ("BOOL", "bool")],
)
def test_scalars_become_the_dispatchers(dtype, kind):
    signature = RegistrationSignature([tensor("x", InOut), scalar("s", dtype)])
    assert signature.schema("op") == f"op(Tensor(a0!) x, {kind} s) -> ()"


REFUSED = {
    "read-only result": ([tensor("x"), tensor("y", Out)], [0], ValueError, "result 0 is the read-only input 'x'"),
    "scalar result": ([tensor("x", Out), scalar("n")], [1], ValueError, "result 0 is the scalar 'n'"),
    "missing result": ([tensor("x", Out)], [3], ValueError, "result 0 is parameter 3; there are 1"),
    "scalar output": ([tensor("x"), scalar("n", direction=Out)], [], ValueError, "a scalar is an input, not Out"),
    "only scalars": ([scalar("n")], [], ValueError, "no tensor parameter"),
    "no parameters": ([], [], ValueError, "no tensor parameter"),
    "same name": ([tensor("x"), tensor("x", Out)], [], ValueError, "both named 'x'"),
    "keyword": ([tensor("lambda")], [], ValueError, "'lambda' is no name"),
    "bad name": ([tensor("a b")], [], ValueError, "'a b' is no name"),
    "extent": ([tensor("x", shape=(-2,))], [], ValueError, "an extent below -1"),
    "uint64": ([tensor("x"), scalar("n", "UINT64")], [], TypeError, "signed and cannot hold every uint64; use int64"),
    "fp8 scalar": ([tensor("x"), scalar("n", "FP8E4M3FN")], [], TypeError, "no scalar for"),
}  # fmt: skip


@pytest.mark.parametrize("params, aliases, error, text", REFUSED.values(), ids=REFUSED)
def test_signatures_that_no_operator_can_have(params, aliases, error, text):
    with pytest.raises(error, match=text):
        RegistrationSignature(params, return_aliases=aliases)


@pytest.mark.parametrize("name", ["", "1op", "a.b", "a-b", "class", "ns::op", None])
def test_names_that_no_operator_can_have(name, library):
    with pytest.raises(ValueError, match="is no name that a schema can have"):
        SCALE.define(library, name)


# Fake and Meta.


def test_fake_takes_meta_tensors_and_returns_the_arguments_themselves():
    x, y = torch.ones(3, 8, device="meta"), torch.ones(3, 8, device="meta")
    assert SCALE.fake(x, 2, y) is None
    assert SCALE_RETURNS.fake(x, 2, y) is y
    both = RegistrationSignature([tensor("x", InOut), tensor("y", Out)], return_aliases=[1, 0, 1])
    result = both.fake(x, y)
    assert isinstance(result, tuple) and [r is e for r, e in zip(result, (y, x, y))] == [True] * 3


@pytest.mark.parametrize("rows", [2, 0])
def test_returned_inputs_keep_stride_offset_and_identity(rows):
    with FakeTensorMode():
        base = torch.empty(10, 8)
        view = base[3 : 3 + rows]
        result = SCALE_RETURNS.fake(torch.empty(2, 8), 1, view)
        assert result is view
        assert (result.stride(), result.storage_offset()) == ((8, 1), 24)
        assert result.untyped_storage()._cdata == base.untyped_storage()._cdata


ABSTRACT_REFUSED = {
    "count": (lambda x, y: (x, y), TypeError, "expects 3 arguments including all Out/InOut"),
    "real": (lambda x, y: (torch.ones(3, 8), 1, y), TypeError, "takes FakeTensor or meta tensors, got Tensor"),
    "no tensor": (lambda x, y: (3, 1, y), TypeError, "takes FakeTensor or meta tensors, got int"),
    "dtype": (lambda x, y: (x.half(), 1, y), TypeError, "Parameter 'x' takes fp32"),
    "rank": (lambda x, y: (x[0], 1, y), ValueError, "Parameter 'x' takes rank 2, got rank 1"),
    "shape": (lambda x, y: (x[:, :4].contiguous(), 1, y), RuntimeError, "Parameter 'x': axis 1 is 4, it must be 8"),
    "strides": (lambda x, y: (torch.empty(8, 8, device="meta").t(), 1, y), ValueError, "Parameter 'x' is not contiguous"),
    "grad": (lambda x, y: (x.requires_grad_(), 1, y), ValueError, "Parameter 'x' requires grad"),
    "scalar kind": (lambda x, y: (x, 1.5, y), TypeError, "Parameter 'n'"),
    "scalar range": (lambda x, y: (x, 2**63, y), ValueError, "Parameter 'n'"),
}  # fmt: skip


@pytest.mark.parametrize("change, error, text", ABSTRACT_REFUSED.values(), ids=ABSTRACT_REFUSED)
def test_abstract_arguments_that_do_not_fit(change, error, text):
    x, y = torch.empty(3, 8, device="meta"), torch.empty(3, 8, device="meta")
    with pytest.raises(error, match=text):
        SCALE.fake(*change(x, y))


def test_abstract_tensors_of_two_devices_are_refused():
    with FakeTensorMode():
        x = torch.empty(3, 8)
        y = torch.empty(3, 8, device="meta")
    with pytest.raises(ValueError, match="Parameter 'y' is on meta, an earlier parameter on cpu"):
        SCALE.fake(x, 1, y)


def test_no_grad_inference_may_pass_parameters():
    x = torch.empty(3, 8, device="meta", requires_grad=True)
    with torch.no_grad():
        assert SCALE.fake(x, 1, torch.empty(3, 8, device="meta")) is None


def test_symbols_stay_symbols():
    shapes = ShapeEnv()
    mode = FakeTensorMode(shape_env=shapes)

    def symbolic(name):
        context = StatelessSymbolicContext([DimDynamic.DYNAMIC, DimDynamic.STATIC])
        return mode.from_tensor(
            torch.empty(5, 8), symbolic_context=context, source=ConstantSource(name)
        )

    x, y = symbolic("x"), symbolic("y")
    rows = x.shape[0]
    assert isinstance(rows, torch.SymInt) and isinstance(y.shape[0], torch.SymInt)
    before = len(shapes.guards)
    unbacked = shapes.create_unbacked_symint()
    with mode:
        assert SCALE_RETURNS.fake(x, rows, y) is y  # a backed one
        assert SCALE_RETURNS.fake(x, unbacked, y) is y
    assert x.shape[0].node.expr == rows.node.expr
    assert len(shapes.guards) == before, "a fake call bound a symbol to its hint"


def test_ranges_of_smaller_integers_hold_for_symbols():
    signature = RegistrationSignature([tensor("x", InOut), scalar("n", "INT8")])
    shapes = ShapeEnv()
    with FakeTensorMode(shape_env=shapes):
        x = torch.empty(5, 8)
        symbol = shapes.create_unbacked_symint()
        signature.fake(x, symbol)
        found = shapes.bound_sympy(symbol.node.expr)
        assert (int(found.lower), int(found.upper)) == (-128, 127)
        with pytest.raises(TypeError, match="takes bool, got a symbolic integer"):
            RegistrationSignature([tensor("x", InOut), scalar("b", "BOOL")]).fake(x, symbol)


# Through the dispatcher.


def test_defined_operators_run_checked(scale):
    x, y = torch.ones(3, 8), torch.zeros(3, 8)
    assert scale(x, 4, y) is None
    assert torch.equal(y, torch.full((3, 8), 4.0))
    meta = torch.empty(3, 8, device="meta")
    assert scale(meta, 4, meta.clone()) is None
    with pytest.raises(RuntimeError, match="axis 1 is 7, it must be 8"):
        scale(torch.empty(3, 7, device="meta"), 4, meta)


def test_opcheck_passes_for_pure_mutation(scale):
    arguments = (torch.ones(3, 8), 2, torch.zeros(3, 8))
    results = torch.library.opcheck(scale.default, arguments)
    assert set(results.values()) == {"SUCCESS"}
    assert "test_aot_dispatch_dynamic" in results


def test_compiles_without_breaks_and_returns_the_callers_output(scale):
    def step(x, y):
        scale(x + 1, 3, y)
        return y

    compiled = torch.compile(step, backend="aot_eager", fullgraph=True, dynamic=True)
    x, y = torch.ones(3, 8), torch.zeros(3, 8)
    assert compiled(x, y) is y
    assert torch.equal(y, torch.full((3, 8), 6.0))


def test_a_scalar_from_a_shape_reuses_one_graph(scale):
    counter = CompileCounterWithBackend("aot_eager")

    def step(x, y):
        scale(x, x.shape[0] + 1, y)
        return y

    torch._dynamo.reset()
    compiled = torch.compile(step, backend=counter, fullgraph=True, dynamic=True)
    for rows in (3, 4, 9, 30):
        y = compiled(torch.ones(rows, 8), torch.zeros(rows, 8))
        assert torch.equal(y, torch.full((rows, 8), rows + 1.0))
    assert counter.frame_count == 1


@pytest.mark.parametrize("backed", [True, False])
def test_symbols_reach_the_fake_kernel_as_they_are(library, backed):
    seen = []

    class Watched(RegistrationSignature):
        def fake(self, *args):
            seen.append(args[1])
            return super().fake(*args)

    Watched([tensor("x"), scalar("n"), tensor("y", Out)]).define(library, "scale")
    library.impl("scale", scale_cpu, "CPU")
    op = getattr(torch.ops, library.ns).scale

    def step(x, number, y):
        op(x, x.shape[0] if backed else number.item(), y)
        return y

    torch._dynamo.reset()
    counter = CompileCounterWithBackend("aot_eager")
    with torch._dynamo.config.patch(capture_scalar_outputs=True):
        compiled = torch.compile(step, backend=counter, fullgraph=True, dynamic=True)
        for rows, number in ((3, 5), (4, 11), (7, -2)):
            y = compiled(torch.ones(rows, 8), torch.tensor(number), torch.zeros(rows, 8))
            assert torch.equal(y, torch.full((rows, 8), float(rows if backed else number)))
    symbols = [n for n in seen if isinstance(n, torch.SymInt)]
    assert symbols, "the fake kernel saw no symbol"
    if not backed:
        assert any(not n.node.has_hint() for n in symbols)
    assert counter.frame_count == 1, "an equality guard made a second graph"


def test_schemas_with_returns_have_the_right_schema_and_fake(library):
    SCALE_RETURNS.define(library, "scale_")
    op = getattr(torch.ops, library.ns).scale_.default
    assert str(op._schema).endswith("(Tensor(a0) x, SymInt n, Tensor(a2!) y) -> Tensor(a2!)")
    x, y = torch.empty(3, 8, device="meta"), torch.empty(3, 8, device="meta")
    assert op(x, 1, y) is y
    with FakeTensorMode():
        x, y = torch.empty(3, 8), torch.empty(3, 8)
        assert op(x, 1, y) is y


# Definition and its life.


def test_a_second_definition_is_torchs_error_and_replaces_nothing(library, scale):
    other = RegistrationSignature([tensor("a", InOut, shape=(-1,))])
    for signature in (SCALE, other):
        with pytest.raises(RuntimeError, match="multiple times|same name and the same overload"):
            signature.define(library, "scale")
    x, y = torch.ones(2, 8), torch.zeros(2, 8)
    scale(x, 2, y)
    assert torch.equal(y, torch.full((2, 8), 2.0))
    assert str(scale.default._schema).startswith(f"{library.ns}::scale(Tensor(a0) x")


def test_definitions_live_as_long_as_the_callers_library():
    made = torch.library.Library(f"pypto_test_{next(_count)}", "FRAGMENT")
    SCALE.define(made, "scale")
    name = f"{made.ns}::scale"
    assert name in torch._C._dispatch_get_all_op_names()
    assert torch._library.simple_registry.singleton.find(name).fake_impl.kernel is not None
    made._destroy()
    gc.collect()
    assert (
        not torch._C._dispatch_find_schema_or_throw_exists(name)
        if hasattr(torch._C, "_dispatch_find_schema_or_throw_exists")
        else name not in torch._C._dispatch_get_all_op_names()
    )
    assert torch._library.simple_registry.singleton.find(name).fake_impl.kernel is None


def test_the_helper_installs_no_device_kernel(library):
    SCALE.define(library, "scale")
    name = f"{library.ns}::scale"
    for key in ("CPU", "PrivateUse1", "CUDA", "AutogradPrivateUse1", "CompositeImplicitAutograd"):
        assert not torch._C._dispatch_has_kernel_for_dispatch_key(name, key), key
    x = torch.ones(3, 8)
    with pytest.raises(NotImplementedError, match="'CPU' backend"):
        getattr(torch.ops, library.ns).scale(x, 2, x.clone())


def test_the_packages_requirement_of_torch_stays():
    project = tomllib.loads((Path(__file__).resolve().parents[4] / "pyproject.toml").read_text())
    assert project["project"]["dependencies"] == []
    (torch_extra,) = project["project"]["optional-dependencies"]["torch"]
    lowest = tuple(int(part) for part in torch_extra.partition(">=")[2].split("."))
    assert lowest >= (2, 6), "2.0 and 2.1 have neither registration call and are not claimed"


def test_importing_and_reloading_registers_nothing(run_without_optional_runtime):
    body = """
import importlib, torch
before = set(torch._C._dispatch_get_all_op_names())
import pypto.torch.registration as registration
importlib.reload(registration)
check(set(torch._C._dispatch_get_all_op_names()) == before, "an operator was registered")
import pypto.torch
check(pypto.torch.__all__ == ["init"], "exports")
"""
    run_without_optional_runtime(body)


@pytest.mark.parametrize("optimize", [0, 1, 2])
def test_fake_and_meta_dispatch_without_optional_packages(run_without_optional_runtime, optimize):
    body = """
import torch
from pypto import dtypes
from pypto.ir.param_info import ParamDirection, ParamInfo
from pypto.torch.registration import RegistrationSignature
F = dtypes.ALL["FP32"]
signature = RegistrationSignature(
    [ParamInfo("x", ParamDirection.In, (-1, 8), F), ParamInfo("y", ParamDirection.Out, (-1, 8), F)], return_aliases=[1])
library = torch.library.Library("pypto_isolated", "FRAGMENT")
signature.define(library, "copy_rows")
y = torch.empty(3, 8, device="meta")
check(torch.ops.pypto_isolated.copy_rows(torch.empty(3, 8, device="meta"), y) is y, "meta dispatch")
from torch._subclasses.fake_tensor import FakeTensorMode
with FakeTensorMode():
    y = torch.empty(3, 8)
    check(torch.ops.pypto_isolated.copy_rows(torch.empty(3, 8), y) is y, "fake dispatch")
"""
    run_without_optional_runtime(body, optimize=optimize)


# The registration call of older versions of torch.


@pytest.fixture
def old_torch(monkeypatch):
    """torch.library as versions 2.2 and 2.3 have it."""
    register = torch.library.register_fake
    calls = []

    def impl_abstract(name, function, *, lib):
        calls.append(name)
        return register(name, function, lib=lib)

    monkeypatch.delattr(torch.library, "register_fake")
    monkeypatch.setattr(torch.library, "impl_abstract", impl_abstract, raising=False)
    return calls


def test_the_older_registration_call_is_used_where_the_new_one_is_missing(old_torch):
    made = torch.library.Library(f"pypto_test_{next(_count)}", "FRAGMENT")
    SCALE_RETURNS.define(made, "scale")
    assert old_torch == [f"{made.ns}::scale"]
    op = getattr(torch.ops, made.ns).scale
    x, y = torch.empty(3, 8, device="meta"), torch.empty(3, 8, device="meta")
    assert op(x, 1, y) is y
    with FakeTensorMode():
        x, y = torch.empty(3, 8), torch.empty(3, 8)
        assert op(x, 1, y) is y
    with pytest.raises(RuntimeError, match="multiple times|same name and the same overload"):
        SCALE.define(made, "scale")
    name = f"{made.ns}::scale"
    made._destroy()
    assert torch._library.simple_registry.singleton.find(name).fake_impl.kernel is None


def test_without_either_call_nothing_is_defined(monkeypatch, library):
    monkeypatch.delattr(torch.library, "register_fake")
    monkeypatch.delattr(torch.library, "impl_abstract", raising=False)
    with pytest.raises(RuntimeError, match="neither torch.library.register_fake nor impl_abstract"):
        SCALE.define(library, "scale")
    assert f"{library.ns}::scale" not in torch._C._dispatch_get_all_op_names()
