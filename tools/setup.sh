#!/usr/bin/env bash
# Prepares a machine for building and testing: system packages, a virtual environment in .venv with
# the packages of requirements-dev.txt, and import paths for the packages of this tree. Safe to run
# again: what is there already is left alone.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

packages=(
  libmlir-22-dev llvm-22-dev mlir-22-tools clang-22 lld-22 liblld-22-dev clang-format-22 libomp-22-dev
  ccache ninja-build cmake pkg-config libboost-context-dev libgtest-dev libbenchmark-dev libtbb-dev
  libzstd-dev zlib1g-dev python3-dev python3-venv spin libclang-rt-22-dev
)

# A package of Debian's Python is not needed when the interpreter in use brings its own.
python=${PYTHON:-python3}
skip_python_package() {
  case $1 in
    python3-venv) "$python" -c 'import venv, ensurepip' 2>/dev/null ;;
    python3-dev) "$python" - <<'PY' 2>/dev/null
import pathlib, sys, sysconfig
sys.exit(not (pathlib.Path(sysconfig.get_paths()["include"]) / "Python.h").exists())
PY
      ;;
    cmake|ninja-build) return 0 ;; # requirements-dev.txt brings both
    *) return 1 ;;
  esac
}

installed() { dpkg-query -W -f='${db:Status-Status}' "$1" 2>/dev/null | grep -qx installed; }

missing=()
if command -v dpkg-query >/dev/null; then
  for package in "${packages[@]}"; do
    installed "$package" || skip_python_package "$package" || missing+=("$package")
  done
else
  # Not a Debian-like system: look for what the packages would bring.
  for tool in clang++-22 ld.lld-22 mlir-tblgen-22 ccache spin; do
    command -v "$tool" >/dev/null || missing+=("$tool")
  done
fi

if ((${#missing[@]})); then
  debian12=no
  [[ -r /etc/os-release ]] && grep -qx 'VERSION_ID="12"' /etc/os-release && grep -qx 'ID=debian' /etc/os-release && debian12=yes
  if [[ $debian12 == no || $(id -u) != 0 ]]; then
    echo "setup: these packages are missing (Debian names):" >&2
    printf '  %s\n' "${missing[@]}" >&2
    if [[ $debian12 == yes ]]; then
      echo "setup: as root: apt-get install --no-install-recommends ${missing[*]}" >&2
    else
      echo "setup: this is not Debian 12; install their equivalents and run setup again" >&2
    fi
    exit 1
  fi
  echo "setup: installing ${missing[*]}"
  export DEBIAN_FRONTEND=noninteractive
  apt-get install -y --no-install-recommends "${missing[@]}" ||
    { apt-get update && apt-get install -y --no-install-recommends "${missing[@]}"; }
fi

[[ -x .venv/bin/python ]] || "$python" -m venv .venv

# pip is asked only when the list or the interpreter changed since the last complete run.
stamp=.venv/.requirements
wanted=$({ cat requirements-dev.txt; .venv/bin/python -V; } | sha256sum | cut -d' ' -f1)
if [[ ! -f $stamp || $(<"$stamp") != "$wanted" ]]; then
  .venv/bin/python -m pip install -q -r requirements-dev.txt
  echo "$wanted" >"$stamp"
fi

site=$(.venv/bin/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))')
printf '%s\n' "$PWD/pypto/python" "$PWD/ptoas/python" "$PWD/simpler/python" "$PWD/torch-npu-sim/python" >"$site/pto-stack.pth"

# The console commands of the wheel, for the tree: one starter for each entry of [project.scripts].
.venv/bin/python - <<'PY'
import pathlib, sys, tomllib
scripts = tomllib.loads(pathlib.Path("pyproject.toml").read_text())["project"]["scripts"]
folder = pathlib.Path(sys.executable).parent
for name, target in scripts.items():
    module, function = target.split(":")
    text = f"#!{folder / 'python'}\nimport sys\n\nfrom {module} import {function}\n\nsys.exit({function}())\n"
    file = folder / name
    if not file.exists() or file.read_text() != text:
        file.write_text(text)
        file.chmod(0o755)
PY
echo "setup: ready; build with: cmake --preset release && ninja -C build/release"
