"""Cells that are not plain numbers."""

import math

import numpy as np

from dpspectra.rows import special


def test_odd_numbers_in_object_cells_are_missing_without_a_warning() -> None:
    for cell in (1 + 2j, np.complex64(1), np.complex128(1), np.array([1.0]), np.array(1.0)):
        assert math.isnan(special.number(cell))


def test_numbers_beyond_the_doubles_are_infinite() -> None:
    assert special.number(10**400) == math.inf
    assert special.number(-(10**400)) == -math.inf
