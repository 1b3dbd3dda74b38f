"""Commands and Python that the documents show exist and run as shown."""

import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer

from dpspectra.cli import app

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
FENCE = re.compile(r"```(\w*)\n(.*?)```", re.DOTALL)


def shown(text: str) -> Iterator[list[str]]:
    """Every `dpspectra ...` of a page, in a fence or inline, as words without comments."""
    for _, block in FENCE.findall(text):
        for line in block.replace("\\\n", " ").splitlines():
            if line.startswith("dpspectra "):
                yield shlex.split(line, comments=True)
    yield from (shlex.split(code) for code in re.findall(r"`(dpspectra [^`]+)`", FENCE.sub("", text)))


def unknown(words: list[str]) -> list[str]:
    """Words of a command line that are neither a command nor an option of it."""
    command: Any = typer.main.get_command(app)
    rest = words[1:]
    while hasattr(command, "commands"):
        options = {name for parameter in command.params for name in parameter.opts} | {"--help"}
        while rest and rest[0] in options:
            rest = rest[1:]
        if not rest or rest[0].isupper() or rest[0].startswith("..."):
            return []
        names = rest[0].split("|")
        if wrong := [name for name in names if name not in command.commands]:
            return wrong
        command, rest = command.commands[names[0]], rest[1:]
    options = {name for p in command.params for name in [*p.opts, *p.secondary_opts]} | {"--help"}
    return [word for word in rest if word.startswith("--") and word not in options]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_commands_that_are_shown_exist(page: Path) -> None:
    for words in shown(page.read_text(encoding="utf-8")):
        assert unknown(words) == [], " ".join(words)


def test_an_unknown_command_or_option_is_found() -> None:
    assert unknown(["dpspectra", "pcx", "TABLE"]) == ["pcx"]
    assert unknown(["dpspectra", "pca", "TABLE", "--epsilom", "1"]) == ["--epsilom"]
    assert list(shown("`dpspectra pca`\n```\ndpspectra cov x \\\n  --y  # z\n```\n")) == [
        ["dpspectra", "cov", "x", "--y"],
        ["dpspectra", "pca"],
    ]


def test_every_command_is_documented() -> None:
    root: Any = typer.main.get_command(app)
    text = (ROOT / "docs" / "cli.md").read_text(encoding="utf-8")
    assert [name for name in root.commands if f"dpspectra {name}" not in text] == []


def test_every_exit_code_is_documented() -> None:
    from dpspectra.cli.guard import Code

    text = (ROOT / "docs" / "cli.md").read_text(encoding="utf-8")
    assert re.findall(r"^\| (\d+) \|", text, re.MULTILINE) == [str(code.value) for code in Code]


def test_readme_python_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    blocks = [
        code for language, code in FENCE.findall(PAGES[0].read_text(encoding="utf-8")) if language == "python"
    ]
    assert blocks
    for code in blocks:
        exec(compile(code, "README.md", "exec"), {})
