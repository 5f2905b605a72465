"""The package `ptoas`: modules built from Python."""

from __future__ import annotations

import inspect
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from tools_of_tree import ROOT, tool

sys.path.insert(0, str(ROOT / "ptoas/python"))
sys.path.insert(0, str(ROOT / "tools"))
import gen_isa  # noqa: E402
import gen_ops  # noqa: E402

import ptoas  # noqa: E402
from ptoas import build, types  # noqa: E402
from ptoas import ops as pto  # noqa: E402

TEXTS = sorted((ROOT / "ptoas/test/IR/text").glob("*.mlir"))
F32 = types.tile_buf("vec", 16, 64, "f32")


@pytest.fixture(scope="module")
def records():
    return gen_isa.Records()


def value_of(text: str):
    """The Python value of an attribute's text."""
    if enum := re.fullmatch(r"#pto\.\w+<([^>]*)>|#pto<\w+ ([^>]*)>", text):
        return enum[1] or enum[2]
    if array := re.fullmatch(r"array<i64(?:: (.*))?>", text):
        return [int(v) for v in (array[1] or "").split(",") if v]
    if re.fullmatch(r"-?\d+ : \w+", text):
        return int(text.split()[0])
    if text in ("true", "false", "unit"):
        return text != "false"
    return text.strip('"@')


class Rebuild:
    """Builds a module again, op by op, with the functions of ptoas.ops."""

    def __init__(self, records, ops: dict[str, int]) -> None:
        self.records = records
        self.values: dict[int, build.Value] = {}
        self.ops = ops

    def blocks(self, op: ptoas.Operation) -> None:
        for index, region in enumerate(op.regions):
            if not region:
                continue
            (block,) = region
            with build.region(index, [v.type for v in block.arguments]) as arguments:
                self.fill(block, arguments)

    def fill(self, block: ptoas.Block, arguments) -> None:
        self.values |= {v.number: a for v, a in zip(block.arguments, arguments, strict=True)}
        for inner in block.operations:
            self.op(inner)

    def op(self, op: ptoas.Operation) -> None:
        operands = [self.values[v.number] for v in op.operands]
        if op.name.startswith("pto."):
            results = self.pto(op, operands)
        else:
            result_types = [v.type for v in op.results]
            count = len(op.regions)
            results = build.op(op.name, operands, op.attributes, result_types, count)
            self.blocks(op)
        self.values |= {v.number: r for v, r in zip(op.results, results, strict=True)}

    def pto(self, op: ptoas.Operation, operands) -> list[build.Value]:
        mnemonic = op.name.removeprefix("pto.")
        self.ops[mnemonic] = self.ops.get(mnemonic, 0) + 1
        function = getattr(pto, gen_ops.python_name(mnemonic))
        arguments = gen_ops.arguments_of(self.records, mnemonic)
        given: dict = {}
        groups = [a for a in arguments if not a.is_attribute]
        sizes = [1] * len(groups)
        if segments := op.attributes.get("operandSegmentSizes"):
            sizes = [int(n) for n in re.findall(r"\d+", segments.split(":")[1])]
        else:
            # One group takes what the others leave.
            for i, group in enumerate(groups):
                if group.count:
                    sizes[i] = len(operands) - len(groups) + 1
        for group, size in zip(groups, sizes, strict=True):
            mine, operands = operands[:size], operands[size:]
            given[group.parameter] = mine if group.count == "several" else mine[0] if mine else None
        assert not operands
        for attribute in arguments:
            if attribute.is_attribute and attribute.name in op.attributes:
                text = op.attributes[attribute.name]
                given[attribute.parameter] = text if attribute.kind == "any" else value_of(text)
        asked = inspect.signature(function).parameters
        for name, result in zip(self.result_names(mnemonic), op.results, strict=False):
            if name in asked:
                given[name] = result.type
        if op.regions:
            if mnemonic == "fusion_region":
                given["results"] = [v.type for v in op.results]
            with function(**given) as results:
                ((block,),) = op.regions
                self.fill(block, [])
            return results
        made = function(**given)
        return [made] if isinstance(made, build.Value) else list(made or ())

    def result_names(self, mnemonic: str) -> list[str]:
        results = self.records.ops[mnemonic]["results"]["args"]
        return ["result"] if len(results) == 1 else [gen_ops.python_name(n) for _, n in results]


