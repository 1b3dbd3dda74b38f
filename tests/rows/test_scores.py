"""Scores: exact on integer rows, and of other rows a function of the row alone."""

import numpy as np

from dpspectra.rows.scores import Scores
from dpspectra.rows.squares import VECTOR_BITS

R = 2**20


def directions(d: int) -> np.ndarray:
    basis, _ = np.linalg.qr(np.random.default_rng(0).normal(size=(d, 2)))
    return np.trunc(np.ldexp(basis * (1 - 2.0**-40), VECTOR_BITS)).astype(np.int64)


def test_integer_rows_give_exact_products() -> None:
    generator = np.random.default_rng(1)
    rows = np.trunc(generator.normal(size=(50, 7)) * R / 8)
    centre, vectors = np.trunc(generator.normal(size=7) * R / 8), directions(7)
    kept = rows.copy()
    found = Scores(vectors, centre, integers=True)(rows)
    for row, scores in zip(rows.tolist(), found.tolist(), strict=True):
        for weights, score in zip(vectors.T.tolist(), scores, strict=True):
            exact = sum((int(x) - int(c)) * w for x, c, w in zip(row, centre.tolist(), weights, strict=True))
            assert score * 2**VECTOR_BITS == exact
    assert np.array_equal(rows, kept)


def test_other_rows_do_not_depend_on_their_neighbours() -> None:
    generator = np.random.default_rng(2)
    rows = generator.normal(size=(64, 9)) * 10.0 ** generator.integers(-100, 100, size=(64, 1))
    scores = Scores(directions(9), generator.normal(size=9), integers=False)
    whole = scores(rows)
    assert all(np.array_equal(scores(rows[i : i + 1])[0], whole[i]) for i in range(len(rows)))
    assert np.array_equal(scores(np.asfortranarray(rows)), whole)
    assert np.isfinite(scores(np.full((1, 9), 2.0**500))).all()
