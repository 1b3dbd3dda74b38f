"""Two threads over one feed of work; no mathematics here."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import copy_context
from functools import cache
from threading import Lock
from typing import TypeVar

from threadpoolctl import ThreadpoolController

T = TypeVar("T")
U = TypeVar("U")

_BLAS = Lock()


class Feed(Iterator[U]):
    """An iterator that threads may share."""

    def __init__(self, items: Iterable[U]) -> None:
        self._items = iter(items)
        self._lock = Lock()

    def __next__(self) -> U:
        with self._lock:
            return next(self._items)


def share(work: Callable[[Iterator[U]], T], items: Iterable[U], *, worth: bool) -> list[T]:
    """What ``work`` makes of the items: on one thread, or on two of one BLAS thread each if ``worth`` it."""
    if not worth or (os.cpu_count() or 1) < 2:
        return [work(iter(items))]
    feed = Feed(items)
    with one_blas_thread(), ThreadPoolExecutor(2) as pool:
        # A thread starts with none of the caller's context: not with its silence about odd cells either.
        parts = [pool.submit(copy_context().run, work, feed) for _ in range(2)]
        return [part.result() for part in parts]


@cache
def _controller() -> ThreadpoolController:
    return ThreadpoolController()


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """The limit is one per process, so passes that need it take turns."""
    with _BLAS, _controller().limit(limits=1, user_api="blas"):
        yield
