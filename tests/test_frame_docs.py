"""What can be checked of the documents without reading them: links, commands, options, versions, size."""

import re
import tomllib
from importlib.metadata import version
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])
LINK = re.compile(r"\]\(([^)#\s]+)(?:#[^)]*)?\)")


def broken_links(page: Path) -> list[str]:
    return [
        link
        for link in LINK.findall(page.read_text(encoding="utf-8"))
        if "://" not in link and not (page.parent / link).exists()
    ]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_resolve(page: Path) -> None:
    assert broken_links(page) == []


def test_a_broken_link_is_found(tmp_path: Path) -> None:
    (tmp_path / "page.md").write_text("[a](page.md) [b](gone.md#x) [c](https://example.org)")
    assert broken_links(tmp_path / "page.md") == ["gone.md"]


def test_index_lists_every_page() -> None:
    index = (ROOT / "docs" / "index.md").read_text(encoding="utf-8")
    missing = [
        page.name
        for page in (ROOT / "docs").glob("*.md")
        if page.name != "index.md" and page.name not in index
    ]
    assert missing == []


def test_one_version_everywhere() -> None:
    declared = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"]
    assert version("dpspectra") == declared
    assert f"version: {declared}" in (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert f"## {declared}" in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")


def test_every_release_in_the_changelog_opens_with_privacy() -> None:
    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    releases = re.split(r"^## ", text, flags=re.MULTILINE)[1:]
    assert releases
    assert all(
        re.search(r"^### (.*)", release, re.MULTILINE)[1] == "Privacy-relevant" for release in releases
    )
