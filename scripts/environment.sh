# Sourced by the scripts beside it: a virtual environment that holds exactly what the lock says.
#
#   PYTHON            interpreter to build the environment with (default: python3, else python)
#   DPSPECTRA_VENV    where the environment is (default: .venv in the project)
# shellcheck shell=bash

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
venv=${DPSPECTRA_VENV:-$root/.venv}

say() { printf '\n== %s\n' "$*"; }

# Prints the interpreter to use; stops with a clear message if it is missing or too old.
find_python() {
  local python=${PYTHON:-}
  if [[ -z $python ]]; then
    python=$(command -v python3 || command -v python || true)
  fi
  if [[ -z $python ]] || ! "$python" -c '' 2>/dev/null; then
    echo "dpspectra needs Python 3.11 or newer; none was found. Name one with PYTHON=/path/to/python." >&2
    return 1
  fi
  if ! "$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))'; then
    echo "dpspectra needs Python 3.11 or newer; $python is $("$python" -V 2>&1)." >&2
    echo "Name another one with PYTHON=/path/to/python." >&2
    return 1
  fi
  echo "$python"
}

# The interpreter inside an environment: the folder has another name on Windows.
python_of() {
  if [[ -x $1/bin/python ]]; then echo "$1/bin/python"; else echo "$1/Scripts/python.exe"; fi
}

make_venv() { # make_venv FOLDER
  local python
  python=$(find_python)
  "$python" -m venv "$1" || {
    echo "could not make a virtual environment (on Debian: apt-get install python3-venv)" >&2
    return 1
  }
}

# Refuses to install anywhere but in an environment, whatever the user's settings say.
install() { # install VENV ARGUMENT...
  local python
  python=$(python_of "$1")
  PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_REQUIRE_VIRTUALENV=1 "$python" -m pip install --quiet --quiet "${@:2}"
}

# Makes $venv hold the locked packages of requirements/NAME.txt and the project itself (editable).
# A stamp with the lock's hash makes the second call cost nothing; `test` holds all that `run` holds.
use_environment() { # use_environment run|test
  local name=$1 python stamp wanted
  stamp=$venv/.dpspectra-$name
  [[ -f $(python_of "$venv") ]] || make_venv "$venv"
  python=$(python_of "$venv")
  wanted=$(cd "$root" && "$python" - "$name" <<'PY'
import hashlib, pathlib, sys
name = sys.argv[1]
digest = hashlib.sha256(f"{sys.version_info[:2]} {pathlib.Path.cwd()}".encode())
for path in ("pyproject.toml", "requirements/build.txt", f"requirements/{name}.txt"):
    digest.update(pathlib.Path(path).read_bytes())
print(digest.hexdigest())
PY
  )
  if [[ -f $stamp && $(<"$stamp") == "$wanted" ]]; then
    return
  fi
  say "installing what requirements/$name.txt locks (the first time takes one to five minutes, as machine and network are busy)"
  install "$venv" --require-hashes -r "$root/requirements/build.txt" -r "$root/requirements/$name.txt"
  install "$venv" --no-deps --no-build-isolation --editable "$root"
  echo "$wanted" >"$stamp"
}
