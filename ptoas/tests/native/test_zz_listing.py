"""Every op of the language runs in some test of this folder, or is named here with the reason why not.

The last file of the folder: it looks at what the others have run.
"""

from __future__ import annotations

import re
from pathlib import Path

import native
import pytest

OPS = Path(__file__).resolve().parents[2] / "test/ops.txt"
KERNELS = Path(__file__).resolve().parents[1] / "kernels/level2"

# No code, and what says so.
MX = "making shared scales, and finding them by address, has no code yet"
WITHOUT_CODE = {
    **dict.fromkeys("tget_scale_addr tquant.mx".split(), MX),
    "section.simt": "threads of the SIMT unit have no counterpart",
    "tconcatidx": "no code yet",
    "trap": "ends the process",
}
# With code that no test here looks at by itself; modules of pypto may run it.
WITHOUT_TEST = set(
    """
    tstore_fp tmov.fp textract_fp tinsert_fp trandom thistogram
    set_ffts set_cross_block wait_cross_block set_intra_block wait_intra_block
    declare_local_array local_array_get local_array_set subset tcolprod textract tshls tshrs
    tmatmul.mx.bias tgemv.mx tgemv.mx.acc tgemv.mx.bias
    """.split()
)


def ops_of_the_language() -> set[str]:
    """Names, without other spellings of the same op and without what is no op of this tree."""
    found: set[str] = set()
    for line in OPS.read_text().splitlines():
        line = line.strip()
        if line and line[0] not in "#[" and " = " not in line and " ! " not in line:
            found.update(line.split())
    return found


def test_every_op_runs(request):
    folder = Path(__file__).parent
    asked = {
        Path(item.path).name for item in request.session.items if Path(item.path).parent == folder
    }
    if asked != {path.name for path in folder.glob("test_*.py")}:
        pytest.skip("only a part of the tests was asked for")
    # The kernels run in a suite of their own.
    in_kernels = set()
    for file in KERNELS.glob("*.pto"):
        in_kernels |= set(re.findall(r"\bpto\.([a-z]\w*(?:\.[a-z]\w*)*)", file.read_text()))
    ops, ran = ops_of_the_language(), native.executed | in_kernels
    assert sorted(ops - ran - set(WITHOUT_CODE) - WITHOUT_TEST) == []
    # The lists do not outlive their reason.
    assert sorted(set(WITHOUT_CODE) & ran) == []
    assert sorted((set(WITHOUT_CODE) | WITHOUT_TEST) - ops) == []


def test_what_has_no_code_is_refused():
    for body, message in (
        (
            "%t = pto.alloc_tile : !pto.tile_buf<vec, 16x64x!pto.hif8>",
            "no code for tiles of '!pto.hif8'",
        ),
    ):
        with pytest.raises(native.CompileError, match=message):
            native.Code(
                f'module attributes {{pto.target_arch = "a5"}} {{ func.func @f() attributes '
                f"{{pto.kernel_kind = #pto.kernel_kind<cube>}} {{ {body}\n return }} }}"
            )
