"""Worker, RunHandle, Buffer, CallConfig: states, order, errors, what a run leaves on disk."""

from __future__ import annotations

import asyncio
import csv
import functools
import gc
import json
import operator
import os
import signal
import threading

import numpy as np
import pytest
from node_tests import alive, wait_until
from scenes import build
from simpler.buffer import AccessMode, BackendKind, Buffer
from simpler.task_interface import (
    CallConfig,
    ChipCallable,
    CoreCallable,
    DataType,
    TaskArgs,
    TensorArgType,
    scalar_to_uint64,
)

from simpler import RunError, Worker

PLATFORM = "a2a3sim"


@pytest.fixture
def worker():
    w = Worker(level=2, platform=PLATFORM, runtime="tensormap_and_ringbuffer")
    w.init()
    yield w
    w.close()


def chip(file: str, entry: str, *directions: str) -> ChipCallable:
    return build.chip(PLATFORM, file, entry, list(directions))


def args(*arrays: np.ndarray) -> TaskArgs:
    result = TaskArgs()
    for array in arrays:
        result.add_tensor(
            Buffer.wrap(array).tensor(array.shape, DataType.INT32), TensorArgType.INOUT
        )
    return result


def ints(n: int = 4) -> np.ndarray:
    return np.arange(n, dtype=np.int32)


# -- states and misuse ------------------------------------------------------------------------------------------------
def test_unknown_key_names_the_known_ones():
    with pytest.raises(TypeError, match="unknown key 'plattform'; known are .*platform"):
        Worker(level=2, plattform=PLATFORM)


@pytest.mark.parametrize(
    ("keys", "text"),
    [
        ({"level": 9}, "level 9 is not supported"),
        ({"level": 2, "platform": "a9", "runtime": "host_build_graph"}, "platform 'a9' is none of"),
        ({"level": 2, "platform": PLATFORM, "runtime": "x"}, "runtime 'x' is none of"),
        (
            {
                "level": 2,
                "platform": PLATFORM,
                "runtime": "host_build_graph",
                "workspace_budget_bytes": 5,
            },
            "at least 1024",
        ),
    ],
)
def test_bad_configuration(keys, text):
    with pytest.raises(ValueError, match=text):
        Worker(**keys)


def test_handles_are_checked(worker):
    handle = worker.register(chip("data", "no_task", "INOUT"))
    other = Worker(level=2, platform=PLATFORM, runtime="tensormap_and_ringbuffer")
    with pytest.raises(ValueError, match="not given out by this worker"):
        other.unregister(handle)
    worker.unregister(handle)
    with pytest.raises(ValueError, match="was unregistered"):
        worker.run(handle, args(ints()))


@pytest.mark.parametrize(
    "keys, error",
    [
        ({"level": "2"}, "level '2' is not supported"),
        ({"device_id": -1}, "device_id is -1; an id, 0 or more"),
        ({"device_id": "a"}, "device_id is 'a'"),
        ({"threads": "x"}, "threads is 'x'; it must be 0 .* to 200"),
        ({"threads": 201}, "threads is 201"),
        ({"enable_sdma": 1}, "enable_sdma is 1; True or False"),
        ({"device_ids": 5}, "device_ids is 5; a list of ids"),
        ({"heap_ring_size": "x"}, "heap_ring_size is 'x'; it must be positive"),
        ({"workspace_budget_bytes": "x"}, "workspace_budget_bytes is 'x'; at least 1024"),
    ],
)
def test_values_of_keys_are_checked(keys, error):
    keys = {"level": 2, "platform": PLATFORM, "runtime": "host_build_graph", **keys}
    with pytest.raises((TypeError, ValueError), match=error):
        Worker(**keys)


