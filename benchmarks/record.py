"""Runs the benchmarks, keeps their JSON lines, and writes docs/benchmarks.md from what is kept.

    python -m benchmarks.record                    # all; about an hour on two quiet cores
    python -m benchmarks.record --quick            # minutes; kept apart in build/, no document
    python -m benchmarks.record --only timing      # some of them
    python -m benchmarks.record --only             # none: write the document anew

Each benchmark is a process of its own. The first line of its file says what ran where and when: version,
commit, date, processor, cores, load, BLAS kernel.
"""

from __future__ import annotations

import argparse
import importlib.metadata
import json
import os
import platform
import subprocess
import sys
import tempfile
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from threadpoolctl import threadpool_info

from . import data
from .render import render
from .revisited_page import PICTURES, draw

ROOT = Path(__file__).parents[1]
KEPT = Path(__file__).with_name("results")
PAGE = ROOT / "docs" / "benchmarks.md"
NAMES = (
    "accuracy",
    "denoise",
    "covariance_revisited",
    "directions",
    "scree",
    "score_map",
    "subsamplable",
    "moments",
    "timing",
    "peers",
)
KERNEL_SETTINGS = ("OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE")
"""Left out of the benchmarks' environment: they pin old kernels that slow a current NumPy down."""


def command(name: str, settings: argparse.Namespace, folder: Path) -> tuple[list[str], Path | None]:
    """How to run a benchmark, and the file it writes its lines to (None: standard output)."""
    quick = ["--quick"] if settings.quick else []
    python = [sys.executable, "-m"]
    if name == "denoise":
        lines = folder / "denoise.jsonl"
        return [*python, "benchmarks.denoise", *quick, "--json", str(lines)], lines
    if name == "moments":
        small = ["--size", "2000x20", "--repeats", "1"] if settings.quick else []
        return [*python, "benchmarks.moments", "--json", *small], None
    module = "benchmarks.peers.measure" if name == "peers" else f"benchmarks.{name}"
    where = [] if name == "timing" else ["--data", str(settings.data.resolve())]
    return [*python, module, *quick, *where], None


def environment() -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if name not in KERNEL_SETTINGS}


def header(name: str, *, quick: bool) -> dict[str, Any]:
    """What ran, where, when."""
    return {
        "kind": "run",
        "benchmark": name,
        "version": importlib.metadata.version("dpspectra"),
        "commit": commit(),
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "cpu": processor(),
        "cores": os.cpu_count(),
        "load": round(os.getloadavg()[0], 2) if hasattr(os, "getloadavg") else None,
        "python": platform.python_version(),
        "numpy": importlib.metadata.version("numpy"),
        "scikit-learn": importlib.metadata.version("scikit-learn"),
        "blas": kernels(),
        "quick": quick,
    }


def commit() -> str:
    """The commit of the checkout, with a plus sign where sources differ from it."""

    def git(*arguments: str) -> str:
        done = subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=False)
        return done.stdout.strip()

    changed = git("status", "--porcelain", "--untracked-files=no", "--", "src", "benchmarks/*.py")
    return (git("rev-parse", "--short=12", "HEAD") or "unknown") + ("+" if changed else "")


def processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.machine()


def kernels() -> str:
    """The BLAS of NumPy and its kernel, in an environment as the benchmarks have it."""
    code = "import json, numpy, threadpoolctl; print(json.dumps(threadpoolctl.threadpool_info()))"
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment(), capture_output=True, text=True, check=False
    )
    found = json.loads(done.stdout) if done.returncode == 0 else threadpool_info()
    parts = [f"{one['internal_api']} {one['version']} {one.get('architecture', '')}".strip() for one in found]
    return ", ".join(sorted(set(parts)))


def collect(name: str, settings: argparse.Namespace) -> list[dict[str, Any]]:
    """Run one benchmark: its header and its records. Raises CalledProcessError if it fails."""
    with tempfile.TemporaryDirectory() as folder:
        records, (argv, lines) = [header(name, quick=settings.quick)], command(name, settings, Path(folder))
        done = subprocess.run(
            argv, cwd=ROOT, env=environment(), stdout=subprocess.PIPE, text=True, check=True
        )
        text = done.stdout if lines is None else lines.read_text(encoding="utf-8")
        return records + [_parse(line) for line in text.splitlines() if line.startswith("{")]


def _parse(line: str) -> dict[str, Any]:
    """One record; a number that JSON does not have (a target that is not set) becomes null."""
    record: dict[str, Any] = json.loads(line, parse_constant=lambda _: None)
    return record


def write(path: Path, records: list[dict[str, Any]]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(
        "".join(json.dumps(record, allow_nan=False) + "\n" for record in records), encoding="utf-8"
    )


def read(folder: Path) -> dict[str, list[dict[str, Any]]]:
    """All kept records by benchmark."""
    return {
        name: [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
        for name in NAMES
        if (path := folder / f"{name}.jsonl").exists()
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--data", type=Path, default=data.FOLDER, help="folder with MNIST and Adult")
    parser.add_argument("--only", nargs="*", choices=NAMES, default=NAMES)
    settings = parser.parse_args()
    folder = ROOT / "build" / "benchmarks" if settings.quick else KEPT
    for name in settings.only:
        print(f"== {name}", file=sys.stderr)
        write(folder / f"{name}.jsonl", collect(name, settings))
    kept = read(folder)
    page = render(kept)
    if settings.quick:
        (folder / "benchmarks.md").write_text(page, encoding="utf-8")
    else:
        PAGE.write_text(page, encoding="utf-8")
    if "covariance_revisited" in kept:
        draw(kept["covariance_revisited"], (folder if settings.quick else PAGE.parent) / PICTURES)


if __name__ == "__main__":
    main()
