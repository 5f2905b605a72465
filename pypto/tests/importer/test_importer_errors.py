"""One test for each way to be wrong: class, message, and the place that the error points at.

A case is a body of statements; the last column is the text that the error must point at, in the line
where it occurs first (after the mark `@@`, if there is one).
"""

from __future__ import annotations

import pytest

from pypto import errors
from pypto import language as pl

KERNEL = """import pypto.language as pl

WIDTH = 32
TEXT = "some text"
N = pl.dynamic("N")


@pl.jit.inline
def double(t):
    return pl.add(t, t)


@pl.jit.incore
def move(a: pl.Tensor, b: pl.Out[pl.Tensor]):
    b = pl.store(pl.load(a, [0, 0], [16, 32]), [0, 0], b)
    return b


@pl.jit.inline
def nothing(t):
    pl.exp(t)


@pl.jit.inline
def root(t):
    return pl.sqrt(t)


@pl.jit.inline
def needs_rows(t: pl.Tensor[[16, 32], pl.FP32]):
    return pl.add(t, t)


@pl.function
def kernel(
    x: pl.Tensor[[16, 32], pl.FP32],
    z: pl.Tensor[[16, 32], pl.FP32],
    h: pl.Tensor[[16, 32], pl.BF16],
    i: pl.Tensor[[16, 32], pl.INT32],
    w: pl.Tensor[[64, 32], pl.FP32],
    v: pl.Tensor[[8], pl.INT32],
    n: pl.Scalar[pl.INT32],
    k: pl.Scalar[pl.INDEX],
    f: pl.Scalar[pl.FP32],
    y: pl.Out[pl.Tensor[[16, 32], pl.FP32]],
):
    y[:] = x
"""

S, T, U = errors.ParserSyntaxError, errors.ParserTypeError, errors.UnsupportedFeatureError
I, N = errors.InvalidOperationError, errors.UndefinedVariableError

