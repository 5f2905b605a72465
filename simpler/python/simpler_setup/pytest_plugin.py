"""Options of scene tests for pytest: `pytest_plugins = ["simpler_setup.pytest_plugin"]` in a conftest."""

from __future__ import annotations

from typing import Any

from simpler_setup.scene_case import add_options


def pytest_addoption(parser: Any) -> None:
    group = parser.getgroup("simpler scenes")
    add_options(group.addoption)