OPS: dict[str, int] = {}


def normal(text: str) -> str:
    """Without the head of the module, and integers of attributes without their width."""
    text = re.sub(r"^module(?: attributes \{[^\n]*\})? \{", "", text)
    text = re.sub(r"( = -?\d+) : i(?:32|64)\b(?=[,}])", r"\1", text)
    return text.replace(" {sync_id = 0}", "").strip()  # the default


@pytest.mark.parametrize("path", TEXTS, ids=lambda path: path.stem)
def test_each_op_is_built_as_it_is_read(path, records):
    # A file holds modules of several architectures; aliases stand in front of the first.
    aliases, *bodies = re.split(r"^(?=module\b)", path.read_text(), flags=re.MULTILINE)
    assert bodies
    for body in bodies:
        read = ptoas.Module.parse(aliases + body)
        module = read.operation
        arch = module.attributes.get("pto.target_arch", '"a3"').strip('"')
        rebuild = Rebuild(records, OPS)
        builder = ptoas.Builder(arch)
        with builder:
            for op in module.regions[0][0].operations:
                rebuild.op(op)
        assert normal(builder.finish().text()) == normal(read.text())


def test_the_functions_are_what_the_records_give():
    command = [sys.executable, str(ROOT / "tools/gen_ops.py"), "--check"]
    assert subprocess.run(command).returncode == 0, "run tools/gen_ops.py"


def test_all_ops_were_built(request, records):
    if sum(item.name.startswith("test_each_op_is_built") for item in request.session.items) < len(
        TEXTS
    ):
        pytest.skip("only a part of the texts was asked for")
    assert set(records.ops) - set(OPS) == set()


def scaled(arch: str = "a3") -> ptoas.Builder:
    """y = 2 * x + 1, by blocks of 16 rows."""
    module = ptoas.Builder(arch)
    arguments = {"x": types.ptr("f32"), "y": types.ptr("f32"), "rows": "index"}
    with module.function("scaled", arguments, kernel_kind="vector", entry=True) as (x, y, rows):
        tile = pto.alloc_tile(F32)
        with build.for_(0, rows, 16) as loop:
            views = [pto.make_tensor_view(p, [rows, 64], [64, 1]) for p in (x, y)]
            source, target = (pto.partition_view(view, [loop.index, 0], [16, 64]) for view in views)
            pto.tload(source, tile)
            pto.tmuls(tile, 2.0, tile)
            pto.tadds(tile, 1, tile)
            pto.tstore(tile, target)
    return module


def test_a_built_kernel_runs(tmp_path):
    numpy = pytest.importorskip("numpy")
    kernel = scaled().finish()
    kernel.check(level=2, insert_sync=True)
    assert "pto.set_flag" in kernel.text() and "pto.alloc_tile addr = " in kernel.text()
    x = numpy.arange(48 * 64, dtype=numpy.float32).reshape(48, 64)
    files = {name: tmp_path / f"{name}.npy" for name in "xy"}
    for file in files.values():
        numpy.save(file, x)
    module = tmp_path / "scaled.pto"
    module.write_text(kernel.text())
    arguments = ["--arg", files["x"], "--out", files["y"], "--arg", "48"]
    subprocess.run([tool("pto-run"), module, *arguments], check=True)
    numpy.testing.assert_array_equal(numpy.load(files["y"]), 2 * x + 1)


def test_a_built_kernel_becomes_cpp():
    kernel = scaled().finish()
    with pytest.raises(ptoas.Error, match="requires 'addr' operand"):
        kernel.check(level=3)
    with pytest.raises(
        ptoas.Error, match="'pto.tmuls' op may run before an earlier 'pto.tload' is done"
    ):
        scaled().finish().check(verify_sync=True)
    kernel.check(level=2, insert_sync=True)
    source = kernel.cpp(locations=True)
    for word in ("AICORE void scaled(", "set_flag(PIPE_MTE2, PIPE_V", "TMULS(", __file__):
        assert word in source
    assert "PTOAutoSyncTailMode" in source
    kernel.check(level=3)
    assert "// " + __file__ not in kernel.cpp()


