"""Noise sources for tests. None of them is private, and each says so."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

import numpy as np

from ..noise.base import SOURCE, FloatArray, IntArray, Noise, above, first_at_least
from ..noise.floats import rounded, smoothing

_EACH = ("gaussian", "laplace")
"""Laws with a scale an entry."""


class ExactNoise:
    """No noise at all: releases are the exact integers."""

    private = False
    silent = True
    entropy = "none (test: no noise)"

    def gaussian(self, values: IntArray, sigma: FloatArray) -> IntArray:
        return np.array(values, dtype=np.int64)

    def laplace(self, values: IntArray, scale: FloatArray) -> IntArray:
        return np.array(values, dtype=np.int64)

    def wishart(self, values: IntArray, side: int, scale: float) -> IntArray:
        return np.array(values, dtype=np.int64)

    def first(self, counts: IntArray, target: int, scales: tuple[float, float]) -> int:
        return first_at_least(counts, target)

    def largest(self, scores: IntArray, scale: float) -> int:
        return int(np.argmax(scores))

    def threshold(self, counts: IntArray, scale: float, least: int) -> IntArray:
        return np.array(counts, dtype=np.int64)

    def permutation(self, size: int) -> IntArray:
        return np.arange(size, dtype=np.int64)


class SeededNoise:
    """Reproducible rounded noise of about the right law, fast; a seed makes it worthless for privacy."""

    private = False
    silent = False
    entropy = "a fixed seed (test)"

    def __init__(self, seed: int) -> None:
        self._generator = np.random.default_rng(seed)

    def gaussian(self, values: IntArray, sigma: FloatArray) -> IntArray:
        noise = self._generator.normal(0.0, 1.0, np.shape(values)) * sigma
        return values + np.rint(noise).astype(np.int64)

    def laplace(self, values: IntArray, scale: FloatArray) -> IntArray:
        noise = self._generator.laplace(0.0, 1.0, np.shape(values)) * scale
        return values + np.rint(noise).astype(np.int64)

    def wishart(self, values: IntArray, side: int, scale: float) -> IntArray:
        first, second = self._generator.standard_normal((2, side, side + 1))
        smooth = np.full(np.shape(values), smoothing(side, scale))
        return self.laplace(values + rounded(first, second, scale), smooth)

    def first(self, counts: IntArray, target: int, scales: tuple[float, float]) -> int:
        bar, noise = self._geometric(scales[0], 1)[0], self._geometric(scales[1], len(counts))
        return first_at_least(counts + noise, target + int(bar))

    def largest(self, scores: IntArray, scale: float) -> int:
        return int(np.argmax(scores + self._generator.gumbel(0.0, scale, len(scores))))

    def threshold(self, counts: IntArray, scale: float, least: int) -> IntArray:
        return above(counts, self.laplace(counts, np.full(np.shape(counts), scale)), least)

    def permutation(self, size: int) -> IntArray:
        return self._generator.permutation(size)

    def _geometric(self, scale: float, size: int) -> IntArray:
        return self._generator.geometric(-np.expm1(-1.0 / scale), size) - 1


@dataclass
class Recorder:
    """Notes the exact input and the output of every noise call, in order; another source does the drawing.

    ``calls`` holds pairs (exact input, scales), ``laws`` the name of each call's method. The scales are one
    an entry for "gaussian" and "laplace", (two scales, target) for "first", (scale,) for "largest"
    and "wishart", (scale, least) for "threshold". ``orders`` holds the permutations, no noise calls.
    """

    inner: Noise
    calls: list[tuple[IntArray, FloatArray]] = field(default_factory=list)
    laws: list[str] = field(default_factory=list)
    outputs: list[IntArray] = field(default_factory=list)
    orders: list[IntArray] = field(default_factory=list)
    private: bool = False

    @property
    def silent(self) -> bool:
        return self.inner.silent

    @property
    def entropy(self) -> str:
        return self.inner.entropy + ", recorded (test)"

    def gaussian(self, values: IntArray, sigma: FloatArray) -> IntArray:
        self._note("gaussian", values, sigma)
        return self._noted(self.inner.gaussian(values, sigma))

    def laplace(self, values: IntArray, scale: FloatArray) -> IntArray:
        self._note("laplace", values, scale)
        return self._noted(self.inner.laplace(values, scale))

    def wishart(self, values: IntArray, side: int, scale: float) -> IntArray:
        self._note("wishart", values, np.array([scale]))
        return self._noted(self.inner.wishart(values, side, scale))

    def first(self, counts: IntArray, target: int, scales: tuple[float, float]) -> int:
        self._note("first", counts, np.array([*scales, target], dtype=np.float64))
        return self._chosen(self.inner.first(counts, target, scales))

    def largest(self, scores: IntArray, scale: float) -> int:
        self._note("largest", scores, np.array([scale]))
        return self._chosen(self.inner.largest(scores, scale))

    def threshold(self, counts: IntArray, scale: float, least: int) -> IntArray:
        self._note("threshold", counts, np.array([scale, least], dtype=np.float64))
        return self._noted(self.inner.threshold(counts, scale, least))

    def permutation(self, size: int) -> IntArray:
        order = self.inner.permutation(size)
        self.orders.append(order.copy())
        return order

    def replay(self) -> Replay:
        """A source that gives what was given here, and calls itself what the inner one does."""
        return Replay(self.outputs, self.orders, silent=self.inner.silent, entropy=self.inner.entropy)

    def _note(self, law: str, values: IntArray, scale: FloatArray) -> None:
        self.calls.append(
            (values.copy(), np.broadcast_to(scale, values.shape).copy() if law in _EACH else scale)
        )
        self.laws.append(law)

    def _chosen(self, place: int) -> int:
        self.outputs.append(np.array([place], dtype=np.int64))
        return place

    def _noted(self, output: IntArray) -> IntArray:
        self.outputs.append(output.copy())
        return output


class Replay(ExactNoise):
    """Answers with given outputs, in order, whatever the input: fixes what a mechanism has seen so far.

    Past the last given output it answers without noise, past the last permutation with the identity.
    """

    def __init__(
        self,
        outputs: Sequence[IntArray],
        orders: Sequence[IntArray] = (),
        *,
        silent: bool = False,
        entropy: str = "replayed outputs (test)",
    ) -> None:
        self._left, self._orders = list(outputs), list(orders)
        self.silent, self.entropy = silent, entropy

    def gaussian(self, values: IntArray, sigma: FloatArray) -> IntArray:
        return self._left.pop(0).copy() if self._left else super().gaussian(values, sigma)

    def laplace(self, values: IntArray, scale: FloatArray) -> IntArray:
        return self._left.pop(0).copy() if self._left else super().laplace(values, scale)

    def wishart(self, values: IntArray, side: int, scale: float) -> IntArray:
        return self._left.pop(0).copy() if self._left else super().wishart(values, side, scale)

    def first(self, counts: IntArray, target: int, scales: tuple[float, float]) -> int:
        return int(self._left.pop(0)[0]) if self._left else super().first(counts, target, scales)

    def largest(self, scores: IntArray, scale: float) -> int:
        return int(self._left.pop(0)[0]) if self._left else super().largest(scores, scale)

    def threshold(self, counts: IntArray, scale: float, least: int) -> IntArray:
        return self._left.pop(0).copy() if self._left else super().threshold(counts, scale, least)

    def permutation(self, size: int) -> IntArray:
        return self._orders.pop(0).copy() if self._orders else super().permutation(size)


class Relabelled(ExactNoise):
    """No noise, and permutations that follow the rows: for a table whose rows were put in another order.

    The row at place i of the first table is at place ``moved[i]`` of the second. Under ``Relabelled(seed)``
    and ``Relabelled(seed, moved)`` the same rows meet, wherever they stand.
    """

    def __init__(self, seed: int, moved: IntArray | None = None) -> None:
        self._source, self._moved = SeededNoise(seed), moved

    def permutation(self, size: int) -> IntArray:
        order = self._source.permutation(size)
        return self._moved[order] if self._moved is not None and self._moved.size == size else order


@contextmanager
def in_force(source: Noise) -> Iterator[Noise]:
    """Within this block ``source`` is the noise source of every release."""
    token = SOURCE.set(source)
    try:
        yield source
    finally:
        SOURCE.reset(token)


@contextmanager
def exact_noise() -> Iterator[Noise]:
    """Within this block releases carry no noise and say ``private: false``."""
    with in_force(ExactNoise()) as source:
        yield source


@contextmanager
def seeded_noise(seed: int) -> Iterator[Noise]:
    """Within this block releases carry reproducible noise and say ``private: false``."""
    with in_force(SeededNoise(seed)) as source:
        yield source


@contextmanager
def recording(inner: Noise | None = None) -> Iterator[Recorder]:
    """Within this block every noise call is recorded; ``inner`` (default: no noise) does the drawing."""
    recorder = Recorder(inner or ExactNoise())
    with in_force(recorder):
        yield recorder
