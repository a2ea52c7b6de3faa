"""Asking a Python function of the project, in threads that may be left behind when a call hangs."""

from __future__ import annotations

import asyncio
import importlib
import sys
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from queue import SimpleQueue
from typing import Any

from experiments.own.endpoint import Attempt
from experiments.own.responses import Answer, Returned, answered, returned_from
from experiments.own.spec import Function, OwnRetriever

Work = tuple[Callable[[], Any], Callable[[Any, BaseException | None], None]]


def load(path: str, root: Path) -> Callable[..., Any]:
    """Import a function, from the project's folder first.

    Args:
        path: `package.module:function`.
        root: The project's folder.

    Raises:
        ValueError: If it cannot be imported or called; the message says why.
    """
    module_name, colon, name = path.partition(":")
    if not (colon and module_name and name):
        raise ValueError(f"{path!r} does not name a function: write package.module:function")
    folder = str(root)
    if folder not in sys.path:
        sys.path.insert(0, folder)
        importlib.invalidate_caches()
    try:
        found: Any = importlib.import_module(module_name)
        for part in name.split("."):
            found = getattr(found, part)
    except Exception as error:  # an import runs whatever stands in the module
        raise ValueError(f"{path} cannot be imported: {type(error).__name__}: {error}") from error
    except SystemExit as error:
        raise ValueError(f"{path} cannot be imported: the module ends the program") from error
    if not callable(found):
        raise ValueError(f"{path} is {type(found).__name__}, not a function")
    function: Callable[..., Any] = found
    return function


class FunctionAsker:
    """Calls a function in workers of its own, so that what it opened in one thread is used in that thread."""

    def __init__(self, own: OwnRetriever, function: Function, root: Path) -> None:
        """Import the function.

        Raises:
            ValueError: If it cannot be imported.
        """
        self._own, self._batch = own, function.batch
        self._call = load(function.path, root)
        self._idle: list[_Worker] = []

    async def close(self) -> None:
        """Let idle workers end."""
        for worker in self._idle:
            worker.end()
        self._idle.clear()

    async def attempt(self, query: str) -> Attempt:
        """Ask one question."""
        begin = time.perf_counter()
        value, answer = await self._within_deadline(lambda: self._call(query, self._own.k))
        return Attempt(answer or self._read(value, (time.perf_counter() - begin) * 1000))

    async def all_at_once(self, queries: Sequence[str]) -> list[Answer]:
        """Ask all questions in one call; what one of them took is then not known."""
        value, answer = await self._within_deadline(lambda: self._call(list(queries), self._own.k))
        if answer is not None:
            return [answer] * len(queries)
        if not isinstance(value, (list, tuple)) or len(value) != len(queries):
            got = f"{len(value)} lists" if isinstance(value, (list, tuple)) else type(value).__name__
            return [Answer("error", reason=f"it gave {got} for {len(queries)} questions")] * len(queries)
        return [self._read(one, None) for one in value]

    async def _within_deadline(self, work: Callable[[], Any]) -> tuple[Any, Answer | None]:
        worker = self._idle.pop() if self._idle else _Worker()
        try:
            async with asyncio.timeout(self._own.deadline):
                value = await worker.run(work)
        except TimeoutError:  # the thread cannot be ended: it is left behind, and ends with the process
            worker.end()
            return None, Answer("timeout", reason=f"no answer within {self._own.deadline:g} s")
        except _Raised as error:
            self._idle.append(worker)
            return None, Answer("error", reason=" ".join(str(error).split())[:500])
        self._idle.append(worker)
        return value, None

    def _read(self, value: Any, milliseconds: float | None) -> Answer:
        if not isinstance(value, (list, tuple)):
            return Answer("error", reason=f"it gave {type(value).__name__}, not a list of results")
        try:
            returned: list[Returned] = [returned_from(one, place) for place, one in enumerate(value, 1)]
        except Exception as error:  # a list or mapping of theirs may do anything while it is read
            return Answer("error", reason=str(error) if isinstance(error, ValueError) else _told(error))
        return answered(returned[: self._own.k], milliseconds)


def _told(error: BaseException) -> str:
    """What was raised, in words; an exception of theirs may fail to say anything."""
    try:
        return f"{type(error).__name__}: {error}"
    except Exception:  # whatever its own __str__ does
        return type(error).__name__


class _Raised(Exception):  # noqa: N818 - carries what the function raised, a TimeoutError of its own included
    """The function raised."""


class _Worker:
    """A thread that does one thing after another and never keeps the process alive."""

    def __init__(self) -> None:
        self._work: SimpleQueue[Work | None] = SimpleQueue()
        threading.Thread(target=self._loop, daemon=True).start()

    def _loop(self) -> None:
        while (one := self._work.get()) is not None:
            work, settle = one
            try:
                value = work()
            except BaseException as error:
                settle(None, error)
            else:
                settle(value, None)

    async def run(self, work: Callable[[], Any]) -> Any:
        loop = asyncio.get_running_loop()
        future: asyncio.Future[Any] = loop.create_future()

        def finish(value: Any, error: BaseException | None) -> None:
            if future.done():  # nobody waits any more
                return
            if error is None:
                future.set_result(value)
            else:
                future.set_exception(_Raised(_told(error)))

        def settle(value: Any, error: BaseException | None) -> None:
            if not loop.is_closed():
                loop.call_soon_threadsafe(finish, value, error)

        self._work.put((work, settle))
        return await future

    def end(self) -> None:
        self._work.put(None)