def test_addresses_are_numbers():
    module = ptoas.Builder()
    with module.function("f", []):
        pto.alloc_tile(F32, addr=4096)
    assert "arith.constant 4096 : i64" in module.finish().text()


def test_numbers_become_what_the_record_of_the_op_says():
    f32, f16, i8, ui32 = (
        types.tile_buf("vec", 16, 64, element) for element in ("f32", "f16", "ui8", "ui32")
    )
    acc = types.tile_buf(
        "acc", 16, 32, "f32", blayout="col_major", slayout="row_major", fractal=1024
    )
    mat = types.tile_buf("mat", 16, 32, "i8", blayout="col_major", slayout="row_major")
    module = ptoas.Builder(arch="a3")
    arguments = [types.ptr("f32"), f32, f16, i8, ui32, acc, mat]
    with module.function("f", arguments) as (p, x, h, mask, counts, a, m):
        pto.store_scalar(2, p, 3)  # an element of the pointer, at an index
        pto.ttri(4, x)  # a diagonal, whatever the elements are
        pto.tsels(mask, x, 5, x, tmp=x)  # an element of src, not of the mask
        pto.tlrelu(h, 0.5, h)  # a slope is f32
        pto.tci(6, counts)  # the scalar has no sign
        pto.tmov(a, m, preQuantScalar=7)
    text = module.finish().text()
    for constant in ("2.0", "5.0"):
        assert f"arith.constant {float(constant):.6e} : f32" in text
    for constant in ("3 : index", "4 : i32", "5.000000e-01 : f32", "6 : i32", "7 : i64"):
        assert f"arith.constant {constant}" in text, constant


def test_loops_branches_and_scalars():
    module = ptoas.Builder()
    with module.function("f", ["index", "i32", "f32"], ["i32"]) as (n, i, x):
        total = build.constant(0, "i32")
        with build.for_(0, n, carried=[total]) as loop:
            with build.if_(loop.index % 2 < 1, ["i32"]) as branch:
                build.yield_(loop.values[0] + i)
                with branch.else_():
                    pass_on = 3 - loop.values[0] * 2
                    build.yield_(pass_on)
            build.yield_(branch.results[0])
        with build.if_(x * 0.5 + 1 >= x):
            build.op("func.call", [], {"callee": "@g"}, [])
        build.op("func.return", loop.results, types=[])
    with module.function("g", []):
        pass
    text = module.finish().text()
    for word in (
        "arith.floordivsi",
        "arith.muli",
        "scf.yield",
        "else",
        "arith.cmpf oge",
        "call @g",
    ):
        assert word in text
    assert ptoas.Module.parse(text).text() == text


def line_of(word: str) -> int:
    lines = Path(__file__).read_text().splitlines()
    (line,) = [i for i, text in enumerate(lines, 1) if text.endswith(f"# here: {word}")]
    return line


def test_a_broken_rule_is_said_at_the_line_that_built_the_op():
    module = ptoas.Builder()
    with module.function("f", []), pytest.raises(ptoas.Error) as error:
        a, b = pto.alloc_tile(F32), pto.alloc_tile(types.tile_buf("vec", 16, 64, "f16"))
        pto.tadd(a, b, a)  # here: broken rule
    place = re.escape(f"{__file__}:{line_of('broken rule')}:9: error: ")
    assert re.match(place + r"'pto.tadd' op element types of .* must be equal", str(error.value))
    # The op is not there; what is right can follow.
    assert "tadd" not in module.finish().text()


def test_rules_of_the_whole_module_are_said_at_their_lines():
    module = ptoas.Builder()
    with module.function("f", []):
        build.op("func.call", [], {"callee": "@missing"}, [])  # here: missing function
    with pytest.raises(
        ptoas.Error, match=rf":{line_of('missing function')}:9: error: .* calls '@missing'"
    ):
        module.finish()


def test_messages_are_in_plain_words():
    module = ptoas.Builder()
    with module.function("f", ["index"]) as (n,):
        with build.for_(0, n) as loop:
            pass
        loop.index + 1  # here: outside of the loop
    place = rf":{line_of('outside of the loop')}:9: error: operand 0 .* is not defined here"
    with pytest.raises(ptoas.Error, match=place):
        module.finish()


