"""Test helpers with the names of torch_npu.testing."""