def test_arguments_of_the_wrong_kind(worker):
    handle = worker.register(chip("data", "logging", "INOUT"))
    for call, error, text in [
        (lambda: worker.run(handle, [1]), TypeError, "Worker.run: expected TaskArgs, got list"),
        (lambda: worker.submit(handle, 1), TypeError, "Worker.submit: expected TaskArgs, got int"),
        (lambda: worker.run(handle, TaskArgs(), {}), TypeError, "expected a CallConfig, got dict"),
        (lambda: worker.malloc(True), TypeError, "nbytes is True"),
        (lambda: worker.malloc(1.5), TypeError, "nbytes is 1.5"),
        (lambda: worker.copy_to(worker.malloc(8), None), TypeError, "buffer protocol, got None"),
        (
            lambda: worker.copy_to(worker.malloc(64), np.zeros((4, 4))[:, ::2]),
            ValueError,
            "not contiguous",
        ),
        (lambda: worker.malloc(8).tensor([-1], DataType.INT32), ValueError, "extent is -1"),
        (lambda: worker.malloc(8).tensor([1.0], DataType.INT32), TypeError, "'float' object"),
        (
            lambda: worker.malloc(8).tensor([1], DataType.INT32, None, -4),
            ValueError,
            "byte_offset is -4",
        ),
        (lambda: Worker(2, platform=PLATFORM, runtime="x"), ValueError, "runtime 'x' is none of"),
    ]:
        with pytest.raises(error, match=text):
            call()
    new = Worker(level=2, platform=PLATFORM, runtime="host_build_graph")
    with pytest.raises(TypeError, match="prewarm_config must be a CallConfig, got int"):
        new.init(5)


def test_a_program_that_asks_for_more_than_the_call_gives(worker):
    handle = worker.register(chip("data", "logging", "INOUT"))
    with pytest.raises(RunError, match="asks for tensor argument 0, the call gives 0") as caught:
        worker.run(handle)
    assert caught.value.code == 5
    scalars = worker.register(chip("data", "entry_scalars", "INOUT"))
    with pytest.raises(RunError, match="asks for scalar argument 0, the call gives 0"):
        worker.run(scalars, args(ints(16)))


def test_one_control_thread_is_too_few(worker):
    config = CallConfig()
    config.aicpu_thread_num = 1
    config.validate()
    x = ints()
    with pytest.raises(RunError, match="aicpu_thread_num is 1; it must be 0 .* or at least 2"):
        worker.run(worker.register(chip("data", "logging", "INOUT")), args(x), config)
    np.testing.assert_array_equal(x, ints())


def test_same_target_gives_two_handles_and_one_hash(worker):
    one, two = (worker.register(chip("data", "no_task", "INOUT")) for _ in range(2))
    assert one is not two and one.hashid == two.hashid and one.hashid.startswith("sha256:")


def test_65th_callable_is_refused(worker):
    for i in range(64):
        worker.register(build.chip(PLATFORM, "data", "no_task", ["IN"] * (i + 1)))
    with pytest.raises(RuntimeError, match="all 64 slots"):
        worker.register(chip("data", "logging", "INOUT"))


# -- bad images -------------------------------------------------------------------------------------------------------
def test_missing_entry_symbol(worker):
    with pytest.raises(ValueError, match="no symbol 'nowhere'"):
        worker.register(chip("data", "nowhere", "INOUT"))


def test_object_of_another_architecture(worker):
    other = bytearray(build.orchestration(PLATFORM, "data"))
    other[18:20] = (243).to_bytes(2, "little")  # RISC-V
    with pytest.raises(ValueError, match="another architecture"):
        worker.register(ChipCallable.build(signature=[], func_name="no_task", binary=bytes(other)))


@pytest.mark.parametrize("keep", [0.01, 0.3, 0.9])
def test_truncated_images_are_refused(worker, keep):
    whole = chip("data", "no_task", "INOUT").to_bytes()
    with pytest.raises(
        ValueError, match="truncated|damaged|outside|shorter|no shared object|has no symbol|loaded"
    ):
        worker.register(ChipCallable.from_bytes(whole[: int(len(whole) * keep)]))


def test_text_is_no_object(worker):
    core = CoreCallable.build(signature=[], binary=b"int main() {}")
    with pytest.raises(ValueError, match="kernel 3 is no shared object"):
        worker.register(
            ChipCallable.build(
                signature=[],
                func_name="no_task",
                binary=build.orchestration(PLATFORM, "data"),
                children=[(3, core)],
            )
        )


def test_func_ids_are_checked():
    core = CoreCallable.build(signature=[], binary=b"x")
    for ids, text in (([1024], "not in 0..1023"), ([2, 2], "used twice")):
        with pytest.raises(ValueError, match=text):
            ChipCallable.build(
                signature=[], func_name="e", binary=b"x", children=[(i, core) for i in ids]
            )


