"""House rules that no linter knows, over the sources as they are; each check is fed a planted fault."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SOURCES = sorted((ROOT / "src").rglob("*.py"))
SEEDS_ALLOWED = ("testing/", "instances/", "postprocess/simulate.py")
UNFINISHED = re.compile(r"TODO|FIXME|XXX|NotImplementedError|pragma: no cover")


def imported(tree: ast.AST) -> Iterator[str]:
    """Dotted names that are imported, wherever in the file."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def faults(name: str, text: str) -> list[str]:
    """What breaks a rule in a source file of that name, relative to the package."""
    tree = ast.parse(text)
    found = [
        f"private name {imports}"
        for imports in imported(tree)
        if imports.startswith("sklearn.") and any(part.startswith("_") for part in imports.split("."))
    ]
    found += [
        f"{imports} outside noise/secure.py"
        for imports in imported(tree)
        if imports.partition(".")[0] == "opendp" and name != "noise/secure.py"
    ]
    if not name.startswith(SEEDS_ALLOWED):
        found += [
            f"argument {argument.arg}"
            for node in ast.walk(tree)
            if isinstance(node, ast.arguments)
            for argument in [*node.args, *node.kwonlyargs]
            if argument.arg in {"seed", "random_state", "rng"}
        ]
    found += [f"unfinished: {mark}" for mark in UNFINISHED.findall(text)]
    if (lines := len(text.splitlines())) > 400:
        found.append(f"{lines} lines")
    return found


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: str(path.relative_to(ROOT)))
def test_source_keeps_the_rules(path: Path) -> None:
    name = path.relative_to(ROOT / "src" / "dpspectra").as_posix()
    assert faults(name, path.read_text(encoding="utf-8")) == []


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("estimators/a.py", "from sklearn.decomposition._base import _BasePCA", "private name"),
        ("estimators/a.py", "from sklearn.base import _fit_context", "private name"),
        ("estimators/a.py", "def f():\n    import sklearn.utils._tags", "private name"),
        ("mechanisms/a.py", "import opendp.prelude as dp", "outside noise/secure.py"),
        ("mechanisms/a.py", "def f(x, *, random_state=None): ...", "argument random_state"),
        ("rows/a.py", "x = 1  # " + "TO" + "DO later", "unfinished"),
        ("rows/a.py", "x = 1\n" * 401, "401 lines"),
    ],
)
def test_each_planted_fault_is_found(name: str, text: str, message: str) -> None:
    (found,) = faults(name, text)
    assert message in found


def test_allowed_places_are_allowed() -> None:
    assert faults("noise/secure.py", "import opendp.prelude as dp") == []
    assert faults("testing/a.py", "def seeded_noise(seed): ...") == []
    assert faults("estimators/a.py", "from sklearn.base import BaseEstimator") == []
