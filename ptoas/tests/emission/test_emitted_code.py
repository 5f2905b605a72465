"""Emitted C++ is C++: it compiles against the declarations there, and is formatted.

The modules are the golden tests of ptoas/test/emission, the kernels of ptoas/tests/kernels, and, where they lie beside
the tree, the conformance cases. All files of a test go through one compiler
process, each in its namespace.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
GOLDEN = ROOT / "ptoas/test/emission"  # lit tests, and the declarations to compile against
PTOAS = os.environ.get("PTOAS", str(ROOT / "build/dev/bin/ptoas"))
CASES = ROOT.parent / "shared/cases"
CLANG = shutil.which("clang++-22") or shutil.which("clang++")
CLANG_FORMAT = shutil.which("clang-format-22") or shutil.which("clang-format")


def emit(job: tuple[Path, list[str], Path]) -> str:
    """Empty, or what went wrong."""
    source, flags, target = job
    done = subprocess.run(
        [PTOAS, str(source), *flags, "-o", str(target)], capture_output=True, text=True, timeout=60
    )
    return "" if done.returncode == 0 else f"{source}: {done.stderr[-800:]}"


def emit_all(jobs: list[tuple[Path, list[str], Path]]) -> None:
    with ThreadPoolExecutor(2) as pool:
        problems = [problem for problem in pool.map(emit, jobs) if problem]
    assert not problems, "\n".join(problems)


def check(folder: Path, files: list[Path], *defines: str) -> None:
    """Compiles the files as one translation unit for both kinds of core; then their format."""
    unit = ["#include <pto/pto-inst.hpp>"]
    for index, file in enumerate(files):
        unit += [f"namespace file{index} {{", f'#include "{file}"', "}"]
    whole = folder / "all.cpp"
    whole.write_text("\n".join(unit) + "\n")
    done = subprocess.run(
        [
            CLANG,
            "-fsyntax-only",
            "-std=c++20",
            "-Wall",
            "-Wextra",
            "-Werror",
            "-Wno-unused",
            "-Wno-unused-parameter",
            "-Wno-return-type",
            "-ferror-limit=0",
            "-D__DAV_CUBE__",
            "-D__DAV_VEC__",
            *defines,
            f"-I{GOLDEN / 'include'}",
            str(whole),
        ],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr[:6000]
    shutil.copy(ROOT / ".clang-format", folder)
    for start in range(0, len(files), 200):
        done = subprocess.run(
            [CLANG_FORMAT, "--dry-run", "--Werror", *map(str, files[start : start + 200])],
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, done.stderr[:3000]


def golden() -> list[tuple[Path, list[str]]]:
    """The golden files with the flags of each of their runs."""
    found = []
    for file in sorted(GOLDEN.glob("*.pto")):
        if "errors" in file.stem:
            continue
        for run in re.findall(r"^// RUN: %ptoas %s (.*?) \|", file.read_text(), re.M):
            found.append((file, shlex.split(run)))
    return found


def test_golden_files(tmp_path):
    jobs = [
        (file, flags, tmp_path / f"{n}_{file.stem}.cpp") for n, (file, flags) in enumerate(golden())
    ]
    assert len(jobs) > 15
    emit_all(jobs)
    check(tmp_path, [job[2] for job in jobs])


def test_wrong_code_is_refused(tmp_path):
    """The declarations are worth something: a wrong name, number of arguments and type are found."""
    file, flags = next(item for item in golden() if item[0].stem == "elementwise")
    target = tmp_path / "k.cpp"
    emit_all([(file, flags, target)])
    text = target.read_text()
    for right, wrong in (
        ("TSUB(d, a, b);", "TSUBB(d, a, b);"),
        ("TSUB(d, a, b);", "TSUB(d, a);"),
        ("TSUB(d, a, b);", "TSUB(d, a, missing);"),
        ("TCVT(h, a, RoundMode::CAST_RINT);", "TCVT(h, a, CmpMode::EQ);"),
        ("PadValue::Null", "PadValue::None"),
    ):
        assert right in text
        target.write_text(text.replace(right, wrong, 1))
        with pytest.raises(AssertionError):
            check(tmp_path, [target])


def test_every_process_writes_the_same(tmp_path):
    file, flags = next(item for item in golden() if item[0].stem == "kernel")
    texts = set()
    for n in range(3):
        target = tmp_path / f"{n}.cpp"
        # Another environment moves the stack and the heap.
        env = {**os.environ, "PTO_PADDING": "x" * (4000 * n + 1)}
        subprocess.run([PTOAS, str(file), *flags, "-o", str(target)], check=True, env=env)
        texts.add(target.read_bytes())
    assert len(texts) == 1


def test_the_output_appears_complete_or_not_at_all(tmp_path):
    target = tmp_path / "k.cpp"
    target.write_text("before")
    failed = subprocess.run(
        [PTOAS, str(GOLDEN / "errors.pto"), "--pto-level=level3", "-o", str(target)],
        capture_output=True,
    )
    assert failed.returncode == 1
    # Nobody takes the file of an earlier run for that of this one.
    assert list(tmp_path.iterdir()) == []
    with open("/dev/full", "w") as full:
        failed = subprocess.run(
            [PTOAS, str(GOLDEN / "matrix.pto"), "--pto-level=level3"],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
        )
    assert failed.returncode == 1 and "Error: cannot write" in failed.stderr


@pytest.mark.parametrize("level", [2, 3])
def test_kernels_of_the_tests(tmp_path, level):
    """The kernels that ptoas/tests/kernels runs natively."""
    jobs = [
        (file, ["--enable-insert-sync", f"--pto-level=level{level}"], tmp_path / f"{file.stem}.cpp")
        for file in sorted((ROOT / f"ptoas/tests/kernels/level{level}").glob("*.pto"))
    ]
    assert len(jobs) >= 50
    emit_all(jobs)
    check(tmp_path, [job[2] for job in jobs])


def test_the_module_with_addresses_and_flags_is_the_same_program(tmp_path):
    """What the passes make of a level2 module, written out and assembled at level3, gives the same C++."""
    kernels = sorted((ROOT / "ptoas/tests/kernels/level2").glob("*.pto"))
    seams = [(k, tmp_path / f"{k.stem}.pto") for k in kernels]
    flags = ["--enable-insert-sync"]
    emit_all(
        [
            (k, [*flags, f"--pto-seam-ir-file={seam}"], tmp_path / f"{k.stem}.2.cpp")
            for k, seam in seams
        ]
    )
    emit_all([(seam, ["--pto-level=level3"], tmp_path / f"{k.stem}.3.cpp") for k, seam in seams])
    for kernel in kernels:
        lines = (tmp_path / f"{kernel.stem}.2.cpp").read_text().splitlines(keepends=True)
        # Only the drain at the end is an option.
        kept = [
            line
            for line in lines
            if "ptoas_auto_sync_tail(PTOAutoSync" not in line or "mode" in line
        ]
        assert "".join(kept) == (tmp_path / f"{kernel.stem}.3.cpp").read_text(), kernel


@pytest.mark.skipif(not CASES.is_dir(), reason="the conformance cases are not beside this tree")
def test_conformance_cases(tmp_path, capsys):
    jobs = []
    for file in sorted((CASES / "pto-from-pypto").rglob("*.pto")):
        target = tmp_path / f"{file.parent.name}__{file.stem}.cpp"
        jobs.append((file, ["--pto-level=level3", "--enable-insert-sync"], target))
    pypto = len(jobs)
    for description in sorted((CASES / "pto").rglob("case.json")):
        case = json.loads(description.read_text())
        name = description.parent.name
        flags = [
            *case.get("flags", []),
            f"--pto-level={case['level']}",
            f"--pto-arch={case['arch']}",
        ]
        jobs.append((description.parent / f"{name}.pto", flags, tmp_path / f"{name}.cpp"))
    emit_all(jobs)
    # Some have tiles that the assembler takes with a warning and the headers refuse.
    check(tmp_path, [job[2] for job in jobs], "-DPTO_ANY_TILE")
    with capsys.disabled():
        print(f"\n{pypto} modules of pypto and {len(jobs) - pypto} cases emit and compile")
