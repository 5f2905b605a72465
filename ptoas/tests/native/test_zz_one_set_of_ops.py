"""All parts of the stack know the same ops: dialect, targets, pages, tests, language. What a side lacks, and why.

The last file of the folder: it also looks at what the others have run.
"""

from __future__ import annotations

import functools
import json
import re
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import native
import pytest

ROOT = Path(__file__).resolve().parents[3]
sys.path[:0] = [str(ROOT / "tools"), str(ROOT / "ptoas/tests/dialect")]
gen_isa = pytest.importorskip("gen_isa")
import gen_language  # noqa: E402
import test_every_message  # noqa: E402
import test_op_constraints  # noqa: E402
import test_rules  # noqa: E402

TESTS = ROOT / "ptoas/test"


@functools.cache
def records():
    return gen_isa.Records()


@functools.cache
def language() -> dict:
    return gen_language.read_table()


def ops_in(text: str) -> set[str]:
    """Ops in code; comments, types and attributes are none."""
    code = re.sub(r"//.*", "", text)
    return set(re.findall(r"(?<![\w.#!<])pto\.([\w.]+)(?![\w.])(?!\s*[=,}])", code))


# ---- the sides ----------------------------------------------------------------------------------
def listed() -> set[str]:
    return {op for _, ops in gen_isa.families() for op in ops}


def pages() -> set[str]:
    return {p.stem for p in gen_isa.PAGES.glob("*.md")} - {"README"}


def builders() -> set[str]:
    text = (ROOT / "ptoas/python/ptoas/ops.py").read_text()
    return set(re.findall(r'_build_op\("pto\.([\w.]+)"', text))


def hover_texts() -> set[str]:
    lines = re.findall(r'PTO_DOC\("pto\.([\w.]+)", (".*")\)', gen_isa.cpp_texts(records()))
    return {name for name, text in lines if json.loads(text)}


def round_trips() -> set[str]:
    found: set[str] = set()
    for path in (TESTS / "IR/text").glob("*.mlir"):
        text = path.read_text()
        assert text.startswith("// RUN: %check-text %s\n"), path
        found |= ops_in(text)
    return found


def broken_rules() -> set[str]:
    return {op for op, *_ in test_rules.Cases().cases}


def with_rules() -> set[str]:
    return {name for name, op in records().ops.items() if "tileOperands" in op}


def named_in_messages() -> set[str]:
    with tempfile.TemporaryDirectory() as folder:
        return set(re.findall(r"'pto\.([\w.]+)'", test_every_message.broken_rules(Path(folder))))


def verified() -> set[str]:
    """Ops whose rules are code, all or some."""
    return {name for name, op in records().ops.items() if op["hasVerifier"]}


def golden() -> set[str]:
    """Each op stands in the code of a golden test, each function that it calls in what is expected."""
    emitted: set[str] = set()
    expected = ""
    for path in (TESTS / "emission").glob("*.pto"):
        text = path.read_text()
        assert "%FileCheck" in text, path
        if "errors" not in path.name:
            expected += "\n".join(re.findall(r"// [A-Z-]+: .*", text)) + "\n"
            emitted |= ops_in(text)
    called = set(re.findall(r"\w+(?:::\w+)*", expected))
    for name, op in records().ops.items():
        functions = [op["instruction"]] if op.get("instruction") else []
        functions += records().forms.get(name, [])
        if functions and not called.intersection(functions):
            emitted.discard(name)
    return emitted


def executed() -> set[str]:
    """What the tests of this folder have run, and the kernels, which are run by a suite of their own."""
    kernels = (ROOT / "ptoas/tests/kernels/level2").glob("*.pto")
    return set.union(native.executed, *(ops_in(path.read_text()) for path in kernels))


def named_in_the_language() -> set[str]:
    return set(records().python)


def grouped(text: str) -> dict[str, str]:
    """`reason: ops` in lines; a line that is indented goes on with the one before."""
    found: dict[str, str] = {}
    for line in re.sub(r"\n +", " ", text.strip()).splitlines():
        reason, ops = line.split(": ")
        for op in ops.split():
            assert op not in found, op
            found[op] = reason
    return found


@dataclass(frozen=True)
class Side:
    name: str
    ops: Callable[[], set[str]]
    without: dict[str, str] = field(default_factory=dict)  # op: reason
    among: Callable[[], set[str]] | None = None  # the ops that the side is about; all
    more: dict[str, str] = field(default_factory=dict)  # names on this side that are no ops


