"""Compiling class programs ahead of a call: `compile`, `CompiledProgram`."""

from __future__ import annotations

from pypto.enums import (
    ForKind,
    FunctionType,
    Level,
    Mem,
    MemorySpace,
    OptimizationStrategy,
    PassDumpLevel,
    Role,
    RuntimeKind,
    ScopeKind,
    SplitMode,
    VerificationLevel,
)
from pypto.ir.compile import compile
from pypto.ir.compiled import CompiledProgram, LoweredProgram
from pypto.program import Function, Program

__all__ = [
    "CompiledProgram",
    "ForKind",
    "Function",
    "FunctionType",
    "Level",
    "LoweredProgram",
    "Mem",
    "MemorySpace",
    "OptimizationStrategy",
    "PassDumpLevel",
    "Program",
    "Role",
    "RuntimeKind",
    "ScopeKind",
    "SplitMode",
    "VerificationLevel",
    "compile",
]
