"""The ledger's cap, handle, texts, and what it refuses after an edit; cases C17, C19, C20, C21."""

import copy
import os
import pickle
import shutil
import sqlite3
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import BaseEstimator, clone

from dpspectra.accounting import chain, exact
from dpspectra.accounting.ledger import Ledger
from dpspectra.core.errors import BudgetExceeded, LedgerError, ParameterError
from dpspectra.core.privacy import Adjacency, Cost

HOW: dict[str, Any] = {
    "mechanism": "m",
    "version": "1",
    "adjacency": Adjacency.REPLACE_ONE,
    "parameters": {"share": Fraction(1, 3), "rows": 7},
}


def pure(epsilon: str | float, delta: str | float = 0) -> Cost:
    return Cost.approx(Fraction(epsilon), Fraction(delta))


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "ledger.db"


# ---------------------------------------------------------------------------------------------- the cap


def test_c19_shares_of_a_total_add_up_exactly() -> None:
    ledger = Ledger(None, epsilon=1, delta="1e-6")
    shares = [Fraction(1, 3), Fraction(1, 7), 1 - Fraction(1, 3) - Fraction(1, 7)]
    for share in shares:
        ledger.spend("t", pure(0).claiming(share, share / 10**6), **HOW)
    assert ledger.spent("t") == Cost(Fraction(1), Fraction("1e-6"))
    assert ledger.remaining("t") == Cost(Fraction(0), Fraction(0))


def test_c21_equality_is_allowed_once_and_then_nothing() -> None:
    ledger = Ledger(None, epsilon=0.1, delta=0)
    ledger.spend("t", pure("0.099"), **HOW)
    ledger.spend("t", pure("0.001"), **HOW)
    for cost in (pure(5e-324), pure("0.001")):
        with pytest.raises(BudgetExceeded):
            ledger.check("t", cost)
        with pytest.raises(BudgetExceeded):
            ledger.spend("t", cost, **HOW)
    assert len(ledger.entries("t")) == 2
    ledger.spend("other", pure("0.1"), **HOW)
    assert ledger.labels() == ("t", "other")


def test_check_writes_nothing() -> None:
    ledger = Ledger(None, epsilon=1, delta=0)
    ledger.check("t", pure(1))
    assert ledger.entries() == () and ledger.labels() == ()


def test_delta_is_capped_as_well() -> None:
    ledger = Ledger(None, epsilon=10, delta="1e-6")
    ledger.spend("t", pure(1, "1e-6"), **HOW)
    with pytest.raises(BudgetExceeded, match="delta = 1e-09"):
        ledger.spend("t", pure(1, "1e-9"), **HOW)
    ledger.spend("t", pure(1), **HOW)


def test_rho_cap_adds_rho_and_refuses_deltas_unless_capped() -> None:
    ledger = Ledger(None, rho=1)
    ledger.spend("t", Cost.zcdp(Fraction(1, 2)), **HOW)
    ledger.spend("t", Cost.gaussian(Fraction(1, 2)), **HOW)
    assert ledger.remaining("t") == Cost(rho=Fraction(1, 4))
    with pytest.raises(BudgetExceeded):
        ledger.check("t", Cost.zcdp(Fraction(1, 8), Fraction("1e-9")))
    with_delta = Ledger(None, rho=1, delta="1e-6")
    with_delta.spend("t", Cost.zcdp(Fraction(1, 8), Fraction("1e-6")), **HOW)
    with pytest.raises(BudgetExceeded):
        with_delta.check("t", Cost.zcdp(Fraction(1, 8), Fraction("1e-9")))


def test_mu_cap_adds_squares() -> None:
    ledger = Ledger(None, mu="0.5")
    ledger.spend("t", Cost.gaussian(Fraction("0.09")), **HOW)
    ledger.spend("t", Cost.gaussian(Fraction("0.16")), **HOW)
    with pytest.raises(BudgetExceeded):
        ledger.check("t", Cost.gaussian(Fraction(1, 10**300)))


