"""The artifact store: whole or absent, never changed, with several writers and with writers that die."""

from __future__ import annotations

import dataclasses
import json
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from pypto.ir.artifact_key import ArtifactKey, ToolchainIdentity
from pypto.ir.artifact_metadata import ArtifactExecutionMode, ExecutionCapabilities
from pypto.runtime import artifact_store
from pypto.runtime.artifact_store import (
    MANIFEST,
    ArtifactSpec,
    ArtifactStage,
    ArtifactStore,
    Lookup,
    Outcome,
)

TOOLS = ToolchainIdentity("a", "b", "c", "d", "e")
KEY = ArtifactKey(TOOLS, "source", "special")
SPEC = ArtifactSpec(
    ArtifactStage.GENERATED,
    ("a.txt", "sub/b.txt"),
    ExecutionCapabilities([ArtifactExecutionMode.KERNEL]),
)


def build(folder: Path) -> None:
    (folder / "sub").mkdir()
    (folder / "a.txt").write_text("one")
    (folder / "sub" / "b.txt").write_text("two")
    tool = folder / "tool"
    tool.write_text("#!/bin/sh\n")
    tool.chmod(0o755)


def never(folder: Path) -> None:
    pytest.fail("built again")


@pytest.fixture
def store(tmp_path) -> ArtifactStore:
    return ArtifactStore(tmp_path / "store")


def test_built_once_then_found(store):
    assert store.lookup(KEY, SPEC) == (Lookup.MISS, "")
    made = store.get_or_build(KEY, SPEC, build)
    assert made.outcome is Outcome.PUBLISHED and made.path == store.slot(KEY, SPEC)
    found = store.get_or_build(KEY, SPEC, never)
    assert found.outcome is Outcome.HIT and found.path == made.path
    assert (found.path / "sub" / "b.txt").read_text() == "two"


def test_where_an_artifact_lies(store):
    store.get_or_build(KEY, SPEC, build)
    slot = store.root / "artifacts" / TOOLS.digest / KEY.digest / SPEC.digest / "generated"
    assert sorted(os.listdir(slot)) == ["a.txt", MANIFEST, "sub", "tool"]
    assert os.listdir(store.root / "locks") == [f"{KEY.digest}.lock"]
    assert os.stat(slot).st_mode & 0o777 == 0o700
    assert os.stat(slot / "a.txt").st_mode & 0o777 == 0o600
    assert os.stat(slot / "tool").st_mode & 0o777 == 0o700


def test_the_manifest_says_what_it_is(store):
    made = store.get_or_build(KEY, SPEC, build)
    text = (made.path / MANIFEST).read_text()
    record = json.loads(text)
    assert text == json.dumps(record, sort_keys=True, separators=(",", ":"))
    assert record["key"] == KEY.digest and record["state"] == "generated"
    assert record["build_kind"] == "single_chip" and record["capabilities"] == ["kernel"]
    assert record["components"]["toolchain"]["ptoas"] == "d"
    assert [(f["path"], f["size"], f["execute"]) for f in record["files"]] == [
        ("a.txt", 3, False),
        ("sub/b.txt", 3, False),
        ("tool", 10, True),
    ]


def damage_content(path):
    (path / "a.txt").write_text("onE")


def damage_length(path):
    (path / "a.txt").write_text("ones")


def damage_missing(path):
    (path / "sub" / "b.txt").unlink()


def damage_more(path):
    (path / "more").write_text("")


def damage_link(path):
    (path / "a.txt").unlink()
    (path / "a.txt").symlink_to(path / "sub" / "b.txt")


def damage_fifo(path):
    os.mkfifo(path / "pipe")


def damage_mode(path):
    (path / "a.txt").chmod(0o700)


def damage_manifest(path):
    manifest = path / MANIFEST
    manifest.write_text(manifest.read_text().replace('"schema"', '"schema":3,"schema"', 1))


def damage_space(path):
    manifest = path / MANIFEST
    manifest.write_text(manifest.read_text() + "\n")


def damage_no_manifest(path):
    (path / MANIFEST).unlink()


def damage_not_a_folder(path):
    import shutil

    shutil.rmtree(path)
    path.write_text("")


@pytest.mark.parametrize(
    "damage", [value for name, value in sorted(globals().items()) if name.startswith("damage_")]
)
def test_a_damaged_artifact_is_left_alone_and_built_privately(store, damage):
    path = store.get_or_build(KEY, SPEC, build).path
    damage(path)
    found, reason = store.lookup(KEY, SPEC)
    assert found is Lookup.INVALID and str(path) in reason
    before = sorted(str(p) for p in store.root.rglob("*"))
    made = store.get_or_build(KEY, SPEC, build)
    assert made.outcome is Outcome.PRIVATE and made.reason == reason
    assert (made.path / "a.txt").read_text() == "one"
    assert sorted(str(p) for p in store.root.rglob("*")) == before
    private = made.path
    del made
    assert not private.exists()