# -- runs -------------------------------------------------------------------------------------------------------------
def test_runs_take_effect_in_order(worker):
    handle = worker.register(chip("hazards", "raw_chain", "INOUT"))
    x, y = ints(), ints()
    handles = [worker.submit(handle, args(x)) for _ in range(5)]
    worker.run(handle, args(x))
    assert all(h.done for h in handles)
    for _ in range(6):
        for i in range(40):
            y = y * (i % 3) + i
    np.testing.assert_array_equal(x, y)


def test_done_wait_result_and_timeout(worker):
    gate = np.zeros(1, np.int32)
    run = worker.submit(worker.register(chip("timing", "held", "INOUT")), args(gate))
    try:
        assert run.done is False
        with pytest.raises(TimeoutError):
            run.wait(timeout=0)
    finally:
        gate[0] = 1
    run.wait()
    assert run.done is True
    run.result()
    run.wait(timeout=1)


def test_failed_submission_raises_at_wait_and_the_worker_goes_on(worker):
    bad = worker.register(chip("data", "throwing_kernel", "INOUT"))
    good = worker.register(chip("data", "logging", "INOUT"))
    x = ints()
    failed, fine = worker.submit(bad, args(ints())), worker.submit(good, args(x))
    with pytest.raises(RunError) as caught:
        failed.wait()
    assert (caught.value.code, caught.value.name) == (200, "KERNEL_FAILED")
    fine.wait()
    np.testing.assert_array_equal(x, ints() + 1)


def test_a_queued_run_can_be_cancelled(worker):
    handle = worker.register(chip("hazards", "war", "INOUT", "OUT"))
    gate = np.zeros(1, np.int32)
    first = worker.submit(worker.register(chip("timing", "held", "INOUT")), args(gate))
    x = ints(8)
    second = worker.submit(handle, args(x, ints(96)))
    try:
        assert second.cancel()
    finally:
        gate[0] = 1
    with pytest.raises(RunError, match="cancelled before it started") as caught:
        second.wait()
    assert caught.value.code == 201
    np.testing.assert_array_equal(x, ints(8))
    first.wait()


def test_cancelling_a_run_leaves_the_next_alone(worker):
    held = worker.register(chip("timing", "held_then_counted", "INOUT"))
    gate, x = np.zeros(2, np.int32), ints()
    first = worker.submit(held, args(gate))
    second = worker.submit(worker.register(chip("data", "logging", "INOUT")), args(x))
    assert wait_until(lambda: gate[1] == 1)
    assert first.cancel() is False
    gate[0] = 1
    with pytest.raises(RunError, match="interrupted") as caught:
        first.wait()
    assert (caught.value.code, gate[1]) == (201, 1)
    second.wait()
    assert first.cancel() is False
    np.testing.assert_array_equal(x, ints() + 1)


def test_ctrl_c_just_before_a_run(worker):
    handle = worker.register(chip("data", "logging", "INOUT"))
    x = ints()
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        # No Python code between the signal and the run: nobody else sees it.
        steps = [
            functools.partial(signal.raise_signal, signal.SIGINT),
            functools.partial(worker._lanes[0].run, worker._item(handle, "run"), args(x), None),
        ]
        with pytest.raises(KeyboardInterrupt):
            list(map(operator.methodcaller("__call__"), steps))
    finally:
        signal.signal(signal.SIGINT, before)
    np.testing.assert_array_equal(x, ints())
    worker.run(handle, args(x))
    np.testing.assert_array_equal(x, ints() + 1)


def test_handles_can_be_awaited_and_call_back(worker):
    handle = worker.register(chip("data", "logging", "INOUT"))
    x, seen = ints(), threading.Event()

    async def main() -> None:
        run = worker.submit(handle, args(x))
        run.add_done_callback(lambda _: seen.set())
        await run

    asyncio.run(main())
    assert seen.wait(60)
    np.testing.assert_array_equal(x, ints() + 1)


