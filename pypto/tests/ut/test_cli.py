"""The command `pto`."""

from __future__ import annotations

from pypto import cache, cli


def test_knobs_lists_every_variable(capsys, monkeypatch):
    from pypto import knobs

    monkeypatch.setenv("PTO_FUSE", "0")
    assert cli.main(["knobs"]) == 0
    lines = capsys.readouterr().out.splitlines()
    for knob in knobs.KNOBS:
        assert any(line.split()[0] == knob.env for line in lines if line.strip())
    assert next(line for line in lines if line.startswith("PTO_FUSE")).split() == [
        "PTO_FUSE",
        "*",
        "0",
    ]


def test_knobs_reports_wrong_values(capsys, monkeypatch):
    monkeypatch.setenv("PTO_FUSE", "perhaps")
    assert cli.main(["knobs"]) == 1
    assert "PTO_FUSE='perhaps': takes 1 or 0" in capsys.readouterr().out


def test_doctor_looks_at_cpu_and_cache(capsys):
    cli.main(["doctor"])
    text = capsys.readouterr().out
    assert "ok       pypto._core" in text
    assert "CPU avx2" in text
    assert "cache: " in text


def test_cache_is_shown_and_cleared(capsys):
    cache.store(cache.key_of("x"), {}, b"code")
    assert cli.main(["cache"]) == 0
    assert ": 1 programs" in capsys.readouterr().out
    assert cli.main(["cache", "clear"]) == 0
    assert ": 0 programs" in capsys.readouterr().out


def test_run_shows_errors_as_text(tmp_path, capsys):
    script = tmp_path / "script.py"
    script.write_text("import pypto.language as pl\npl.add(1, 2)\n")
    assert cli.main(["run", str(script)]) == 1
    assert capsys.readouterr().err.startswith("Error: pl.add belongs to kernels")


def test_without_a_command_the_help_is_shown(capsys):
    assert cli.main([]) == 2
    assert "doctor" in capsys.readouterr().out