def test_an_error_of_the_build_is_passed_on_and_leaves_nothing(store):
    def broken(folder):
        build(folder)
        raise RuntimeError("no")

    with pytest.raises(RuntimeError, match="no"):
        store.get_or_build(KEY, SPEC, broken)
    assert store.lookup(KEY, SPEC)[0] is Lookup.MISS
    assert store.get_or_build(KEY, SPEC, build).outcome is Outcome.PUBLISHED


def test_a_build_that_lacks_a_file_is_an_error(store):
    with pytest.raises(ValueError, match="the build made no a.txt"):
        store.get_or_build(KEY, SPEC, lambda folder: None)

    def with_manifest(folder):
        build(folder)
        (folder / MANIFEST).write_text("{}")

    with pytest.raises(ValueError, match="may not have a file"):
        store.get_or_build(KEY, SPEC, with_manifest)


def test_a_read_only_store_writes_nothing(store, tmp_path):
    reader = ArtifactStore(store.root, readonly=True)
    made = reader.get_or_build(KEY, SPEC, build)
    assert made.outcome is Outcome.PRIVATE and not store.root.exists()
    store.get_or_build(KEY, SPEC, build)
    assert reader.get_or_build(KEY, SPEC, never).outcome is Outcome.HIT


def test_a_store_that_cannot_be_written_is_no_error(tmp_path):
    blocked = tmp_path / "file"
    blocked.write_text("")
    made = ArtifactStore(blocked / "store").get_or_build(KEY, SPEC, build)
    assert made.outcome is Outcome.PRIVATE and made.reason


def test_a_full_disk_keeps_the_private_build(store, monkeypatch):
    def full(path, data, mode):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(artifact_store, "_write_synced", full)
    made = store.get_or_build(KEY, SPEC, build)
    assert made.outcome is Outcome.PRIVATE and "No space left" in made.reason
    assert (made.path / "a.txt").exists()
    assert not [p for p in store.root.rglob("*") if p.name.startswith(".tmp.")]


@pytest.mark.parametrize("by", ["renameat2", "rename"])
def test_publishing_never_replaces(store, tmp_path, monkeypatch, by):
    class Old:
        renameat2 = None

    if by == "rename":  # the system call does not exist
        monkeypatch.setattr(artifact_store.ctypes, "CDLL", lambda *a, **k: Old())
    first, second = tmp_path / "first", tmp_path / "second"
    for folder in (first, second):
        folder.mkdir()
        (folder / "x").write_text(folder.name)
    target = tmp_path / "target"
    artifact_store._rename_new(first, target)
    with pytest.raises(FileExistsError if by == "renameat2" else OSError):
        artifact_store._rename_new(second, target)
    assert (target / "x").read_text() == "first" and second.exists()


@pytest.mark.parametrize(
    "files",
    [(), ("b", "a"), ("a", "a"), ("/a",), ("../a",), ("a/../b",), ("a//b",), ("./a",), ("a\0",)],
)
def test_required_files_are_plain_sorted_names(files):
    with pytest.raises(ValueError):
        dataclasses.replace(SPEC, required_files=files)


def test_specs_do_not_share_a_slot(store):
    kernel = SPEC
    program = dataclasses.replace(
        SPEC, capabilities=ExecutionCapabilities([ArtifactExecutionMode.PROGRAM])
    )
    ready = dataclasses.replace(SPEC, stage=ArtifactStage.BINARY_READY)
    assert len({store.slot(KEY, spec) for spec in (kernel, program, ready)}) == 3


