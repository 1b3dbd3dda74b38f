import numpy as np
import pytest


@pytest.fixture
def table() -> np.ndarray:
    """500 x 4 with two strong directions, inside [-1, 1]."""
    generator = np.random.default_rng(7)
    mixing = np.array([[0.3, 0.25, 0.0, 0.0], [0.0, 0.0, 0.2, -0.2]])
    rows = generator.normal(size=(500, 2)) @ mixing + 0.02 * generator.normal(size=(500, 4))
    return np.clip(rows, -1, 1)