@pytest.mark.parametrize(
    ("cap", "cost", "way_out"),
    [
        (
            {"epsilon": 1, "delta": 0},
            Cost.zcdp(Fraction(1, 9)),
            "states no epsilon and delta: give .*epsilon",
        ),
        ({"rho": 1}, Cost.approx(Fraction(1, 9), Fraction(0)), "states no rho: give .* as rho"),
        ({"mu": 1}, Cost.zcdp(Fraction(1, 9)), "states no mu squared: only Gaussian"),
    ],
)
def test_a_cost_in_other_units_is_refused_with_the_way_out(
    cap: dict[str, Any], cost: Cost, way_out: str
) -> None:
    ledger = Ledger(None, **cap)
    with pytest.raises(BudgetExceeded, match=way_out):
        ledger.spend("t", cost, **HOW)
    assert ledger.entries() == ()


def test_refusal_names_label_asked_remaining_and_way_out() -> None:
    ledger = Ledger(None, epsilon=1, delta=0)
    ledger.spend("patients", pure("0.75"), **HOW)
    with pytest.raises(BudgetExceeded) as caught:
        ledger.spend("patients", pure("0.5"), **HOW)
    for part in ("'patients'", "asks for epsilon = 0.5", "leaves epsilon = 0.25", "Ask for no more"):
        assert part in str(caught.value)


def test_without_a_cap_everything_adds_up() -> None:
    ledger = Ledger(None)
    ledger.spend("t", pure(100), **HOW)
    ledger.spend("t", Cost.zcdp(Fraction(1)), **HOW)
    assert ledger.remaining("t") is None
    assert ledger.spent("t") == Cost(rho_delta=Fraction(0))


@pytest.mark.parametrize("other", [{"adjacency": Adjacency.ADD_REMOVE}, {"unit": "person"}])
def test_a_label_has_one_kind_of_neighbours(other: dict[str, Any]) -> None:
    ledger = Ledger(None)
    ledger.spend("t", pure(1), **HOW)
    with pytest.raises(BudgetExceeded, match="different neighbours"):
        ledger.spend("t", pure(1), **HOW | other)
    with pytest.raises(BudgetExceeded, match="different neighbours"):
        ledger.check("t", pure(1), **other)
    ledger.spend("u", pure(1), **HOW | other)


@pytest.mark.parametrize("cost", [Cost(), pure(-1), Cost.zcdp(Fraction(1), Fraction(-1))])
def test_costs_that_are_none(cost: Cost) -> None:
    with pytest.raises(ParameterError, match="cost"):
        Ledger(None).spend("t", cost, **HOW)


@pytest.mark.parametrize("name", ["epsilon", "rho", "mu"])
@pytest.mark.parametrize("value", [0, -1, float("nan"), float("inf"), True, "many"])
def test_c17_caps_out_of_domain(name: str, value: Any) -> None:
    with pytest.raises(ParameterError, match=name):
        Ledger(None, **{name: value}, **({"delta": 0} if name == "epsilon" else {}))


