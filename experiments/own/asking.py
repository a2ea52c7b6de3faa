"""Asking all questions: so many at once, each tried again where that may help, and every answer kept as it comes."""

from __future__ import annotations

import asyncio
import random
from asyncio import sleep
from collections.abc import Callable, Coroutine, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Protocol

from experiments.own.endpoint import LONGEST_WAIT, Attempt, EndpointAsker
from experiments.own.function import FunctionAsker
from experiments.own.kept_answers import KeptAnswers
from experiments.own.responses import Answer
from experiments.own.spec import Endpoint, Function, OwnRetriever

FIRST_WAIT = 0.5  # seconds before the second attempt; doubled before each further one
NEVER_ANSWERED = 10  # questions that all failed, before the others are not asked at all
Advance = Callable[[int], object]


class Asker(Protocol):
    """Anything that can be asked a question."""

    async def attempt(self, query: str) -> Attempt: ...  # noqa: D102
    async def close(self) -> None: ...  # noqa: D102


def ask_all(
    own: OwnRetriever, queries: Sequence[str], kept: KeptAnswers, *, root: Path, seed: int, advance: Advance
) -> list[Answer]:
    """Ask every question once, however often it stands in the list.

    Args:
        own: A retriever that is asked: a function or an endpoint.
        queries: The questions.
        kept: Answers received before; those are not asked for again, and new ones are added.
        root: The project's folder.
        seed: Of the jitter between attempts.
        advance: Told of each question that is done; what it raises ends the asking.

    Returns:
        One answer a question, failures included. Where the first ten questions all fail and nothing was ever answered,
        the rest is not asked.

    Raises:
        ValueError: If the function cannot be imported, or a header's environment variable is not set.
    """
    waiting = [query for query in dict.fromkeys(queries) if kept.get(query) is None]
    found: dict[str, Answer] = {}
    if waiting:
        found = _run(lambda: _ask(own, waiting, kept, root, seed, advance, len(waiting) < len(set(queries))))
    return [kept.get(query) or found[query] for query in queries]


def _run(ask: Callable[[], Coroutine[Any, Any, dict[str, Answer]]]) -> dict[str, Answer]:
    """Run it in a loop of its own, in a thread where this one has a loop already, as a notebook's has."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(ask())
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(lambda: asyncio.run(ask())).result()


async def _ask(
    own: OwnRetriever,
    queries: Sequence[str],
    kept: KeptAnswers,
    root: Path,
    seed: int,
    advance: Advance,
    was_answered: bool,
) -> dict[str, Answer]:
    asker = _asker(own, root)
    try:
        with kept.writing() as out:
            if isinstance(asker, FunctionAsker) and isinstance(own.source, Function) and own.source.batch:
                found = dict(zip(queries, await asker.all_at_once(queries), strict=True))
                for query, answer in found.items():
                    kept.add(out, query, answer)
                advance(len(queries))
                return found
            found = {}
            crew = _Crew(own, asker, seed)
            tasks = [asyncio.create_task(crew.ask(place, query)) for place, query in enumerate(queries)]
            try:
                for done in asyncio.as_completed(tasks):
                    query, answer = await done
                    found[query] = answer
                    kept.add(out, query, answer)
                    was_answered = was_answered or answer.status in ("ok", "empty")
                    advance(1)
                    if not was_answered and len(found) >= NEVER_ANSWERED:
                        reason = f"not asked: the first {len(found)} questions all failed, at last with {answer.reason}"
                        return {query: found.get(query, Answer("not asked", reason=reason)) for query in queries}
            finally:
                for task in tasks:
                    task.cancel()
                await asyncio.gather(*tasks, return_exceptions=True)
            return found
    finally:
        await asker.close()


def _asker(own: OwnRetriever, root: Path) -> EndpointAsker | FunctionAsker:
    if isinstance(own.source, Endpoint):
        return EndpointAsker(own, own.source)
    if isinstance(own.source, Function):
        return FunctionAsker(own, own.source, root)
    raise ValueError(f"{own.name} is a file of results, which nobody can ask")


class _Crew:
    """As many requests at once as may be; a question that waits for its next attempt holds no place."""

    def __init__(self, own: OwnRetriever, asker: Asker, seed: int) -> None:
        self._own, self._asker, self._seed = own, asker, seed
        self._places = asyncio.Semaphore(own.concurrency)

    async def ask(self, place: int, query: str) -> tuple[str, Answer]:
        jitter = random.Random(f"{self._seed} {place}")  # noqa: S311 - spreads requests, keeps no secret
        for attempt in range(self._own.retries + 1):
            async with self._places:
                tried = await self._asker.attempt(query)
            if not tried.again:
                return query, tried.answer
            if attempt < self._own.retries:
                backoff = FIRST_WAIT * 2**attempt * jitter.uniform(0.5, 1.5)
                if tried.wait is not None and tried.wait > LONGEST_WAIT:
                    reason = f"{tried.answer.reason}; it asks to wait {tried.wait:.0f} s, longer than is waited"
                    return query, tried.answer._replace(reason=reason)
                await sleep(max(backoff, tried.wait or 0.0))
        after = f" ({self._own.retries + 1} attempts)" if self._own.retries else ""
        return query, tried.answer._replace(reason=f"{tried.answer.reason}{after}")
