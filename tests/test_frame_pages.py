"""Every mechanism has its page, its oracle test and a fresh stamp; and the check catches each fault."""

from pathlib import Path

import pytest

from dpspectra.testing.fingerprint import SOURCE, Page, fingerprint, main, problems

ROOT = Path(__file__).parents[1]
CODE = '''"""Module."""
LIMIT = 3

class Sum:
    """Adds rows."""

    def sample(self, x):
        """Old words."""
        return x + LIMIT  # why
'''
TEXT = """# sum

## Lemma L-sum

As in [Dwork06].

- `dpspectra.mechanisms.sum:Sum`
- `dpspectra.mechanisms.sum:LIMIT`

stamp: none
"""


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A small tree in order: one mechanism with page, stamp and test."""
    files = {
        "src/mechanisms/__init__.py": "",
        "src/mechanisms/base.py": "",
        "src/mechanisms/sum.py": CODE + "LEMMA = 'L-sum'\n",
        "docs/references.md": "- [Dwork06] a paper",
        "tests/test_sum.py": "",
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    pages = tmp_path / "docs" / "mechanisms"
    pages.mkdir()
    (pages / "sum.md").write_text(Page(pages / "sum.md", TEXT).stamped(tmp_path / "src"))
    return tmp_path


def check(tree: Path) -> list[str]:
    return problems(tree / "src", tree / "docs" / "mechanisms", tree / "tests")


def edit(path: Path, old: str, new: str) -> None:
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))


def test_every_mechanism_has_page_test_and_stamp() -> None:
    assert problems(SOURCE, ROOT / "docs" / "mechanisms", ROOT / "tests" / "mechanisms") == []


def test_a_tree_in_order_has_no_problem(tree: Path) -> None:
    assert check(tree) == []


def test_words_and_layout_do_not_make_a_stamp_stale(tree: Path) -> None:
    code = tree / "src" / "mechanisms" / "sum.py"
    edit(code, "# why", "# because")
    edit(code, "Old words.", "New words.")
    edit(code, "x + LIMIT", "(x +\n                LIMIT)")
    assert check(tree) == []


@pytest.mark.parametrize(
    ("fault", "message"),
    [
        (lambda t: (t / "docs/mechanisms/sum.md").unlink(), "no page"),
        (lambda t: (t / "tests/test_sum.py").unlink(), "no oracle test"),
        (lambda t: edit(t / "src/mechanisms/sum.py", "x + LIMIT", "x - LIMIT"), "code changed"),
        (lambda t: edit(t / "src/mechanisms/sum.py", "LIMIT = 3", "LIMIT = 4"), "code changed"),
        (lambda t: edit(t / "src/mechanisms/sum.py", "class Sum", "class Total"), "does not exist"),
        (lambda t: edit(t / "docs/mechanisms/sum.md", "stamp:", "Stamp:"), "no stamp"),
        (lambda t: edit(t / "docs/mechanisms/sum.md", "mechanisms.sum:", "core.facts:"), "own file"),
        (lambda t: edit(t / "docs/mechanisms/sum.md", "Dwork06", "Nobody06"), "references.md"),
        (lambda t: edit(t / "docs/mechanisms/sum.md", "L-sum", "L-other"), "no heading"),
    ],
)
def test_each_planted_fault_is_found(tree: Path, fault, message: str) -> None:
    fault(tree)
    found = check(tree)
    assert len(found) == 1
    assert message in found[0]


def test_a_fingerprint_names_what_is_missing() -> None:
    with pytest.raises(LookupError, match="no_such"):
        fingerprint(["dpspectra.core.facts:no_such"])
    with pytest.raises(LookupError, match="no_module"):
        fingerprint(["dpspectra.no_module:f"])


def test_the_command_finds_and_writes_a_stamp(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    page = tmp_path / "facts.md"
    page.write_text("- `dpspectra.core.facts:Facts`\n\nstamp: 0\n")
    assert main([str(tmp_path)]) == 1
    assert main([str(tmp_path), "--write"]) == 0
    assert Page.read(page).stamp == fingerprint(["dpspectra.core.facts:Facts"])
    assert main([str(tmp_path)]) == 0
    assert "stamped" in capsys.readouterr().out