@pytest.mark.parametrize(
    ("cap", "message"),
    [
        ({"epsilon": 1}, "delta is missing"),
        ({"delta": 0.1}, "epsilon is missing"),
        ({"epsilon": 1, "delta": 1}, "delta must be"),
        ({"epsilon": 1, "delta": float("nan")}, "delta must be"),
        ({"epsilon": 1, "delta": 0, "rho": 1}, "one cap"),
        ({"mu": 1, "delta": 0.1}, "epsilon is missing"),
    ],
)
def test_caps_that_make_no_sense(cap: dict[str, Any], message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        Ledger(None, **cap)


fractions = st.fractions(min_value=0, max_value=3, max_denominator=10**9)
costs = st.one_of(
    st.builds(Cost.approx, fractions, fractions),
    st.builds(Cost.zcdp, fractions, fractions),
    st.builds(Cost.gaussian, fractions),
)


@settings(max_examples=40, deadline=None)
@given(st.lists(st.tuples(st.sampled_from("abc"), costs), max_size=12))
def test_totals_are_the_sums(spends: list[tuple[str, Cost]]) -> None:
    ledger = Ledger(None)
    for label, cost in spends:
        ledger.spend(label, cost, **HOW)
    ledger.verify()
    for label in "abc":
        mine = [cost for name, cost in spends if name == label]
        assert [entry.cost for entry in ledger.entries(label)] == mine
        assert ledger.spent(label) == exact.total(mine)


@settings(max_examples=40, deadline=None)
@given(st.lists(fractions, max_size=12))
def test_a_cap_admits_exactly_what_fits(asked: list[Fraction]) -> None:
    ledger, left = Ledger(None, epsilon=2, delta=0), Fraction(2)
    for epsilon in asked:
        if epsilon <= left:
            ledger.spend("t", pure(0).claiming(epsilon, Fraction(0)), **HOW)
            left -= epsilon
        else:
            with pytest.raises(BudgetExceeded):
                ledger.spend("t", pure(0).claiming(epsilon, Fraction(0)), **HOW)
    assert ledger.remaining("t") == Cost(left, Fraction(0))


# ------------------------------------------------------------------------------------- file and handle


def test_entries_keep_everything(path: Path) -> None:
    digest = Ledger(path).spend("t", pure("0.25", "1e-7"), **HOW, unit="row")
    (entry,) = Ledger(path).entries()
    assert (entry.number, entry.label, entry.mechanism, entry.version) == (1, "t", "m", "1")
    assert (entry.adjacency, entry.unit, entry.hash) == (Adjacency.REPLACE_ONE, "row", digest)
    assert entry.cost == pure("0.25", "1e-7")
    assert entry.parameters == {"share": "1/3", "rows": 7}
    assert entry.time.endswith("+00:00") and len(entry.previous) == 64


@pytest.mark.parametrize("bad", [{"x": float("nan")}, {"x": object()}])
def test_parameters_are_plain_values(bad: dict[str, Any]) -> None:
    with pytest.raises(ParameterError, match="JSON"):
        Ledger(None).spend("t", pure(1), **HOW | {"parameters": bad})


def test_cap_of_a_file_is_fixed(path: Path) -> None:
    made = Ledger(path, epsilon=1, delta="1e-6")
    assert Ledger(path) == made == Ledger(path, epsilon="1", delta=1e-6)
    assert Ledger(path).cap == made.cap
    for cap in ({"epsilon": 2, "delta": "1e-6"}, {"rho": 1}, {"mu": 1}):
        with pytest.raises(LedgerError, match="another cap"):
            Ledger(path, **cap)


def test_a_file_made_without_a_cap_takes_none_later(path: Path) -> None:
    Ledger(path)
    with pytest.raises(LedgerError, match="another cap"):
        Ledger(path, rho=1)


def test_a_handle_whose_file_was_replaced_refuses(path: Path, tmp_path: Path) -> None:
    handle = Ledger(path, rho=1)
    Ledger(tmp_path / "other.db", rho=1000)
    shutil.copy(tmp_path / "other.db", path)
    shutil.copy(tmp_path / "other.db.head", f"{path}.head")
    with pytest.raises(LedgerError, match="another cap"):
        handle.spend("t", Cost.zcdp(Fraction(1)), **HOW)


def test_create_never_overwrites(path: Path) -> None:
    made = Ledger.create(path, rho=1)
    assert made == Ledger(path)
    with pytest.raises(LedgerError, match="exists already"):
        Ledger.create(path, rho=1)
    path.unlink()
    with pytest.raises(LedgerError, match="exists already"):
        Ledger.create(path, rho=1)


class Estimator(BaseEstimator):
    def __init__(self, ledger: Ledger | None = None) -> None:
        self.ledger = ledger


def test_copies_spend_from_the_one_file(path: Path) -> None:
    ledger = Ledger(path, rho=5)
    copies = [
        copy.copy(ledger),
        copy.deepcopy(ledger),
        pickle.loads(pickle.dumps(ledger)),
        clone(Estimator(ledger)).ledger,
        Ledger(path),
    ]
    for place, each in enumerate(copies, start=1):
        assert each == ledger and hash(each) == hash(ledger)
        each.spend("t", Cost.zcdp(Fraction(1)), **HOW)
        assert ledger.spent("t").rho == place
    with pytest.raises(BudgetExceeded):
        copies[2].check("t", Cost.zcdp(Fraction(1, 10**9)))
    assert repr(ledger) == f"Ledger({str(path)!r}, rho='5')"
    assert ledger != Ledger(None, rho=5) and ledger != 5


def test_c20_fifteen_clones_under_a_cap_of_ten(path: Path) -> None:
    search = Estimator(Ledger(path, epsilon=1, delta=0))
    for _ in range(10):
        clone(search).ledger.spend("t", pure("0.1"), **HOW)
    for _ in range(5):
        with pytest.raises(BudgetExceeded):
            clone(search).ledger.spend("t", pure("0.1"), **HOW)
    assert search.ledger is not None and search.ledger.spent("t").epsilon == 1


def test_memory_is_shared_by_copies_and_never_pickled() -> None:
    ledger = Ledger(None, rho=1)
    clone(Estimator(ledger)).ledger.spend("t", Cost.zcdp(Fraction(1)), **HOW)
    assert ledger.spent("t").rho == 1
    assert ledger != Ledger(None, rho=1)
    with pytest.raises(LedgerError, match="give it a path"):
        pickle.dumps(ledger)


def test_memory_is_not_shared_with_a_fork(monkeypatch: pytest.MonkeyPatch) -> None:
    ledger = Ledger(None)
    monkeypatch.setattr(os, "getpid", lambda: -1)
    with pytest.raises(LedgerError, match="another process"):
        ledger.spend("t", pure(1), **HOW)


def test_unpickling_makes_no_file(path: Path) -> None:
    text = pickle.dumps(Ledger(path))
    for file in path.parent.iterdir():
        file.unlink()
    handle = pickle.loads(text)
    with pytest.raises(LedgerError, match="does not exist"):
        handle.spend("t", pure(1), **HOW)
    assert not path.exists()


def test_relative_paths_survive_a_change_of_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    ledger = Ledger("a b#?.db")
    (tmp_path / "sub").mkdir()
    monkeypatch.chdir(tmp_path / "sub")
    ledger.spend("t", pure(1), **HOW)
    assert Ledger(tmp_path / "a b#?.db").labels() == ("t",)


# ----------------------------------------------------------------------------------- not a good ledger


def test_paths_that_cannot_be_ledgers(tmp_path: Path) -> None:
    text, database = tmp_path / "notes.txt", tmp_path / "other.db"
    text.write_text("only a text that is no database")
    with sqlite3.connect(database) as connection:
        connection.execute("CREATE TABLE mine (x)")
    connection.close()
    for path, message in [
        (tmp_path, "is a folder"),
        (tmp_path / "none" / "ledger.db", "folder .* does not exist"),
        (text, "not an SQLite file"),
        (database, "database of another program"),
    ]:
        with pytest.raises(LedgerError, match=message):
            Ledger(path)
    assert {file.name for file in tmp_path.iterdir()} == {"notes.txt", "other.db"}
    assert database.read_bytes()[18] == 1, "the other program's journal mode was changed"
    with pytest.raises(LedgerError, match="cannot be made"):
        Ledger.create(tmp_path / "none" / "ledger.db")


def test_unwritable_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*args: object, **kwargs: object) -> None:
        raise sqlite3.OperationalError("unable to open database file")

    monkeypatch.setattr(sqlite3, "connect", refuse)
    with pytest.raises(LedgerError, match="permissions"):
        Ledger(tmp_path / "ledger.db")


