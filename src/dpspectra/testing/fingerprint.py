"""Ties each mechanism's page to the code that its proof speaks of.

A page in ``docs/mechanisms`` ends with the objects of its proof and a stamp, a hash of their syntax trees
without docstrings and comments. A test compares the two, so a change of that code fails until somebody
has read the proof again and stamped the page: ``python -m dpspectra.testing.fingerprint --write``.
"""

from __future__ import annotations

import argparse
import ast
import hashlib
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import dpspectra

SOURCE = Path(dpspectra.__file__).parent
PAGES = Path("docs/mechanisms")
NOT_MECHANISMS = frozenset({"__init__", "base", "registry", "steps", "along", "allocation"})

_STAMP = re.compile(r"^stamp: (\w*)$", re.MULTILINE)
_OBJECT = re.compile(r"^- `(dpspectra[\w.]*:[\w.]+)`", re.MULTILINE)
_LEMMA = re.compile(r"[\"'](L-[a-z]+|DG)[\"']")
_KEY = re.compile(r"\[([A-Z][A-Za-z]+\d\d)\]")


def fingerprint(objects: Iterable[str], source: Path = SOURCE) -> str:
    """Hash of the syntax of the named objects.

    Parameters
    ----------
    objects : names as ``dpspectra.package.module:Class.method``
    source : folder of the package ``dpspectra``

    Returns
    -------
    16 hexadecimal digits; equal for sources that differ in comments, layout or docstrings only.

    Raises
    ------
    LookupError : a module or an object does not exist
    """
    digest = hashlib.sha256()
    for name in objects:
        digest.update(f"{name}\n".encode())
        for piece in _serial(_find(name, source)):
            digest.update(piece.encode())
    return digest.hexdigest()[:16]


@dataclass(frozen=True)
class Page:
    """What a mechanism's page says about the code."""

    path: Path
    text: str

    @classmethod
    def read(cls, path: Path) -> Page:
        return cls(path, path.read_text(encoding="utf-8"))

    @property
    def objects(self) -> list[str]:
        """Names of the objects that the proof speaks of."""
        return _OBJECT.findall(self.text)

    @property
    def stamp(self) -> str | None:
        """The stamp, or None if the page has none."""
        found = _STAMP.search(self.text)
        return found and found.group(1)

    @property
    def keys(self) -> set[str]:
        """Source keys such as [Balle18]."""
        return set(_KEY.findall(self.text))

    def stamped(self, source: Path = SOURCE) -> str:
        """The page's text with a fresh stamp."""
        return _STAMP.sub(f"stamp: {fingerprint(self.objects, source)}", self.text)


def problems(source: Path, pages: Path, tests: Path) -> list[str]:
    """What is missing or stale, one sentence each; empty if every mechanism has its page, test and stamp.

    Parameters
    ----------
    source : folder of the package ``dpspectra``
    pages : folder of the pages; sources are resolved in ``references.md`` of its parent
    tests : folder of the oracle tests
    """
    found: list[str] = []
    references = _keys_defined(pages.parent / "references.md")
    for code in sorted((source / "mechanisms").glob("*.py")):
        name = code.stem
        if name in NOT_MECHANISMS or name.startswith("_"):
            continue
        if not (tests / f"test_{name}.py").is_file():
            found.append(f"{name}: no oracle test test_{name}.py")
        if not (pages / f"{name}.md").is_file():
            found.append(f"{name}: no page {name}.md")
            continue
        page = Page.read(pages / f"{name}.md")
        found += _page_problems(page, f"dpspectra.mechanisms.{name}:", source)
        found += [f"{name}: source [{key}] is not in references.md" for key in sorted(page.keys - references)]
        lemmas = set(_LEMMA.findall(code.read_text(encoding="utf-8")))
        found += [
            f"{name}: lemma {lemma} has no heading on its page"
            for lemma in sorted(lemmas)
            if not re.search(rf"^#+ .*\b{lemma}\b", page.text, re.MULTILINE)
        ]
    return found


def _page_problems(page: Page, own: str, source: Path) -> list[str]:
    name = page.path.stem
    if not any(item.startswith(own) for item in page.objects):
        return [f"{name}: the page stamps no object of the mechanism's own file"]
    if page.stamp is None:
        return [f"{name}: the page has no stamp"]
    try:
        fresh = fingerprint(page.objects, source)
    except LookupError as error:
        return [f"{name}: {error.args[0]}"]
    if page.stamp != fresh:
        return [f"{name}: the code changed since the page was stamped; read its proof again, then stamp it"]
    return []


def _keys_defined(references: Path) -> set[str]:
    return set(_KEY.findall(references.read_text(encoding="utf-8"))) if references.is_file() else set()


def _find(name: str, source: Path) -> ast.AST:
    module, _, qualified = name.partition(":")
    path = source.joinpath(*module.split(".")[1:])
    file = path.with_suffix(".py") if path.with_suffix(".py").is_file() else path / "__init__.py"
    if not file.is_file():
        raise LookupError(f"the stamped object {name} does not exist")
    node: ast.AST = ast.parse(file.read_text(encoding="utf-8"))
    for part in qualified.split("."):
        inside = [child for child in getattr(node, "body", []) if _defines(child, part)]
        if not inside:
            raise LookupError(f"the stamped object {name} does not exist")
        node = inside[-1]
    return node


def _defines(node: ast.AST, name: str) -> bool:
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return node.name == name
    targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
    return any(isinstance(target, ast.Name) and target.id == name for target in targets)


def _serial(node: object) -> Iterator[str]:
    """The tree as text, without docstrings, positions and empty fields (those differ between Pythons)."""
    if isinstance(node, list):
        for item in node:
            yield from _serial(item)
    elif isinstance(node, ast.AST):
        yield f"({type(node).__name__}"
        for field, value in ast.iter_fields(node):
            kept = _without_docstring(node, value) if field == "body" else value
            if kept is None or kept == [] or field in {"type_comment", "kind"}:
                continue
            yield f" {field}="
            yield from _serial(kept)
        yield ")"
    else:
        yield repr(node)


def _without_docstring(node: ast.AST, body: object) -> object:
    documented = isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Module)
    if documented and ast.get_docstring(node) is not None:  # type: ignore[arg-type]
        assert isinstance(body, list)
        return body[1:]
    return body


def main(arguments: list[str] | None = None) -> int:
    """Check the pages of a source tree, or stamp them (``--write``); the exit code counts as for a test."""
    parser = argparse.ArgumentParser(prog="python -m dpspectra.testing.fingerprint", description=main.__doc__)
    parser.add_argument("pages", nargs="?", type=Path, default=PAGES, help="folder of the mechanisms' pages")
    parser.add_argument(
        "--write", action="store_true", help="stamp the pages after reading their proofs again"
    )
    options = parser.parse_args(arguments)
    stale = False
    for path in sorted(options.pages.glob("*.md")):
        page = Page.read(path)
        if page.stamp is None:
            continue
        fresh = page.stamped()
        if fresh == page.text:
            continue
        stale = True
        if options.write:
            path.write_text(fresh, encoding="utf-8")
        print(f"{path}: {'stamped' if options.write else 'stale'}")
    return int(stale and not options.write)


if __name__ == "__main__":
    raise SystemExit(main())
