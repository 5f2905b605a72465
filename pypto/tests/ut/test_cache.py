"""Compiled programs on disk: whole entries or none, bounded, shared by processes."""

from __future__ import annotations

import os
import warnings
from concurrent.futures import ProcessPoolExecutor

import pytest

from pypto import cache

HEADER = {"name": "entry", "slots": [["tensor", "x"]], "warnings": []}


def key(number: int) -> str:
    return cache.key_of("test", str(number))


def entry_file(number: int = 0):
    return cache.folder() / (key(number) + ".pto")


def test_what_is_stored_comes_back():
    assert cache.load(key(0)) is None
    assert cache.store(key(0), HEADER, b"\x7fELF code")
    assert cache.load(key(0)) == (HEADER, b"\x7fELF code")
    assert [path.name for path in cache.folder().iterdir()] == [entry_file().name]


def test_keys_keep_the_borders_of_their_parts():
    assert cache.key_of("ab", "c") != cache.key_of("a", "bc")
    assert cache.key_of("ab") != cache.key_of("ab", "")


def test_entries_are_never_overwritten():
    cache.store(key(0), HEADER, b"first")
    assert cache.store(key(0), HEADER, b"second")
    assert cache.load(key(0))[1] == b"first"


@pytest.mark.parametrize("position", [0, 12, 80, -1])
def test_a_changed_byte_removes_the_entry(position):
    cache.store(key(0), HEADER, b"code" * 100)
    data = bytearray(entry_file().read_bytes())
    data[position] ^= 1
    entry_file().write_bytes(data)
    assert cache.load(key(0)) is None
    assert not entry_file().exists()
    assert cache.store(key(0), HEADER, b"again")
    assert cache.load(key(0)) == (HEADER, b"again")


@pytest.mark.parametrize("length", [0, 5, 74, 80, 200])
def test_a_cut_entry_is_removed(length):
    cache.store(key(0), HEADER, b"code" * 100)
    entry_file().write_bytes(entry_file().read_bytes()[:length])
    assert cache.load(key(0)) is None
    assert not entry_file().exists()


def test_least_recently_used_entries_go_first(monkeypatch):
    for number in range(4):
        cache.store(key(number), HEADER, b"x" * 1000)
        os.utime(entry_file(number), (number + 1, number + 1))
    cache.load(key(0))  # now the last used
    size = entry_file(0).stat().st_size
    monkeypatch.setenv("PTO_CACHE_SIZE", str(3 * size))
    cache.store(key(9), HEADER, b"x" * 1000)
    assert [n for n in (0, 1, 2, 3, 9) if entry_file(n).exists()] == [0, 3, 9]
    assert cache.size() == (3, 3 * size)


def test_an_entry_above_the_bound_is_not_kept(monkeypatch):
    cache.store(key(0), HEADER, b"small")
    monkeypatch.setenv("PTO_CACHE_SIZE", "1K")
    assert not cache.store(key(1), HEADER, b"x" * 2000)
    assert cache.load(key(0)) is not None


def test_what_dead_writers_left_is_removed():
    cache.store(key(0), HEADER, b"code")
    left = cache.folder() / ".tmp-left"
    left.write_bytes(b"half")
    os.utime(left, (1, 1))
    fresh = cache.folder() / ".tmp-fresh"
    fresh.write_bytes(b"being written")
    cache.store(key(1), HEADER, b"code")
    assert not left.exists()
    assert fresh.exists()


def test_turned_off(monkeypatch):
    cache.store(key(0), HEADER, b"code")
    monkeypatch.setenv("PTO_CACHE", "0")
    assert cache.load(key(0)) is None
    assert not cache.store(key(1), HEADER, b"code")


def test_a_folder_that_cannot_be_made_warns_once(tmp_path, monkeypatch):
    blocker = tmp_path / "file"
    blocker.write_text("not a folder")
    monkeypatch.setenv("PTO_CACHE_DIR", str(blocker / "below"))
    with pytest.warns(RuntimeWarning, match="compiled programs are not kept.*PTO_CACHE_DIR"):
        assert not cache.store(key(0), HEADER, b"code")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert not cache.store(key(1), HEADER, b"code")
        assert cache.load(key(0)) is None


def test_a_full_disk_leaves_no_entry(monkeypatch):
    def full(fd):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.warns(RuntimeWarning, match="No space left"):
        assert not cache.store(key(0), HEADER, b"code")
    assert list(cache.folder().iterdir()) == []


def _store_many(folder: str) -> int:
    os.environ["PTO_CACHE_DIR"] = folder
    return sum(cache.store(key(n % 10), HEADER, bytes([n % 10]) * 5000) for n in range(200))


def test_two_processes_share_the_folder(tmp_path):
    folder = os.environ["PTO_CACHE_DIR"]
    with ProcessPoolExecutor(2) as pool:
        assert list(pool.map(_store_many, [folder, folder])) == [200, 200]
    assert [cache.load(key(n)) for n in range(10)] == [
        (HEADER, bytes([n]) * 5000) for n in range(10)
    ]
    assert cache.size()[0] == 10