def test_a_locked_file_is_said_to_be_in_use(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ledger = Ledger(path)
    monkeypatch.setattr(chain, "BUSY_SECONDS", 0.05)
    other = sqlite3.connect(f"{path}.head", isolation_level=None)
    other.execute("BEGIN EXCLUSIVE")
    with pytest.raises(LedgerError, match="in use"):
        ledger.spend("t", pure(1), **HOW)
    other.close()
    ledger.spend("t", pure(1), **HOW)


def edit(path: Path | str, *statements: str) -> None:
    connection = sqlite3.connect(path)
    for trigger in ("no_update", "no_delete"):
        connection.execute(f"DROP TRIGGER IF EXISTS {trigger}")
    for statement in statements:
        connection.execute(statement)
    connection.commit()
    connection.close()


def rewrite_chain(path: Path) -> None:
    """Lower the second cost and make every later hash anew."""
    connection = sqlite3.connect(path)
    connection.execute("DROP TRIGGER no_update")
    rows = connection.execute("SELECT number, record, previous FROM entries ORDER BY number").fetchall()
    previous = rows[0][2]
    for number, record, _ in rows:
        text = record.replace("1/4", "1/8") if number == 2 else record
        digest = chain._digest(previous, text)
        values = (text, previous, digest, number)
        connection.execute("UPDATE entries SET record = ?, previous = ?, hash = ? WHERE number = ?", values)
        previous = digest
    connection.commit()
    connection.close()


def cut_bytes(path: Path) -> None:
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) // 2])


