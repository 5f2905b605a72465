"""Random numbers: one generator per device."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import torch

from .. import _C


class _DefaultGenerators(Sequence):
    """The devices' default generators, made when first asked for."""

    def __init__(self):
        self._made: dict[int, torch.Generator] = {}

    def __len__(self) -> int:
        return _C._npu_getDeviceCount()

    def __getitem__(self, index: int) -> torch.Generator:
        if not 0 <= index < len(self):
            raise IndexError(f"npu:{index} does not exist, there are {len(self)} device(s)")
        if index not in self._made:
            self._made[index] = _C._npu_defaultGenerator(index)
        return self._made[index]


default_generators = _DefaultGenerators()


def _index(device: Any) -> int:
    from . import _get_device_index

    return _get_device_index(device, optional=True)


def get_rng_state(device: Any = "npu") -> torch.Tensor:
    """The generator's state, a ByteTensor on the host. Waits for the device."""
    return default_generators[_index(device)].get_state()


def get_rng_state_all() -> list[torch.Tensor]:
    return [generator.get_state() for generator in default_generators]


def set_rng_state(new_state: torch.Tensor, device: Any = "npu") -> None:
    default_generators[_index(device)].set_state(
        new_state.clone(memory_format=torch.contiguous_format)
    )


def set_rng_state_all(new_states: Iterable[torch.Tensor]) -> None:
    for index, state in enumerate(new_states):
        set_rng_state(state, index)


def manual_seed(seed: int) -> None:
    """Seeds the current device's generator; before the first use of a device it takes effect at its start."""
    from . import _lazy_call, current_device

    _lazy_call(lambda: default_generators[current_device()].manual_seed(int(seed)))


def manual_seed_all(seed: int) -> None:
    from . import _lazy_call

    def seed_all_devices():
        for generator in default_generators:
            generator.manual_seed(int(seed))

    _lazy_call(seed_all_devices)


def seed() -> None:
    from . import current_device

    default_generators[current_device()].seed()


def seed_all() -> None:
    if len(default_generators):
        manual_seed_all(default_generators[0].seed())


def initial_seed() -> int:
    from . import current_device

    return default_generators[current_device()].initial_seed()