def test_arguments_outlive_their_names(worker):
    handle = worker.register(chip("data", "logging", "INOUT"))
    x = ints(1000)
    runs = [worker.submit(handle, args(x)) for _ in range(20)]
    gc.collect()
    for run in runs:
        run.wait()
    np.testing.assert_array_equal(x, ints(1000) + 20)


def test_two_workers_and_many_threads(worker):
    other = Worker(level=2, platform=PLATFORM, runtime="host_build_graph")
    other.init()
    errors: list[BaseException] = []

    def use(w: Worker) -> None:
        try:
            handle = w.register(chip("hazards", "raw_chain", "INOUT"))
            x, y = ints(), ints()
            for _ in range(10):
                w.run(handle, args(x))
                for i in range(40):
                    y = y * (i % 3) + i
            np.testing.assert_array_equal(x, y)
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=use, args=(w,)) for w in (worker, other, worker, other)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    other.close()
    assert errors == []


def test_close_waits_for_submitted_runs():
    w = Worker(level=2, platform=PLATFORM, runtime="tensormap_and_ringbuffer")
    w.init()
    handle = w.register(chip("data", "logging", "INOUT"))
    x = ints()
    run = w.submit(handle, args(x))
    w.close()
    run.wait()
    np.testing.assert_array_equal(x, ints() + 1)
    with pytest.raises(RuntimeError, match="CLOSED"):
        w.run(handle, args(x))


def test_copies_end_while_another_thread_runs_programs(worker):
    handle = worker.register(chip("hazards", "raw_chain", "INOUT"))
    memory = worker.malloc(16)
    ended: list[str] = []

    def run() -> None:
        x = ints()
        for _ in range(500):
            worker.run(handle, args(x))
        ended.append("runs")

    def copy() -> None:
        for _ in range(500):
            worker.copy_to(memory, ints())
        ended.append("copies")

    for target in (run, copy):
        threading.Thread(target=target, daemon=True).start()
    assert wait_until(lambda: len(ended) == 2), f"only these have ended: {ended}"


def test_create_and_close_does_not_grow():
    def threads_and_files() -> tuple[int, int]:
        return len(os.listdir("/proc/self/task")), len(os.listdir("/proc/self/fd"))

    image = chip("hazards", "raw_chain", "INOUT")
    before = None
    for i in range(60):
        w = Worker(level=2, platform=PLATFORM, runtime="tensormap_and_ringbuffer")
        w.init()
        handle = w.register(image)
        w.run(handle, args(ints(256)))
        w.close()
        if i == 5:
            before = threads_and_files()
    # The system lists a thread for a moment after it was joined.
    assert wait_until(lambda: all(map(operator.le, threads_and_files(), before)))


def test_a_worker_is_refused_after_fork(worker):
    handle = worker.register(chip("data", "logging", "INOUT"))
    worker.run(handle, args(ints()))
    child = os.fork()
    if child == 0:
        try:
            worker.run(handle, args(ints()))
        except RuntimeError as error:
            os._exit(0 if "fork" in str(error) else 2)
        os._exit(1)
    if not wait_until(lambda: not alive(child)):
        os.kill(child, 9)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def test_a_borrowed_context_belongs_to_one_thread():
    w = Worker(level=2, platform=PLATFORM, runtime="tensormap_and_ringbuffer")
    with pytest.raises(ValueError, match="non-zero"):
        w.init(borrowed_context_generation=0)
    w.init(borrowed_context_generation=7)
    caught: list[BaseException] = []

    def close() -> None:
        try:
            w.close()
        except RuntimeError as error:
            caught.append(error)

    thread = threading.Thread(target=close)
    thread.start()
    thread.join()
    assert "borrowed" in str(caught[0])
    w.close()