@pytest.mark.parametrize(
    "what, words",
    [
        (lambda: build.op("pto.nothing"), "there is no op 'pto.nothing'"),
        (lambda: pto.alloc_tile("!pto.tile_buf<vec, 16>"), "is no type: "),
        (lambda: pto.alloc_tile("[" * 400), "brackets nest deeper than 256"),
        (lambda: build.op("pto.barrier", [], {"pipe": "PIPE_V"}), "'PIPE_V' is no attribute"),
        (lambda: build.op("pto.barrier", [], {"pipe": "1 : i64"}), "'pto.barrier' op .*pipe"),
        (lambda: build.op("pto.barrier"), "pipe"),
        (lambda: pto.barrier("PIPE_X"), "unknown pipe 'PIPE_X'"),
        (lambda: build.op("arith.addi"), "'arith.addi' op .* give the types of its results"),
        (lambda: build.op("memref.load"), "'memref.load' op does not infer types"),
        (lambda: build.op("scf.if", regions=10**12), "op has 0 to 1000 regions, not 10000"),
        (lambda: build.op("scf.if", regions=-1), "op has 0 to 1000 regions, not -1"),
        (lambda: build.op("scf.for", regions=1), None),
        (
            lambda: build.op("arith.constant", [], {"value": "1 : i32"}, ["i64"]),
            "have the same type",
        ),
    ],
)
def test_what_cannot_be_built(what, words):
    module = ptoas.Builder()
    with module.function("f", []):
        if words:
            with pytest.raises(ptoas.Error, match=words) as error:
                what()
            assert str(error.value).startswith(f"{__file__}:")
        else:
            what()
    if not words:
        with pytest.raises(ptoas.Error, match="error: 'scf.for' op"):
            module.finish()


def test_misuse_of_the_builder():
    with pytest.raises(ValueError, match="no module is being built"):
        build.constant(1)
    with pytest.raises(ptoas.Error, match="unknown architecture, expected a2, a3 or a5"):
        ptoas.Builder("a9")
    with pytest.raises(TypeError, match="arch must be a string, got None"):
        ptoas.Builder(None)
    module, other = ptoas.Builder(), ptoas.Builder()
    with other.function("g", ["index"]) as (foreign,):
        pass
    with module.function("f", ["index"]) as (n,):
        tile = pto.alloc_tile(F32)
        with pytest.raises(ValueError, match="belongs to another module"):
            n + foreign
        with pytest.raises(TypeError, match=r"'pto.tadd' takes a ptoas.build.Value here, got 1"):
            pto.tadd(tile, 1, tile)
        with pytest.raises(TypeError, match="known when the kernel runs"):
            bool(n < 3)
        with pytest.raises(TypeError, match="a loop over it is ptoas.build.for_"):
            range(n)
        with pytest.raises(TypeError, match="1.5 is no index"):
            n + 1.5
        with pytest.raises(TypeError, match="'/' divides floats"):
            n / 2
        with (
            pytest.raises(ValueError, match="has to end with yield_"),
            build.for_(0, 3, carried=[n]),
        ):
            pass
        with pytest.raises(ValueError, match="no constant of f32"):
            build.constant(float("nan"), "f32")
        with pytest.raises(ValueError, match=r"1e\+30 does not fit f16"):
            build.constant(1e30, "f16")
        with pytest.raises(ValueError, match=r"1e\+39 does not fit f32"):
            build.constant(1e39, "f32")
        for number in (np.float32(1.5), 1.5, None):
            with pytest.raises(TypeError, match="is no i32"):
                build.constant(number, "i32")
        with pytest.raises(TypeError, match="1.5 is no integer"):
            pto.sync_set("PIPE_V", event_id=1.5)
        with pytest.raises(TypeError, match="0 is no 'event': give the name, or a member of the"):
            pto.set_flag("PIPE_V", "PIPE_MTE3", 0)
    unfinished = ptoas.Builder()
    unfinished.finish()
    with pytest.raises(ValueError, match="is finished"), unfinished.function("f", []):
        pass
