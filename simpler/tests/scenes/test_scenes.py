"""Every scene on both simulated platforms, twice on one worker that all scenes share."""

from __future__ import annotations

import numpy as np
import pytest
from simpler.buffer import Buffer
from simpler.task_interface import CallConfig, DataType, TaskArgs, TensorArgType, scalar_to_uint64

from simpler import RunError, Worker

from . import build, replay, scenes

TAGS = {
    "IN": TensorArgType.INPUT,
    "OUT": TensorArgType.OUTPUT_EXISTING,
    "INOUT": TensorArgType.INOUT,
}
TYPES = {"int32": DataType.INT32, "float32": DataType.FLOAT32}


@pytest.fixture(scope="module")
def workers():
    made: dict[tuple[str, str], Worker] = {}

    def get(platform: str, runtime: str) -> Worker:
        if (platform, runtime) not in made:
            made[platform, runtime] = worker = Worker(level=2, platform=platform, runtime=runtime)
            worker.init()
        return made[platform, runtime]

    yield get
    for worker in made.values():
        worker.close()


def arguments(arrays, scene) -> TaskArgs:
    args = TaskArgs()
    for (role, _), array in zip(scene.tensors, arrays, strict=True):
        args.add_tensor(Buffer.wrap(array).tensor(array.shape, TYPES[array.dtype.name]), TAGS[role])
    for value in scene.scalars:
        args.add_scalar(scalar_to_uint64(value))
    return args


@pytest.mark.parametrize("platform", ["a2a3sim", "a5sim"])
@pytest.mark.parametrize(
    "scene",
    [*scenes.ALL, *replay.ALL],
    ids=lambda s: f"{s.file}.{s.entry}{'.fails' if s.fails else ''}",
)
def test_scene(workers, scene, platform):
    worker = workers(platform, scene.runtime)
    handle = worker.register(
        build.chip(platform, scene.file, scene.entry, [role for role, _ in scene.tensors])
    )
    config = CallConfig()
    for name, value in scene.budgets.items():
        setattr(config.runtime_env, name, value)
    try:
        for _ in range(2):
            arrays = [array.copy() for _, array in scene.tensors]
            expected = [array.copy() for array in arrays]
            if scene.fails:
                code, text = scene.fails
                with pytest.raises(RunError, match=f"run failed with code -{code}: ") as caught:
                    worker.run(handle, arguments(arrays, scene), config)
                assert caught.value.code == code
                assert text in str(caught.value)
                continue
            worker.run(handle, arguments(arrays, scene), config)
            scene.golden(*expected, *scene.scalars)
            for position, (got, want) in enumerate(zip(arrays, expected, strict=True)):
                np.testing.assert_allclose(
                    got,
                    want,
                    rtol=scene.tolerance,
                    atol=scene.tolerance,
                    err_msg=f"tensor {position}",
                )
    finally:
        worker.unregister(handle)


def test_there_are_at_least_60_scenes():
    assert len({(s.file, s.entry, s.runtime, s.fails is None) for s in scenes.ALL}) >= 60
