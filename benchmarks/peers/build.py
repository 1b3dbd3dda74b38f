"""Builds an environment for each other library, from NAME.txt beside this file.

    python -m benchmarks.peers.build

They go to build/peers (not under version control) and may be deleted at any time.
"""

from __future__ import annotations

import os
import subprocess
import sys
import venv
from pathlib import Path

LIBRARIES = ("diffprivlib", "opendp")
FOLDER = Path(__file__).parents[2] / "build" / "peers"


def python_of(library: str) -> Path:
    """The interpreter of a library's environment."""
    return FOLDER / library / ("Scripts/python.exe" if os.name == "nt" else "bin/python")


def build(library: str) -> str | None:
    """Make the environment if its requirements changed; what failed, or None."""
    wanted = Path(__file__).with_name(f"{library}.txt").read_text(encoding="utf-8")
    stamp = FOLDER / library / "requirements.txt"
    if stamp.exists() and stamp.read_text(encoding="utf-8") == wanted:
        return None
    print(f"building an environment for {library}", file=sys.stderr)
    venv.create(FOLDER / library, with_pip=True, clear=True)
    pip = [str(python_of(library)), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    listed = str(Path(__file__).with_name(f"{library}.txt"))
    done = subprocess.run([*pip, "-r", listed], capture_output=True, text=True, check=False)
    if done.returncode:
        return (done.stderr.strip().splitlines() or ["pip failed"])[-1]
    stamp.write_text(wanted, encoding="utf-8")
    return None


if __name__ == "__main__":
    for name in LIBRARIES:
        print(name, build(name) or "ready")
