"""The device as Dynamo and Inductor see it."""

from __future__ import annotations

import torch


from .. import _C

INDUCTOR_PARTS = ()


def inductor_part(name: str):
    raise AttributeError(name)


def _register() -> None:
    pass