def foreign_head(path: Path) -> None:
    other = path.with_name("other.db")
    ledger = Ledger(other)
    for _ in range(4):
        ledger.spend("t", pure("0.25"), **HOW)
    shutil.copy(f"{other}.head", f"{path}.head")


FAULTS: dict[str, tuple[Callable[[Path], object], str]] = {
    "edited row": (
        lambda p: edit(p, "UPDATE entries SET record = replace(record, '1/4', '1/8') WHERE number = 2"),
        "entry 2 .* edited",
    ),
    "edited row, chain made anew": (rewrite_chain, "disagree"),
    "relabelled row": (
        lambda p: edit(p, "UPDATE entries SET record = replace(record, '\"t\"', '\"u\"') WHERE number = 1"),
        "entry 1 ",
    ),
    "deleted row": (lambda p: edit(p, "DELETE FROM entries WHERE number = 2"), "entry 2 "),
    "deleted last row": (lambda p: edit(p, "DELETE FROM entries WHERE number = 4"), "entry 4 .* missing"),
    "deleted all rows": (lambda p: edit(p, "DELETE FROM entries"), "entry 1 .* missing"),
    "edited cap": (lambda p: edit(p, "UPDATE rules SET text = replace(text, 'null', '9')"), "entry 1 "),
    "removed rules": (lambda p: edit(p, "DELETE FROM rules"), "not a ledger of this version"),
    "cut file": (cut_bytes, "not a ledger or is damaged"),
    "emptied file": (lambda p: p.write_bytes(b""), "not a ledger, or its entries were cut off"),
    "removed head": (lambda p: Path(f"{p}.head").unlink(), "head file .* was removed"),
    "head of another ledger": (foreign_head, "disagree"),
    "head two entries behind": (
        lambda p: edit(
            f"{p}.head",
            "DELETE FROM head",
            f"INSERT INTO head VALUES (2, '{Ledger(p).entries()[1].hash}')",
        ),
        "disagree",
    ),
    "head with a wrong hash": (lambda p: edit(f"{p}.head", "UPDATE head SET hash = 'x'"), "disagree"),
    "removed file": (lambda p: p.unlink(), "does not exist"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_an_edited_or_cut_ledger_refuses_everything(path: Path, fault: str) -> None:
    ledger = Ledger(path)
    for _ in range(4):
        ledger.spend("t", pure("0.25"), **HOW)
    break_it, message = FAULTS[fault]
    break_it(path)
    for use in (
        ledger.verify,
        lambda: ledger.spend("t", pure(1), **HOW),
        lambda: ledger.check("t", pure(1)),
        lambda: ledger.spent("t"),
    ):
        with pytest.raises(LedgerError, match=message):
            use()
    with pytest.raises(LedgerError):
        Ledger(path)


def test_rows_cannot_be_changed_by_accident(path: Path) -> None:
    Ledger(path).spend("t", pure(1), **HOW)
    connection = sqlite3.connect(path)
    for statement in ("UPDATE entries SET record = ''", "DELETE FROM entries"):
        with pytest.raises(sqlite3.IntegrityError, match="append-only"):
            connection.execute(statement)
    connection.close()


def test_a_head_one_entry_behind_is_repaired(path: Path) -> None:
    """What a crash between the two commits leaves; the next use writes the head and goes on."""
    ledger = Ledger(path)
    digests = [ledger.spend("t", pure(1), **HOW) for _ in range(3)]
    edit(f"{path}.head", "DELETE FROM head", f"INSERT INTO head VALUES (2, '{digests[1]}')")
    ledger.verify()
    connection = sqlite3.connect(f"{path}.head")
    assert connection.execute("SELECT count, hash FROM head").fetchall() == [(3, digests[2])]
    connection.close()
    assert ledger.spent("t").epsilon == 3
