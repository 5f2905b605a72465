"""Kernels on the CPU in forked processes, as DataLoader workers and multiprocessing make them."""

from __future__ import annotations


def test_child_of_a_process_that_has_run_kernels(run_python):
    """The threads that run tasks exist in the parent only; the child starts its own."""
    code, output = run_python(
        """
import os, torch, pypto.torch
from kernels import COLS, add
op = pypto.torch.register("pypto_test", "add", add)

def both(n):
    x = torch.full((n, COLS), float(n))
    assert torch.equal(op(x, x), 2 * x)
    assert torch.equal(add(x, x, torch.empty_like(x)), 2 * x)
    return "right"

both(10)
child = os.fork()
if not child:
    grandchild = (both(20), os.fork())[1]
    print("grandchild" if not grandchild else "child", both(30), flush=True)
    status = 0 if not grandchild else os.waitpid(grandchild, 0)[1]
    os._exit(0 if status == 0 else 1)
print("status", os.waitpid(child, 0)[1], "parent", both(40))
"""
    )
    assert code == 0 and "status 0 parent right" in output, output
    assert "child right" in output and "grandchild right" in output


def test_data_loader_workers(run_python):
    code, output = run_python(
        """
import torch, pypto.torch
from kernels import COLS, silu
op = pypto.torch.register("pypto_test", "silu", silu)
rows = torch.randn(64, COLS)
op(rows)

class Rows(torch.utils.data.Dataset):
    def __len__(self):
        return 64
    def __getitem__(self, index):
        return op(rows[index : index + 1])

loader = torch.utils.data.DataLoader(Rows(), batch_size=16, num_workers=2, multiprocessing_context="fork")
got = torch.cat([batch.flatten(0, 1) for batch in loader])
torch.testing.assert_close(got, torch.nn.functional.silu(rows))
print("same")
"""
    )
    assert code == 0 and "same" in output, output