def test_threads_build_once(store):
    built = []

    def slow(folder):
        built.append(threading.get_ident())
        time.sleep(0.2)
        build(folder)

    made = []
    threads = [
        threading.Thread(target=lambda: made.append(store.get_or_build(KEY, SPEC, slow)))
        for _ in range(6)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(built) == 1
    assert sorted(m.outcome.value for m in made) == ["hit"] * 5 + ["published"]


# Several processes.

HEAD = f"""
import os, sys, time
from pathlib import Path
sys.path.insert(0, {str(Path(__file__).parent)!r})
from test_artifact_store import KEY, SPEC, build
from pypto.runtime import artifact_store
from pypto.runtime.artifact_store import ArtifactStore, Lookup
store = ArtifactStore(sys.argv[1])
"""


def start(text: str, *args: object) -> subprocess.Popen:
    return subprocess.Popen(
        [sys.executable, "-c", HEAD + text, *map(str, args)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def finish(process: subprocess.Popen) -> str:
    out, err = process.communicate(timeout=120)
    assert process.returncode == 0, err
    return out.strip()


def test_processes_build_once(store, tmp_path):
    text = """
def slow(folder):
    with open(sys.argv[2], "a") as file:
        file.write("built\\n")
    time.sleep(0.3)
    build(folder)
made = store.get_or_build(KEY, SPEC, slow)
print(made.outcome.value, (made.path / "a.txt").read_text())
"""
    log = tmp_path / "log"
    results = [finish(p) for p in [start(text, store.root, log) for _ in range(5)]]
    assert log.read_text() == "built\n"
    assert sorted(results) == ["hit one"] * 4 + ["published one"]


def test_readers_see_all_or_nothing_while_writers_publish(store):
    """Writers publish 40 artifacts; a reader looks at each slot all the time."""
    keys = "keys = [type(KEY)(KEY.environment, 'source', str(i)) for i in range(40)]\n"
    writer = keys + "for key in keys: store.get_or_build(key, SPEC, build)\nprint('done')\n"
    reader = (
        keys
        + """
seen = set()
while len(seen) < len(keys):
    for key in keys:
        found, reason = store.lookup(key, SPEC)
        assert found in (Lookup.MISS, Lookup.HIT), reason
        if found is Lookup.HIT:
            seen.add(key.digest)
print(len(seen))
"""
    )
    watching = start(reader, store.root)
    writers = [start(writer, store.root) for _ in range(2)]
    assert [finish(p) for p in writers] == ["done"] * 2
    assert finish(watching) == "40"


@pytest.mark.parametrize(
    "moment", ["build", "copy", "manifest", "rename", "renamed"], ids=lambda m: f"during-{m}"
)
def test_a_writer_that_is_killed_leaves_nothing_that_counts(store, moment):
    """Killed at each step: the next writer gets the lock, cleans up and publishes."""
    text = """
def stop(*args):
    print("here", flush=True)
    time.sleep(600)
def building(folder):
    build(folder)
    if sys.argv[2] == "build":
        stop()
write, rename, sync = (artifact_store._write_synced, artifact_store._rename_new,
                       artifact_store._sync_folder)
def writing(path, data, mode):
    if sys.argv[2] == "copy" and path.name == "b.txt":
        path.write_bytes(data[:1])
        stop()
    if sys.argv[2] == "manifest" and path.name == artifact_store.MANIFEST:
        path.write_bytes(data[:20])
        stop()
    write(path, data, mode)
def renaming(source, target):
    if sys.argv[2] == "rename":
        stop()
    rename(source, target)
    if sys.argv[2] == "renamed":
        stop()
artifact_store._write_synced, artifact_store._rename_new = writing, renaming
store.get_or_build(KEY, SPEC, building)
"""
    process = start(text, store.root, moment)
    assert process.stdout.readline().strip() == "here"
    # While it holds the lock another writer waits.
    waiting = start("print(store.get_or_build(KEY, SPEC, build).outcome.value)\n", store.root)
    time.sleep(0.1)
    found = store.lookup(KEY, SPEC)[0]
    assert found is (Lookup.HIT if moment == "renamed" else Lookup.MISS)
    os.kill(process.pid, signal.SIGKILL)
    process.communicate()
    assert finish(waiting) == ("hit" if moment == "renamed" else "published")
    assert store.lookup(KEY, SPEC)[0] is Lookup.HIT
    assert not [p for p in store.root.rglob("*") if p.name.startswith(".tmp.")]


def test_a_forked_child_does_not_keep_the_lock(store, tmp_path):
    """A child that is forked while its parent builds lives longer than the parent's lock."""
    text = """
def forking(folder):
    build(folder)
    child = os.fork()
    if child == 0:
        os.close(1)
        os.close(2)
        time.sleep(600)
        os._exit(0)
    print(child)
print(store.get_or_build(KEY, SPEC, forking).outcome.value, flush=True)
os._exit(0)
"""
    child, outcome = finish(start(text, store.root)).split()
    other = dataclasses.replace(SPEC, stage=ArtifactStage.BINARY_READY)
    assert outcome == "published"
    assert store.get_or_build(KEY, other, build).outcome is Outcome.PUBLISHED
    os.kill(int(child), signal.SIGKILL)  # it is still there


def test_the_root_that_nobody_names(monkeypatch, tmp_path):
    monkeypatch.setenv("PTO_CACHE_DIR", str(tmp_path / "c"))
    assert ArtifactStore().root == tmp_path / "c" / "artifacts"