NO_THREADS = {
    "section.simt": "threads of A5's SIMT unit: no instruction of the headers starts them"
}
SIDES = [
    Side("list in test/ops.txt", listed),
    Side("dialect", lambda: native.ops("dialect")),
    Side("reference page", pages),
    Side("hover text", hover_texts),
    Side(
        "builder in Python",
        builders,
        grouped("ptoas.region builds it: fusion_region section.cube section.vector section.simt"),
    ),
    Side("C++ emitter", lambda: native.ops("cpp"), NO_THREADS),
    Side("native target", native.ops),
    Side("text round trip", round_trips),
    Side(
        "constraint broken in a test",
        lambda: {case.op for case in test_op_constraints.cases(records())},
    ),
    Side(
        "rule of the record broken in a test",
        broken_rules,
        grouped("""
the rules are code, which test_messages.py breaks: tmov textract tinsert tmrgsort
no rule, no space, any element type: tgetval tsync
"""),
        among=with_rules,
    ),
    Side(
        "rule in code broken in a test",
        lambda: named_in_messages() & verified(),
        {"tsync": "the common check of tile ops has nothing to say about it"},
        among=verified,
    ),
    Side("golden emission test", golden, NO_THREADS),
    Side(
        "name in the language",
        named_in_the_language,
        grouped("""
order between the queues of a core, which the assembler puts in: set_flag wait_flag set_flag_dyn
    wait_flag_dyn declare_eventid_array eventid_array_get eventid_array_set record_event wait_event
    barrier_sync get_buf rls_buf get_buf_dyn rls_buf_dyn mem_bar tsync cmo.cacheinvalid
between cores the language has pipes: sync.set sync.wait set_ffts set_cross_block wait_cross_block
    set_intra_block wait_intra_block
pipes as handles, and slots in place, are forms of hand-written texts: initialize_l2l_pipe
    initialize_l2g2l_pipe tpush tpop tfree talloc talloc_to_aiv talloc_to_aic declare_global
    declare_tile set_quant_scalar set_quant_vector
the compiler makes it from tensors, tiles and their parts: make_tensor_view partition_view castptr
pointers, queries and other names of a tile, for hand-written texts: addptr ptrtoint inttoptr
    get_tensor_view_dim get_tensor_view_stride bitcast subset tassign get_validshape tile_valid_rows
    tile_valid_cols get_subblock_num
the program says it by its loops and functions: alloc_multi_tile multi_tile_get section.cube
    section.vector section.simt fusion_region yield
struct and text of the scalar unit, for hand-written texts: declare_struct struct_get struct_set print
    tprint trap
one device is all that a kernel of the language sees: comm.tnotify comm.twait comm.ttest comm.tput
    comm.tget comm.tbroadcast comm.tgather comm.tscatter comm.treduce comm.build_async_session
    comm.tput_async comm.tget_async comm.wait_async_event comm.test_async_event
    make_prefetch_async_context get_prefetch_async_session tprefetch_async tprefetch
the language's table of ops (spec dsl 5) has no such name: taddrelu taxpy tconcatidx tdequant tquant
    tquant.mx tpack thistogram tpow tpows tpartargmax tpartargmin tget_scale_addr tgemv.mx tgemv.mx.acc
    tgemv.mx.bias tmov.fp tstore_fp textract_fp tinsert_fp
"""),
        more={"tcos": "a series of products and sums", "tsin": "a series of products and sums"},
    ),
]


@pytest.mark.parametrize("side", SIDES, ids=lambda side: side.name)
def test_side(side):
    """Exactly the ops of the records but those with a reason, which go stale when the op is there."""
    ops = set(records().ops) if side.among is None else side.among()
    found = side.ops()
    assert sorted(ops - found) == sorted(side.without)
    assert sorted(found - ops) == sorted(side.more)


def test_every_op_runs(request):
    folder = Path(__file__).parent
    asked = {
        Path(item.path).name for item in request.session.items if Path(item.path).parent == folder
    }
    if asked != {path.name for path in folder.glob("test_*.py")}:
        pytest.skip("only a part of the tests was asked for")
    assert sorted(set(records().ops) - executed()) == []


# ---- the language's side ------------------------------------------------------------------------
NO_INSTRUCTION = grouped("""
a task or a scope, where kernels are launched: call cluster hierarchy incore runtime_scope spmd split_aiv
    task_dummy task_invalid yield
a number about the device or a shape: available_aiv_count available_cluster_count dim
a place in memory: create_tensor view
a fence: cacheinvalid
written out as other instructions: expand_clone gather_row paged_gather scatter_update aic_gather aiv_shard
a tile under another type: reinterpret_view transpose_view
scalar arithmetic: floormod scalar_cast
a name without a value: undef
refused in kernels, as their message says: set_ffts sync_set sync_wait sync_src sync_dst
""")


def test_what_becomes_no_instruction():
    names: dict[str, set[str]] = {}
    for signature in language()["signatures"]:
        names.setdefault(signature["op"], set()).update(signature["names"])
    known = {name for found in records().python.values() for name in found}
    without = []
    for op in language()["ops"]:
        name = op["name"].removeprefix("pypto.")
        if not op["pto"] and not op["ptoScalar"] and not names.get(op["name"], {name}) & known:
            without.append(name)
    assert sorted(without) == sorted(NO_INSTRUCTION)


def test_names_of_the_pages_exist():
    names = {name for signature in language()["signatures"] for name in signature["names"]}
    wrong = {
        (op, name)
        for op, found in records().python.items()
        for name in found
        if not names & {name, f"{name}_", f"tile.{name}"}
    }
    assert not wrong