CASES = {
    # Names and expressions.
    "unknown name": ("a = pl.add(x, missing)", N, "'missing' is not defined", "missing"),
    "unbound local": ("a = pl.add(b, x)\nb = x", N, "before it has a value", "b, x"),
    "unbound in loop": (
        "for j in pl.range(4):\n    a = pl.add(@@c, x)\n    c = d\n    d = c",
        N,
        "before it has a value",
        "c",
    ),
    "unknown function": ("a = pl.ad(x, 1.0)", I, "no function pl.ad", "pl.ad"),
    "python builtin": ("a = abs(n)", U, "builtin 'abs'", "abs(n)"),
    "undefined callee": ("a = helper(x)", N, "'helper'", "helper"),
    "callable value": ("a = x(1)", U, "cannot be called", "x(1)"),
    "lambda": ("a = lambda q: q", U, "lambda", "lambda q: q"),
    "comprehension": ("a = [j for j in range(4)]", U, "comprehension", "[j for"),
    "f-string": ('a = f"{n}"', U, "f-string", 'f"'),
    "dict": ("a = {1: 2}", U, "dict", "{1"),
    "walrus": ("a = (b := 1)", U, ":=", "b := 1"),
    "attribute": ("a = x.rows", U, "no attribute 'rows'", "x.rows"),
    "matrix operator": ("a = x @ w", U, "not defined on tensors", "x @ w"),
    "power at run time": ("a = n ** 2", U, "not supported on run-time", "n ** 2"),
    "bits at run time": ("a = n ^ n", U, "not supported on run-time", "n ^ n"),
    "rows outside": (
        "t = pl.full([8, 32], dtype=pl.FP32, value=0.0)\na = pl.gather_row(t, x, [7, 0], [0, 0], [2, 32])",
        I,
        "destination: [7, 9) leaves axis 0",
        "pl.gather_row(t",
    ),
    "more rows than fit": (
        "t = pl.full([8, 32], dtype=pl.FP32, value=0.0)\n"
        "a = pl.gather_row(t, x, [0, 0], [0, 0], [2, 32], valid_shape=[3, 32])",
        I,
        "larger than shapes",
        "[3, 32]",
    ),
    "starred target": ("a, *b = x.shape", U, "starred", "*b"),
    "mixed scalars": ("a = n + f", T, "mixes", "n + f"),
    "bool arithmetic": ("a = (n > 1) + 1", T, "BOOL", "(n > 1) + 1"),
    "division by zero": ("a = k // 0", I, "division by zero", "k // 0"),
    "float modulo": ("a = f % 2.0", T, "takes integers", "f % 2.0"),
    "and of integers": ("a = n and k", T, "BOOL", "n and k"),
    "not of integer": ("a = not n", T, "BOOL", "not n"),
    "tensor comparison": ("a = x > z", U, "pl.cmp", "x > z"),
    "string operand": ("a = n + TEXT", T, "", "n + TEXT"),
    "bytes": ('a = b"x"', T, "bytes", 'b"x"'),
    "mask of numbers": ("m = pl.cmp(x, z)\na = pl.sel(@@m, x, z)", T, "packed bits", "m, x, z"),
    "scalar max of tensors": ("a = pl.max(x, 1.0)", T, "takes scalars", "pl.max"),
    # Statements.
    "assert": ("assert n > 1", U, "assert", "assert"),
    "delete": ("del x", U, "del", "del x"),
    "raise": ("raise ValueError()", U, "raise", "raise"),
    "try": ("try:\n    a = x\nexcept Exception:\n    pass", U, "try", "try"),
    "global": ("global WIDTH", U, "global", "global"),
    "import": ("import math", U, "import", "import math"),
    "nested function": ("def g():\n    pass", U, "nested function", "def g"),
    "nested class": ("class C:\n    pass", U, "nested class", "class C"),
    "match": ("match n:\n    case _:\n        pass", U, "match", "match n"),
    "two targets": ("a = b = x", S, "one target", "a = b"),
    "attribute target": ("x.y = 1", S, "attribute", "x.y"),
    "unpack scalar": ("a, b = n", S, "unpacked", "a, b = n"),
    "unpack count": ("a, b, c = x.shape", S, "2 values into 3", "a, b, c"),
    "unpack target": ("a, x[0:1, :] = x.shape", S, "plain names", "x[0:1, :]"),
    "rebind kind": ("a = pl.add(x, 1.0)\n@@a = n", T, "cannot become", "a"),
    "rebind shape": ("a = x[0:8, :]\n@@a = x[0:4, :]", T, "cannot become", "a"),
    "rebind dtype": ("a = pl.add(x, 1.0)\n@@a = pl.cast(a, pl.BF16)", T, "cannot become", "a"),
    "no effect": ("x", S, "no effect", "x"),
    "return in loop": ("for j in pl.range(2):\n    return x", U, "last statement", "return"),
    "annotation alone": ("a: pl.Scalar[pl.INT32]", S, "annotation alone", "a:"),
    "annotation mismatch": ("a: pl.Scalar[pl.FP32] = n", T, "annotation says", "n"),
    "break out of a kernel": (
        "for j in pl.range(2):\n    with pl.at(level=pl.Level.CORE_GROUP):\n        break",
        I,
        "outside a loop",
        "break",
    ),
    "continue in parallel": (
        "for j in pl.parallel(2):\n    continue",
        I,
        "pl.parallel",
        "continue",
    ),
    "break in pipeline": (
        "for j in pl.pipeline(2, stage=2):\n    break",
        I,
        "pl.pipeline",
        "break",
    ),
    # Conditions.
    "integer condition": ("if n:\n    a = x", T, "BOOL", "n:"),
    "tensor condition": ("if x:\n    a = x", T, "BOOL", "x:"),
    "integer while": ("a = n\nwhile @@a:\n    a = a - pl.const(1, pl.INT32)", T, "BOOL", "a"),
    "branch types": (
        "if n > 1:\n    a = x[0:8, :]\nelse:\n    a = x[0:4, :]\nb = pl.add(a, a)",
        T,
        "if the condition holds",
        "if n",
    ),
    # Loops.
    "loop over list": ("for j in [1, 2]:\n    pass", S, "cannot iterate", "[1, 2]"),
    "loop target": ("for x[0] in pl.range(2):\n    pass", S, "target of a loop", "x[0]"),
    "no bound": ("for j in pl.range():\n    pass", S, "needs a bound", "pl.range"),
    "four bounds": ("for j in pl.range(1, 2, 3, 4):\n    pass", S, "at most", "pl.range"),
    "float bound": ("for j in pl.range(f):\n    pass", S, "a bound is an integer", "f)"),
    "unknown loop keyword": (
        "for j in pl.range(4, chunk=2):\n    pass",
        S,
        "unknown keyword 'chunk'",
        "chunk=2",
    ),
    "stage on range": (
        "for j in pl.range(4, stage=2):\n    pass",
        S,
        "unknown keyword 'stage'",
        "stage=2",
    ),
    "zero step": ("for j in pl.range(0, 4, 0):\n    pass", S, "step is zero", "0):"),
    "pipeline stage zero": ("for j in pl.pipeline(4, stage=0):\n    pass", S, "positive", "0):"),
    "unroll init": (
        "for j, (a,) in pl.unroll(4, init_values=(x,)):\n    pass",
        S,
        "no init_values",
        "(x,)",
    ),
    "init without names": (
        "for j in pl.range(4, init_values=(x,)):\n    pass",
        S,
        "target i, (a",
        "j in",
    ),
    "names without init": (
        "for j, (a,) in pl.range(4):\n    pass",
        S,
        "need init_values",
        "j, (a,)",
    ),
    "init count": (
        "for j, (a, b) in pl.range(4, init_values=(x,)):\n    pass",
        S,
        "2 carried names for 1",
        "(a, b)",
    ),
    "init not a tuple": (
        "for j, (a,) in pl.range(4, init_values=x):\n    pass",
        S,
        "list or tuple",
        "x)",
    ),
    "attrs": ("for j in pl.range(4, attrs=n):\n    pass", S, "dict literal", "n)"),
    "bare yield": (
        "for j, (a,) in pl.range(4, init_values=(x,)):\n    pl.yield_(a)",
        S,
        "names for its results",
        "pl.yield_",
    ),
    "yield count": (
        "for j, (a,) in pl.range(4, init_values=(x,)):\n    b, c = pl.yield_(a, a)",
        S,
        "carries 1",
        "b, c",
    ),
    "yield type": (
        "for j, (a,) in pl.range(4, init_values=(x,)):\n    a = pl.yield_(pl.cast(a, pl.BF16))",
        T,
        "before the loop",
        "for j",
    ),
    "carry by name": (
        "a = x[0:8, :]\nfor j in pl.range(4):\n    b = pl.add(a, a)\n    @@a = n\nc = pl.add(a, a)",
        T,
        "cannot become",
        "a",
    ),
    "while without init": (
        "for (a,) in pl.while_():\n    pl.cond(n > 1)",
        S,
        "init_values",
        "pl.while_",
    ),
    "while without cond": (
        "for (a,) in pl.while_(init_values=(k,)):\n    @@a = pl.yield_(a + 1)",
        S,
        "pl.cond",
        "a",
    ),
    "second cond": (
        "for (a,) in pl.while_(init_values=(k,)):\n    pl.cond(a < 3)\n    @@pl.cond(a < 4)\n    a = pl.yield_(a + 1)",
        S,
        "one pl.cond",
        "pl.cond",
    ),
    "unroll too long": ("for j in pl.unroll(100000):\n    pass", S, "100000 times", "pl.unroll"),
    "unroll over everything": (
        "for j in pl.unroll(-4611686018427387903, 4611686018427387903):\n    pass",
        S,
        "9223372036854775806 times",
        "pl.unroll",
    ),
    "unroll bound": (
        "for j in pl.unroll(9223372036854775807):\n    pass",
        S,
        "outside -2^62",
        "922",
    ),
    "loop bound": (
        "for j in pl.range(0, 9223372036854775807, 4):\n    pass",
        S,
        "outside -2^62",
        "9223372036854775807",
    ),
    "loop step": (
        "for j in pl.range(0, n, 4294967296):\n    pass",
        S,
        "outside -2^31",
        "4294967296",
    ),
    # Sizes: at the extent that is too large, at the list where all together are.
    "extent of create": (
        "t = pl.create_tensor([4, 4294967297], dtype=pl.FP32)",
        I,
        "extent 4294967297 of axis 1 is larger than 2147483647",
        "4294967297",
    ),
    "largest extent of all": (
        "t = pl.create_tensor([9223372036854775807, 4], dtype=pl.FP32)",
        I,
        "extent 9223372036854775807 of axis 0",
        "9223372036854775807",
    ),
    "elements of create": (
        "t = pl.create_tensor([2147483647, 2147483647], dtype=pl.FP32)",
        I,
        "more than 2^58 elements",
        "[2147483647",
    ),
    "extent of full": (
        "with pl.at(level=pl.Level.CORE_GROUP):\n"
        "    t = pl.full([2147483648, 4], dtype=pl.FP32, value=0.0)",
        I,
        "extent 2147483648 of axis 0",
        "2147483648",
    ),
    "extent of reshape": (
        "with pl.at(level=pl.Level.CORE_GROUP):\n"
        "    t = pl.reshape(pl.exp(x), [4294967296, 4294967296])",
        I,
        "extent 4294967296 of axis 0",
        "4294967296",
    ),
    "elements of reshape": (
        "with pl.at(level=pl.Level.CORE_GROUP):\n"
        "    t = pl.reshape(pl.exp(x), [2147483647, 2147483647, 2147483647])",
        I,
        "more than 2^58 elements",
        "[2147483647",
    ),
    "extent of array": ("t = pl.array.create(2147483648, pl.INT32)", I, "larger than 65536", "214"),
    "least integer by -1": (
        "a = -9223372036854775807 - 1\nb = @@a // -1",
        I,
        "does not fit into 64 bits",
        "a // -1",
    ),
    "least integer / -1": (
        "a = -9223372036854775807 - 1\nb = @@a / -1",
        I,
        "does not fit into 64 bits",
        "a / -1",
    ),
    "least integer negated": (
        "a = -9223372036854775807 - 1\nb = @@-a",
        I,
        "does not fit into 64 bits",
        "-a",
    ),
    "remainder by -1": (
        "a = -9223372036854775807 - 1\nb = @@k // (a % -1)",
        I,
        "division by zero",
        "k // ",
    ),
    "carried type": (
        "a = x[0:8, :]\nfor j in pl.range(4):\n    @@a = x[0:4, :]\nb = pl.add(a, a)",
        T,
        "cannot become",
        "a",
    ),
    "range outside for": ("a = pl.range(4)", S, "for statement", "pl.range"),
    # Scopes.
    "with two items": ("with pl.cluster(), pl.cluster():\n    pass", S, "one item", "with"),
    "with no scope": ("with x:\n    pass", S, "no scope", "x:"),
    "incore scope": ("with pl.incore():\n    pass", S, "no scope", "pl.incore"),
    "at without level": ("with pl.at():\n    pass", S, "needs a level", "pl.at"),
    "at unknown keyword": (
        "with pl.at(level=pl.Level.CORE_GROUP, name='a'):\n    pass",
        S,
        "unknown keyword 'name'",
        "name='a'",
    ),
    "at role": (
        "with pl.at(pl.Level.CORE_GROUP, pl.Role.Orchestrator):\n    pass",
        S,
        "no role",
        "pl.Role.Orchestrator",
    ),
    "at level value": ("with pl.at(level=3):\n    pass", S, "member of pl.Level", "3)"),
    "at early": (
        "with pl.at(level=pl.Level.CORE_GROUP, allow_early_resolve=n):\n    pass",
        S,
        "True or False",
        "n)",
    ),
    "name hint": (
        "with pl.at(level=pl.Level.CORE_GROUP, name_hint='1 a'):\n    pass",
        S,
        "identifier",
        "'1 a'",
    ),
    "name hint keyword": (
        "with pl.at(level=pl.Level.CORE_GROUP, name_hint='for'):\n    pass",
        S,
        "keyword of Python",
        "'for'",
    ),
    "optimizations": (
        "with pl.at(level=pl.Level.CORE_GROUP, optimizations=n):\n    pass",
        S,
        "list",
        "n)",
    ),
    "unknown optimization": (
        "with pl.at(level=pl.Level.CORE_GROUP, optimizations=[n]):\n    pass",
        S,
        "no optimization",
        "n]",
    ),
    "split twice": (
        "with pl.at(level=pl.Level.CORE_GROUP, optimizations=[pl.split(pl.SplitMode.NONE), @@pl.split(pl.SplitMode.NONE)]):\n    pass",
        S,
        "twice",
        "pl.split",
    ),
    "no_dep_args": (
        "with pl.at(level=pl.Level.CORE_GROUP, no_dep_args=[x, @@x]):\n    pass",
        T,
        "distinct",
        "x",
    ),
    "nested at": (
        "with pl.at(level=pl.Level.CORE_GROUP):\n    with @@pl.at(level=pl.Level.CORE_GROUP):\n        pass",
        S,
        "inside a kernel",
        "pl.at",
    ),
    "deps type": (
        "with pl.at(level=pl.Level.CORE_GROUP, deps=[n]):\n    pass",
        T,
        "task ids",
        "n]",
    ),
    "deps array alone": (
        "ids = pl.array.create(2, pl.TASK_ID)\nwith pl.at(level=pl.Level.CORE_GROUP, deps=[@@ids, None]):\n    pass",
        T,
        "alone",
        "ids",
    ),
    "as on cluster": ("with pl.cluster() as t:\n    pass", S, "`as`", "t:"),
    "spmd without count": ("for j in pl.spmd():\n    pass", S, "number of blocks", "pl.spmd"),
    "spmd zero": ("for j in pl.spmd(0):\n    pass", S, "positive", "0)"),
    "spmd too wide": ("for j in pl.spmd(4294967297):\n    pass", S, "at most 2147483647", "429"),
    "spmd float": ("for j in pl.spmd(f):\n    pass", S, "integer", "f)"),
    "spmd deps": ("for j in pl.spmd(2, deps=[]):\n    pass", S, "deps belongs", "[]"),
    "spmd idle": ("with pl.spmd(2):\n    y[:] = x", S, "neither reads the block index", "pl.spmd"),
    "spmd keyword": (
        "for j in pl.spmd(2, blocks=3):\n    pass",
        S,
        "unknown keyword 'blocks'",
        "blocks=3",
    ),
    "auto scope": ("with pl.scope():\n    pass", S, "auto_scope=False", "pl.scope"),
    "manual in manual": (
        "with pl.manual_scope():\n    with @@pl.manual_scope():\n        pass",
        S,
        "inside a MANUAL",
        "pl.manual_scope",
    ),
    "scope in kernel": (
        "with pl.at(level=pl.Level.CORE_GROUP):\n    with @@pl.manual_scope():\n        pass",
        S,
        "orchestration",
        "pl.manual_scope",
    ),
    "split_aiv lanes": (
        "with pl.at(level=pl.Level.CORE_GROUP):\n    for l in @@pl.split_aiv(3, mode=pl.SplitMode.NONE):\n        pass",
        S,
        "2 lanes",
        "pl.split_aiv",
    ),
    "split_aiv mode": (
        "with pl.at(level=pl.Level.CORE_GROUP):\n    for l in @@pl.split_aiv(2):\n        pass",
        S,
        "needs a mode",
        "pl.split_aiv",
    ),
    "split_aiv outside": (
        "for l in pl.split_aiv(2, mode=pl.SplitMode.NONE):\n    pass",
        S,
        "into a kernel",
        "pl.split_aiv",
    ),
    "shard outside": ("a = pl.aiv_shard(x)", S, "split_aiv region", "pl.aiv_shard"),
    "scalar out of kernel": (
        "with pl.at(level=pl.Level.CORE_GROUP):\n    a = pl.read(v, [0])\nb = a + n",
        I,
        "computed inside a kernel",
        "with",
    ),
    "split twice over": (
        "with pl.at(level=pl.Level.CORE_GROUP, optimizations=[pl.split(pl.SplitMode.NONE)]):\n    for l in @@pl.split_aiv(2, mode=pl.SplitMode.NONE):\n        pass",
        S,
        "in a scope with pl.split",
        "pl.split_aiv",
    ),
    "two launches": (
        "with pl.spmd(2):\n    move(x, y)\n    @@move(z, y)",
        S,
        "more than one kernel",
        "move(z, y)",
    ),
    "late func_attr": ("pl.func_attr({'a': 1})", S, "comes first", "pl.func_attr"),
    # Calls.
    "missing argument": ("a = pl.add(x)", I, "'rhs' is missing", "pl.add"),
    "too many arguments": ("a = pl.neg(x, z)", I, "positional", "z)"),
    "unknown keyword": ("a = pl.add(x, 1.0, foo=2)", I, "unknown keyword 'foo'", "foo=2"),
    "argument twice": ("a = pl.add(x, z, @@rhs=z)", I, "twice", "z"),
    "starred": ("a = pl.add(*x.shape)", U, "starred", "*x"),
    "inline argument count": ("a = double(x, z)", T, "takes 1", "double(x, z)"),
    "inline keyword": ("a = double(q=x)", T, "no parameter 'q'", "q=x"),
    "inline shape": ("a = needs_rows(w)", T, "extent 16", "w)"),
    "enum value": ("a = pl.cast(x, pl.BF16, mode='up')", I, "accepted: none, rint", "'up'"),
    "bool as mode": ("a = pl.cast(x, pl.BF16, mode=True)", Exception, "mode", "True"),
    "string flag": ("a = pl.rsqrt(x, high_precision='yes')", T, "True or False", "'yes'"),
    "scalar where tensor": ("a = pl.exp(n)", T, "takes a tensor", "n)"),
    "static assert": ("pl.static_assert(WIDTH == 16, 'sixteen')", S, "sixteen", "pl.static_assert"),
    "static assert run time": ("pl.static_assert(n == 16, 'sixteen')", S, "not known", "n == 16"),
    "const of run time": ("a = pl.const(n, pl.INT32)", I, "takes a constant", "n,"),
    "void helper": ("a = nothing(x)", T, "returns nothing", "nothing(x)"),
    "void statement": ("a = pl.system.bar_all()", S, "gives no value", "pl.system"),
    "constant range": ("a = pl.const(300, pl.INT8)", I, "-128 to 127", "300"),
    "element range": ("a = pl.add(i, 5000000000)", I, "does not fit", "5000000000"),
    "filled range": ("a = pl.full([4, 4], pl.UINT8, -1)", I, "0 to 255", "-1"),
    # Subscripts.
    "step": ("a = x[0:16:2, :]", U, "step", "2,"),
    "ellipsis": ("a = x[..., 0:4]", U, "...", "..."),
    "none index": ("a = x[None, :]", U, "None", "None"),
    "mask index": ("a = x[n > 1, :]", U, "masks", "n > 1"),
    "too many indices": ("a = x[0, 0, 0]", T, "too many indices", "0, 0, 0"),
    "negative index": ("a = x[-1, :]", I, "negative", "x[-1"),
    "window leaves": ("a = x[8:24, :]", I, "leaves axis 0", "x[8"),
    "empty window": ("a = x[8:8, :]", I, "empty", "8:8"),
    "run-time extent": (
        "with pl.at(level=pl.Level.CORE_GROUP):\n    a = @@x[0:n, :]",
        I,
        "run time",
        "x[0:n",
    ),
    "element write": ("y[0, 0] = 1.0", T, "pl.write", "y[0, 0]"),
    "scalar into window": ("y[0:8, :] = 1.0", T, "takes a tensor", "1.0"),
    "window extents": ("y[0:8, :] = x", T, "must agree", "x"),
    "window rank": ("y[0:8, :] = v", T, "2 axes", "v"),
    "window dtype": ("y[:] = h", T, "BF16", "h"),
    "chained target": ("y[0:8, :][0:4, :] = x[0:4, :]", S, "plain name", "y[0:8"),
    "tuple index": ("a = x.shape[n]", T, "integer constant", "n]"),
    "tuple range": ("a = x.shape[2]", T, "outside a tuple", "2]"),
    "array index": ("a = pl.array.create(4, pl.INT32)\nb = @@a[4]", I, "outside an array", "4"),
    "array value": ("a = pl.array.create(4, pl.INT32)\na[0] = f", T, "array of INT32", "f"),
    "index of scalar": ("a = n[0]", T, "cannot be indexed", "n[0]"),
    # Ops.
    "binary shapes": ("a = pl.add(x, w)", I, "shapes differ", "pl.add"),
    "binary dtypes": ("a = pl.add(x, h)", T, "element types differ", "pl.add"),
    "float on integers": ("a = pl.add(i, 1.5)", T, "scalar is FP32", "1.5"),
    "index on tile": ("a = pl.add(i, k)", T, "scalar is INDEX", "k)"),
    "bitwise on floats": ("a = pl.and_(x, z)", T, "integer elements", "pl.and_"),
    "shift count": ("a = pl.shls(i, 40)", I, "out of range", "40"),
    "exp is float": ("a = pl.sqrt(i)", T, "float elements", "pl.sqrt"),
    "sin type": ("a = pl.sin(h)", T, "FP32", "pl.sin"),
    "same cast": ("a = pl.cast(x, pl.FP32)", I, "FP32 already", "pl.cast"),
    "cast target": ("a = pl.cast(x, 3)", T, "element type", "3)"),
    "no conversion": (
        "a = pl.cast(x, pl.UINT32)",
        I,
        "no conversion from FP32 to UINT32",
        "pl.cast",
    ),
    "reduce rank": ("a = pl.row_sum(v)", I, "rank 1", "v)"),
    "expand shape": ("a = pl.row_expand_mul(x, x)", I, "[M, 1]", "pl.row_expand_mul"),
    "expand dtype": ("a = pl.row_expand_mul(x, pl.row_max(h))", T, "differ", "pl.row_expand_mul"),
    "matmul K": ("a = pl.matmul(x, w)", I, "b_trans=True", "pl.matmul"),
    "matmul types": ("a = pl.matmul(x, h, b_trans=True)", T, "differ", "pl.matmul"),
    "matmul integers": ("a = pl.matmul(i, i, b_trans=True)", T, "INT32", "pl.matmul"),
    "accumulator type": ("a = pl.matmul_acc(i, x, x, b_trans=True)", T, "accumulat", "i, x"),
    "accumulator shape": ("a = pl.matmul_acc(x, x, z, b_trans=True)", I, "the product is", "x, x"),
    "init_cond": (
        "a = pl.matmul_acc(pl.full([16, 16], pl.FP32, 0.0), x, z, b_trans=True, init_cond=n)",
        T,
        "BOOL",
        "n)",
    ),
    "reshape count": ("a = pl.reshape(x, [16, 33])", I, "512 elements", "pl.reshape"),
    "reshape inferred": ("a = pl.reshape(x, [16, -1])", I, "not positive", "[16, -1]"),
    "transpose axes": ("a = pl.transpose(x, 0, 0)", I, "differ", "pl.transpose"),
    "transpose axis": ("a = pl.transpose(x, 0, 2)", I, "axis", "2)"),
    "concat rows": ("a = pl.concat(x, w)", I, "same rows", "pl.concat"),
    "slice order": ("a = pl.slice(x, [16, 32], [0])", I, "rank 2", "[0]"),
    "slice bounds": ("a = pl.slice(x, [16, 32], [8, 0])", I, "leaves axis 0", "pl.slice"),
    "slice valid": (
        "a = pl.slice(x, [8, 32], [0, 0], valid_shape=[9, 32])",
        I,
        "larger than the window",
        "pl.slice",
    ),
    "assemble bounds": ("y = pl.assemble(y, x, [8, 0])", I, "leaves axis 0", "pl.assemble"),
    "assemble dtype": ("y = pl.assemble(y, h, [0, 0])", T, "pl.cast", "pl.assemble"),
    "read rank": ("a = pl.read(x, [0])", I, "1 indices", "[0]"),
    "read bounds": ("a = pl.read(x, [16, 0])", I, "outside", "[16, 0]"),
    "write dtype": ("pl.write(v, [0], f)", T, "convert", "f)"),
    "load from value": ("a = pl.load(pl.add(x, z), [0, 0], [8, 32])", T, "global memory", "pl.add"),
    "load bounds": ("a = pl.load(x, [0, 0], [32, 32])", I, "leaves axis 0", "pl.load"),
    "load space": (
        "a = pl.load(x, [0, 0], [8, 32], target_memory=pl.MemorySpace.Left)",
        I,
        "Vec or Mat",
        "pl.MemorySpace.Left",
    ),
    "store target": (
        "t = pl.load(x, [0, 0], [16, 32])\nu = pl.store(t, [0, 0], @@t)",
        T,
        "global memory",
        "t",
    ),
    "full of run time": ("a = pl.full([4, 4], pl.FP32, f)", I, "constant number", "f)"),
    "full fraction": ("a = pl.full([4, 4], pl.INT32, 1.5)", T, "no INT32", "1.5"),
    "shape not positive": ("a = pl.full([0, 4], pl.FP32, 1.0)", I, "not positive", "[0, 4]"),
    "shape run time": ("a = pl.full([n, 4], pl.FP32, 1.0)", I, "known when", "n,"),
    "arange type": ("a = pl.arange(0, [1, 8], dtype=pl.FP32)", T, "INT16, INT32", "pl.FP32"),
    "arange rows": ("a = pl.arange(0, [2, 8])", I, "extents but the last", "[2, 8]"),
    "dim axis": ("a = pl.tensor.dim(x, 2)", I, "axis 2", "2)"),
    "valid range": ("a = pl.set_validshape(x, 17, 32)", I, "outside", "17"),
    "sort indices": ("a = pl.sort32(x, i)", I, "UINT32", "i)"),
    "gather index": ("a = pl.gather(x, 1, z)", I, "INT32", "z)"),
    "mask pattern": ("a = pl.gather(x, mask_pattern='P9')", I, "MaskPattern", "'P9'"),
    "array of floats": ("a = pl.array.create(4, pl.FP32)", T, "integers", "pl.FP32"),
    "sync mode": ("pl.system.syncall(mode='loud')", I, "hard", "'loud'"),
    "submit outside class": ("a, t = pl.submit(x)", S, "the kernel", "x)"),
}


