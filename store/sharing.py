"""Reads that one piece of work asks for many times, answered once.

A report shows a hundred pages of one sweep, and each page reads the sweep. Within `shared_reads` the first answer
serves them all: nobody may change what a read has returned, and what is written meanwhile is not seen.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import wraps
from typing import Any, ParamSpec, TypeVar, cast

Arguments = ParamSpec("Arguments")
Answer = TypeVar("Answer")
Read = TypeVar("Read", bound=Callable[..., dict[Any, Any]])

Kept = dict[Hashable, Any]

_KEPT: ContextVar[Kept | None] = ContextVar("kept", default=None)


@contextmanager
def shared_reads(kept: Kept) -> Iterator[None]:
    """Answer reads from what was kept, and keep what is read, until the block ends.

    Args:
        kept: Empty at first; lives as long as the work that shares it.
    """
    token = _KEPT.set(kept)
    try:
        yield
    finally:
        _KEPT.reset(token)


def shared(read: Callable[Arguments, Answer]) -> Callable[Arguments, Answer]:
    """A read whose whole answer is kept by its arguments."""

    @wraps(read)
    def answered(*args: Arguments.args, **kwargs: Arguments.kwargs) -> Answer:
        kept = _KEPT.get()
        if kept is None:
            return read(*args, **kwargs)
        key = (read, *map(_frozen, args), *((name, _frozen(value)) for name, value in sorted(kwargs.items())))
        if key not in kept:
            kept[key] = read(*args, **kwargs)
        return cast("Answer", kept[key])

    return answered


def shared_by_key(read: Read) -> Read:
    """A read of many things by their keys, its last argument: of those that are kept none is read again."""

    @wraps(read)
    def answered(*args: Any) -> dict[Any, Any]:
        kept = _KEPT.get()
        if kept is None:
            return read(*args)
        *scope, wanted = args
        found: dict[Any, Any] = kept.setdefault((read, *scope), {})
        missing = sorted(set(wanted) - found.keys())
        if missing:
            new = read(*scope, missing)
            found.update({key: new.get(key) for key in missing})
        return {key: found[key] for key in sorted(set(wanted)) if found[key] is not None}

    return cast("Read", answered)


def _frozen(value: Any) -> Hashable:
    return tuple(value) if isinstance(value, list) else frozenset(value) if isinstance(value, set) else value
