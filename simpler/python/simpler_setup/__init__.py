"""Building kernels and orchestrations, and testing them."""

from __future__ import annotations

import importlib

_HOME = {
    "KernelCompiler": "kernel_compiler",
    "CompileError": "kernel_compiler",
    "ensure_pto_isa_root": "pto_isa",
    "make_chip_tensor_arg": "torch_interop",
    "make_tensor_arg": "torch_interop",
    "torch_dtype_to_datatype": "torch_interop",
    "RuntimeBuilder": "runtime_builder",
    "RuntimeBinaries": "runtime_builder",
    "parse_platform": "platform_names",
    "extract_text_section": "elf_sections",
    "CallableNamespace": "scene_case",
    "Scalar": "scene_case",
    "SceneTestCase": "scene_case",
    "SceneTestLevel": "scene_case",
    "TaskArgsBuilder": "scene_case",
    "TensorArg": "scene_case",
    "scene_level": "scene_case",
    "scene_test": "scene_case",
}
__all__ = [*_HOME]


def __getattr__(name: str):
    if name in _HOME:
        return getattr(importlib.import_module(f"simpler_setup.{_HOME[name]}"), name)
    raise AttributeError(f"module 'simpler_setup' has no attribute {name!r}")
