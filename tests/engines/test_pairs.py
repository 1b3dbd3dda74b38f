"""Differences of pairs: those of the encoded rows, for every kind of cells; each from its own two."""

import numpy as np
import pandas as pd
import pytest

from dpspectra.core.schema import Column, Schema
from dpspectra.engines import open_table, pairs
from dpspectra.noise.secure import _PACKED, SecureNoise
from dpspectra.rows.encode import Encoder
from dpspectra.rows.free import SHORT
from dpspectra.rows.signs import Signs
from dpspectra.summaries.moments import Moments

GENERATOR = np.random.default_rng(7)
CELLS = np.round(GENERATOR.normal(size=(501, 3)), 3)
ORDER = GENERATOR.permutation(501)


def same(block: np.ndarray) -> np.ndarray:
    return block


def encoder(kind: str) -> Encoder:
    bounds = {"ball": None, "box": (-1, 1), "free": None, "half free": {"a": (-1, 1), "b": None, "c": None}}
    columns = ["a", "b", "c"] if kind == "half free" else 3
    schema = Schema.from_bounds(bounds[kind], columns)
    if kind in ("ball", "box"):
        return Encoder.build(schema, origin=(0.5, 0, 0), row_norm=2.0 if kind == "ball" else None)
    return Encoder.build(schema, origin=(0.5, 0, 0), open_ended=True)


KINDS = ("ball", "box", "free", "half free")
FORMS = {
    "C": lambda x: x,
    "F": np.asfortranarray,
    "single": lambda x: x.astype(np.float32),
    "every other": lambda x: np.repeat(x, 2, axis=0)[::2],
    "frame": lambda x: pd.DataFrame(x, columns=["a", "b", "c"]),
    "list": lambda x: x.tolist(),
}


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
@pytest.mark.parametrize("kind", KINDS)
def test_differences_are_those_of_encoded_rows(kind: str, form) -> None:
    made = form(CELLS)
    if kind != "half free" and hasattr(made, "columns"):
        made.columns = range(3)
    table = open_table(made, encoder(kind))
    rows, (left, right) = table.matrix(), (ORDER[0:500:2], ORDER[1:500:2])
    found = table.pairs(ORDER).values(same, 3)
    # Without bounds the centre is not subtracted before it cancels, which rounds differently.
    atol = 0 if table.facts.grid.bounded else 1e-15
    np.testing.assert_allclose(found, rows[left] - rows[right], rtol=0, atol=atol)


@pytest.mark.parametrize("kind", KINDS)
def test_odd_cells_change_their_own_pairs_alone(kind: str) -> None:
    """Bit for bit, and what they give is finite."""
    plain = open_table(CELLS, encoder(kind)).pairs(ORDER).values(same, 3)
    odd = [np.nan, np.inf, -np.inf, 1e308, -SHORT * 2, SHORT, 5e-324]
    cells = CELLS.copy()
    for i, value in enumerate(odd):
        cells[ORDER[2 * i], i % 3] = value
    table = open_table(cells, encoder(kind))
    found, rows = table.pairs(ORDER).values(same, 3), table.matrix()
    assert np.array_equal(found[len(odd) :], plain[len(odd) :])
    assert np.isfinite(found).all()
    for i in range(len(odd)):
        expected = rows[ORDER[2 * i]] - rows[ORDER[2 * i + 1]]
        np.testing.assert_allclose(found[i], expected, rtol=1e-15, atol=1e-15)


@pytest.mark.parametrize("kind", KINDS)
def test_blocks_and_threads_give_equal_sums(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    table, steps = open_table(CELLS, encoder(kind)), Signs(20)
    whole = table.pairs(ORDER).reduce(Moments(), steps)
    values = table.pairs(ORDER).values(steps, 3)
    monkeypatch.setattr(pairs, "PIECE", 50)
    monkeypatch.setattr(pairs, "SMALL", 0)
    parts = table.pairs(ORDER).reduce(Moments(), steps)
    assert whole.count == parts.count == 250
    assert np.array_equal(whole.gram, parts.gram)
    assert np.array_equal(whole.gram, values.T @ values)
    assert np.array_equal(table.pairs(ORDER).values(steps, 3), values)


def test_categories_and_indicators_are_encoded() -> None:
    schema = Schema(
        (
            Column("x", "number", bounds=(0, 1), missing="indicator"),
            Column("s", "category", categories=("u", "v")),
        )
    )
    frame = pd.DataFrame({"x": [0.0, np.nan, 1.0, 0.5], "s": ["u", "v", "w", None]})
    table = open_table(frame, Encoder.build(schema))
    rows = table.matrix()
    found = table.pairs(np.array([3, 0, 1, 2])).values(same, rows.shape[1])
    assert np.array_equal(found, rows[[3, 1]] - rows[[0, 2]])


@pytest.mark.parametrize("size", [0, 1, 2, 3, 1000, _PACKED, _PACKED + 1])
def test_permutations_hold_every_place_once(size: int) -> None:
    order = SecureNoise().permutation(size)
    assert order.dtype == np.int64
    assert np.array_equal(np.sort(order), np.arange(size))


def test_permutations_whose_keys_tie_are_drawn_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """Equal keys would leave rows in the order of the table; three draws, the first two with a tie."""
    high = [[5, 5, 9], [7, 1, 7], [3, 1, 2]]
    draws = [np.array(keys, dtype=np.uint64) * np.uint64(2**40) for keys in high]
    monkeypatch.setattr("dpspectra.noise.secure.os.urandom", lambda size: draws.pop(0).tobytes()[:size])
    assert SecureNoise().permutation(3).tolist() == [1, 2, 0]
    assert not draws