def place(body: str, culprit: str) -> tuple[int, int, str]:
    """Line and column of the culprit in the body, and the body without the mark."""
    mark = body.find("@@")
    body = body.replace("@@", "")
    at = body.index(culprit, max(mark, 0))
    return body.count("\n", 0, at) + 1, at - (body.rfind("\n", 0, at) + 1) + 1, body


def failing(body: str):
    lines = "".join(f"    {line}\n" for line in body.split("\n"))
    text = KERNEL + lines
    with pytest.raises(errors.Error) as caught:
        pl.parse(text, filename="case.py")
    return caught.value


@pytest.mark.parametrize("name", CASES)
def test_error(name):
    body, kind, message, culprit = CASES[name]
    line, column, body = place(body, culprit)
    error = failing(body)
    assert isinstance(error, kind), error
    assert message in str(error)
    header = KERNEL.count("\n")
    assert (error.span.begin_line - header, error.span.begin_column - 4) == (line, column), error


FUNCTIONS = {
    "no annotation": ("def kernel(x, w):\n    return x", T, "'x' of 'kernel' has no annotation", 1),
    "no element type": ("def kernel(x: pl.Tensor[[4, 4]]):\n    return x", T, "element type", 1),
    "zero extent": ("def kernel(x: pl.Tensor[[0, 4], pl.FP32]):\n    return x", T, "positive", 1),
    "large extent": (
        "def kernel(x: pl.Tensor[[4294967296, 4], pl.FP32]):\n    return x",
        T,
        "extent 4294967296 of axis 0",
        1,
    ),
    "large shape": (
        "def kernel(x: pl.Tensor[[2147483647, 2147483647], pl.FP32]):\n    return x",
        T,
        "more than 2^58 elements",
        1,
    ),
    "unknown extent": ("def kernel(x: pl.Tensor[[Q, 4], pl.FP32]):\n    return x", N, "'Q'", 1),
    "float extent": ("def kernel(x: pl.Tensor[[1.5, 4], pl.FP32]):\n    return x", T, "integer", 1),
    "scalar out": (
        "def kernel(n: pl.Out[pl.Scalar[pl.INT32]]):\n    pass",
        T,
        "scalar parameter cannot be",
        1,
    ),
    "no such direction": ("def kernel(n: pl.In[pl.Tensor[[4, 4], pl.FP32]]):\n    pass", T, "", 1),
    "late scalar": (
        "def kernel(x: pl.Tensor[[D, 4], pl.FP32], D: pl.Scalar[pl.INT32]):\n    return x",
        T,
        "dynamic extent",
        1,
    ),
    "star": ("def kernel(*x):\n    return x", U, "not supported", 1),
    "func_attr key": (
        "def kernel(x: pl.Tensor[[4, 4], pl.FP32]):\n    pl.func_attr({'auto_scope': 1})",
        S,
        "decorator",
        2,
    ),
    "func_attr twice": (
        "def kernel(x: pl.Tensor[[4, 4], pl.FP32]):\n    pl.func_attr({'a': 1, 'a': 2})",
        S,
        "twice",
        2,
    ),
    "return scalar": (
        "def kernel(n: pl.Scalar[pl.INT32]):\n    return n",
        T,
        "returns an INT32 scalar",
        1,
    ),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_function_error(name):
    text, kind, message, line = FUNCTIONS[name]
    header = "import pypto.language as pl\n\nD = pl.dynamic('D')\n\n\n@pl.function\n"
    with pytest.raises(errors.Error) as caught:
        pl.parse(header + text, filename="case.py")
    assert isinstance(caught.value, kind), caught.value
    assert message in str(caught.value)
    assert caught.value.span.begin_line == header.count("\n") + line


def test_several_errors_in_one_compile():
    error = failing("a = pl.add(x, w)\nb = pl.matmul(x, w)\nc = missing")
    found = [error, *error.others]
    assert [type(e) for e in found] == [I, I, N]
    assert len({e.span.begin_line for e in found}) == 3


def test_an_error_is_not_repeated_by_what_depends_on_it():
    error = failing("a = pl.add(x, w)\nb = pl.exp(a)\nc = pl.add(b, a)")
    assert not error.others


def test_help_says_what_would_be_right():
    assert "b_trans=True" in failing("a = pl.matmul(x, w)").hint
    assert "pl.cast" in failing("a = pl.add(x, h)").hint
    assert "did you mean pl.matmul" in failing("a = pl.matmull(x, w)").hint


def test_error_in_a_helper_names_the_call():
    error = failing("a = root(x)\nb = root(i)")
    assert isinstance(error, T)
    assert KERNEL.split("\n")[error.span.begin_line - 1] == "    return pl.sqrt(t)"
    (text, span), *_ = error.notes
    assert "root()" in text
    assert span.begin_line == KERNEL.count("\n") + 2