# -- buffers, tensors, scalars ----------------------------------------------------------------------------------------
def test_device_memory_round_trip(worker):
    memory = worker.malloc(64)
    x, back = ints(16), np.zeros(16, np.int32)
    worker.copy_to(memory, x)
    worker.copy_from(back, memory)
    np.testing.assert_array_equal(back, x)
    assert worker.committed_device_memory() == 64
    with pytest.raises(ValueError, match="128 bytes into a buffer of 64"):
        worker.copy_to(memory, ints(32))
    worker.free(memory)
    with pytest.raises(ValueError, match="freed already"):
        worker.free(memory)


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (dict(shapes=(17,)), "68 bytes are needed, the buffer has 64"),
        (dict(shapes=(4, 0)), "is 0"),
        (dict(shapes=(1,) * 6), "rank 6"),
        (dict(shapes=(4,), strides=(0,)), "stride 0"),
        (dict(shapes=(4,), strides=(1, 1)), "2 strides for rank 1"),
        (dict(shapes=(4,), byte_offset=2), "no multiple of the element size"),
    ],
)
def test_tensors_stay_inside_their_buffer(worker, call, text):
    memory = worker.malloc(64)
    with pytest.raises(ValueError, match=text):
        memory.tensor(dtype=DataType.INT32, **call)


def test_wrap_needs_writable_memory_and_keeps_it():
    with pytest.raises(TypeError, match="read-only"):
        Buffer.wrap(b"abcd")
    buffer = Buffer.wrap(bytearray(b"abcd"))
    gc.collect()
    assert bytes(buffer.buffer) == b"abcd" and buffer.backend_kind == BackendKind.FORK_SHM
    with pytest.raises(ValueError, match="READ only"):
        Buffer(1, 1, backend_kind=BackendKind.FORK_COW, access=AccessMode.WRITE)


@pytest.mark.parametrize(
    ("value", "dtype", "bits"),
    [
        (1.5, DataType.FLOAT32, 0x3FC00000),
        (1.5, DataType.FLOAT16, 0x3E00),
        (1.00390625, DataType.BFLOAT16, 0x3F80),  # halfway: to even
        (-1, DataType.INT8, 0xFF),
        (-1, DataType.INT32, 0xFFFFFFFF),
        (2**64 - 1, DataType.UINT64, 2**64 - 1),
        (True, DataType.BOOL, 1),
    ],
)
def test_typed_scalars_are_encoded(value, dtype, bits):
    a = TaskArgs()
    a.add_scalar(value, dtype)
    assert a.scalar(0) == bits


@pytest.mark.parametrize(
    "value, bits",
    [
        (np.int32(-1), 2**64 - 1),
        (np.float32(2), 0x40000000),
        (np.bool_(True), 1),
        (float("-inf"), 0xFF800000),
    ],
)
def test_numbers_of_numpy_are_numbers(value, bits):
    assert scalar_to_uint64(value) == bits


@pytest.mark.parametrize("value, dtype", [(1e39, None), (-1e39, "FLOAT32"), (65520, "FLOAT16")])
def test_a_number_that_becomes_infinite_is_refused(value, dtype):
    largest = {"FLOAT16": "65504"}.get(dtype, "3.40282e\\+38")
    with pytest.raises(ValueError, match=f"does not fit, the largest number is {largest}"):
        TaskArgs().add_scalar(value, getattr(DataType, dtype)) if dtype else scalar_to_uint64(value)
    with pytest.raises(TypeError, match="expected a number, got NoneType"):
        scalar_to_uint64(None)


def test_scalars_out_of_range_and_order():
    a = TaskArgs()
    for value, dtype in ((200, DataType.INT8), (-1, DataType.UINT32), (1 << 64, DataType.UINT64)):
        with pytest.raises(ValueError, match="range|64 bits"):
            a.add_scalar(value, dtype)
    a.add_scalar(1)
    with pytest.raises(Exception, match="tensors must come before scalars"):
        a.add_tensor(Buffer.wrap(ints()).tensor((4,), DataType.INT32))
    with pytest.raises(IndexError):
        a.scalar(1)
    assert scalar_to_uint64(-1) == 2**64 - 1


# -- configuration and files ------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("name", "value", "text"),
    [
        ("ring_task_window", 6, "power of two"),
        ("ring_heap", 100, "below 1024"),
        ("ring_dep_pool", 3, "not in 4"),
        ("ring_heap", [1024, 2048], "exactly four"),
    ],
)
def test_budgets_are_validated(name, value, text):
    config = CallConfig()
    with pytest.raises(ValueError, match=text):
        setattr(config.runtime_env, name, value)
        config.validate()


def test_diagnostics_need_a_folder_and_switches_are_bools():
    config = CallConfig()
    config.enable_chip_swimlane = True
    assert config.enable_chip_swimlane == 4
    with pytest.raises(ValueError, match="output_prefix is empty"):
        config.validate()
    with pytest.raises(TypeError):
        config.enable_dep_gen = 1


def test_one_run_writes_all_files(worker, tmp_path):
    handle = worker.register(chip("hazards", "diamond", "IN", "OUT"))
    config = CallConfig()
    config.enable_chip_swimlane, config.enable_pmu, config.enable_dump_args = 4, 2, 2
    config.enable_dep_gen = config.enable_scope_stats = True
    config.output_prefix = str(tmp_path / "out")
    x, y = ints(8), ints(8)
    worker.run(handle, args(x, y), config)
    deps = json.loads((tmp_path / "out/deps.json").read_text())
    ids = [t["task_id"] for t in deps["tasks"]]
    assert len(ids) == 3 and [t["kernel_ids"] for t in deps["tasks"]] == [
        [-1, 0, -1],
        [-1, 2, -1],
        [-1, 0, -1],
    ]
    assert {(e["pred"], e["succ"]) for e in deps["edges"]} == {(ids[0], ids[2]), (ids[1], ids[2])}
    assert {e["source"] for e in deps["edges"]} == {"creator"}
    lane = json.loads((tmp_path / "out/chip_swimlane_records.json").read_text())
    assert sorted(row[1] for row in lane["aicore_tasks"]) == sorted(ids)
    assert all(row[3] <= row[4] for row in lane["aicore_tasks"])
    assert lane["metadata"]["num_cores"] == 24 and len(lane["aicpu_tasks"]) == 3
    with open(tmp_path / "out/pmu.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [r["func_id"] for r in rows].count("0") == 2 and len(rows) == 3
    assert all(int(r["host_cpu_ns"]) > 0 and int(r["pmu_total_cycles"]) >= 0 for r in rows)
    for name in ("cycles", "instructions", "cache_misses", "branch_misses"):
        counted = [r.get(f"host_{name}", r.get(f"host_{name}_unavailable")) for r in rows]
        assert (f"host_{name}_unavailable" in rows[0]) == (counted == ["0"] * 3)
    phases = [p for thread in lane["aicpu_scheduler_phases"] for p in thread]
    assert [p["kind"] for p in phases].count("complete") == 3
    assert {"complete", "dispatch"} <= {p["kind"] for p in phases}
    assert all(p["start_cycles"] <= p["end_cycles"] for p in phases)
    (submits,) = lane["aicpu_orchestrator_phases"]
    assert [(s["submit_idx"], s["task_id"]) for s in submits] == list(enumerate(ids))
    dump = json.loads((tmp_path / "out/args_dump/args_dump.json").read_text())
    raw = (tmp_path / "out/args_dump/args.bin").read_bytes()
    last = [a for a in dump["args"] if a["stage"] == "after_completion"][-1]
    got = np.frombuffer(raw[last["bin_offset"] : last["bin_offset"] + last["bin_size"]], np.int32)
    np.testing.assert_array_equal(got, 3 * x + 7)
    assert dump["total_args"] == len(dump["args"])


def test_scope_statistics_name_the_source_line(worker, tmp_path):
    handle = worker.register(chip("scopes", "manual_chain", "INOUT"))
    config = CallConfig()
    config.enable_scope_stats, config.output_prefix = True, str(tmp_path)
    worker.run(handle, args(ints()), config)
    head, *rows = [
        json.loads(line)
        for line in (tmp_path / "scope_stats/scope_stats.jsonl").read_text().splitlines()
    ]
    assert head["version"] == 6 and head["total"] == len(rows) == 2
    assert [r["phase"] for r in rows] == ["begin", "end"] and "scopes.cpp:" in rows[0]["site"]
    assert rows[1]["task_window_end"] - rows[0]["task_window_end"] == 10


def test_an_unwritable_folder_is_an_error(worker):
    handle = worker.register(chip("data", "logging", "INOUT"))
    config = CallConfig()
    config.enable_dep_gen, config.output_prefix = True, "/proc/nowhere"
    with pytest.raises(RunError, match="cannot be written to '/proc/nowhere'"):
        worker.run(handle, args(ints()), config)
