"""The dashboard's live questions: asked in threads of their own, so that no page waits for a model to load."""

from __future__ import annotations

import logging
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Literal, NamedTuple, cast

from flask import current_app
from sqlalchemy import Engine

from experiments.asking.answers import Answer
from experiments.asking.asker import Asker, DecisionMismatchError
from experiments.conditions import Combination
from experiments.indexing.stamps import refusal, stamps_of
from experiments.models import EncodedBatch, Encoder, ModelError, ModelStamp
from experiments.project import Project, find_encoder
from store import files
from store.stamped import StampMismatchError
from store.tables import DecisionRow, FileRow
from webapp import background
from webapp.dashboard import dashboard
from webapp.errors import PageError

EXTENSION = "bluffline-asking"
PATIENCE = 0.5  # seconds a page waits before it says that something is loading
KEPT = 64  # questions that are remembered
MOST_AT_ONCE = 32
FAULT_LASTS = 10.0  # seconds after which a question that failed is tried again when it is looked at


class TooManyError(PageError):
    """More questions at once than one process should work on."""

    status = 503
    title = "Too many questions at once"


@dataclass(frozen=True, slots=True)
class Way:
    """One way to ask.

    Attributes:
        combination: Strategy, retriever and model.
        threshold: The cut; None for no threshold.
        gate_model: The model whose distances the gate reads where the combination has none; None: the project's.
        decision_id: The decision by which it is asked; None where the reader chose the way.
        holds_on: Hash of another corpus on which the decision was found to hold; empty for none.
        decision: The decision itself.
    """

    combination: Combination
    threshold: float | None
    gate_model: str | None = None
    decision_id: int | None = None
    holds_on: str = ""
    decision: DecisionRow | None = field(default=None, compare=False)


class AskFault(NamedTuple):
    """Why one way gave no answer."""

    kind: Literal["index", "mismatch", "model", "other"]
    words: str


class Result(NamedTuple):
    """What came of a question: one answer or fault a way, and what was asked."""

    asker: Asker
    said: tuple[Answer | AskFault, ...]


class Job:
    """One question, asked in a thread. Whoever reads it sees it whole or not at all."""

    def __init__(self, embedded: int) -> None:
        """Remember when it began, and how many texts had been embedded by then."""
        self.since = time.monotonic()
        self.embedded_before = embedded
        self.result: Result | None = None
        self.fault = ""
        self.done = threading.Event()
        self._ended = 0.0

    def end(self) -> None:
        """Say that nothing more will change."""
        self._ended = time.monotonic()
        self.done.set()

    @property
    def stale(self) -> bool:
        """Whether it has ended and would end otherwise now."""
        if not self.done.is_set():
            return False
        failed = self.result is None or any(isinstance(one, AskFault) for one in self.result.said)
        if failed and time.monotonic() - self._ended > FAULT_LASTS:
            return True
        return self.result is not None and not self.result.asker.current


class Desk:
    """Takes questions, asks each of them once, and remembers the last answers. Safe for many threads."""

    def __init__(self, find: Callable[[Project, str], Encoder] = find_encoder, engine: Engine | None = None) -> None:
        """Open the desk; no model is looked for yet.

        Args:
            find: How a project's model is found by its name.
            engine: The store whose index is asked; None asks the documents folder whatever was indexed of it.
        """
        self.embedded = 0
        self._find = find
        self._engine = engine
        self._lock = threading.Lock()
        self._opening = threading.Lock()
        self._asker: Asker | None = None
        self._jobs: OrderedDict[tuple[Project, str, tuple[Way, ...]], Job] = OrderedDict()

    def ask(self, project: Project, question: str, ways: Sequence[Way], patience: float = PATIENCE) -> Job:
        """Ask, and wait a moment for the answers.

        Args:
            project: Whose documents.
            question: What is asked.
            ways: How; each gives one answer or fault.
            patience: Seconds to wait at most; the job goes on in any case.

        Raises:
            TooManyError: If too many questions are being worked on.
        """
        key = (project, question, tuple(ways))
        known = self._jobs.get(key)
        stale = known is not None and known.stale  # looks at files, so not while others wait
        with self._lock:
            job = self._jobs.get(key)
            if job is None or (stale and job is known):
                job = self._started(key)
            self._jobs.move_to_end(key)
        job.done.wait(patience)
        return job

    def _started(self, key: tuple[Project, str, tuple[Way, ...]]) -> Job:
        waiting = sum(not job.done.is_set() for job in self._jobs.values())
        if waiting >= MOST_AT_ONCE:
            raise TooManyError(f"{waiting} questions are being worked on.", "Try again in a moment.")
        job = self._jobs[key] = Job(self.embedded)
        ended = [old for old, one in self._jobs.items() if one.done.is_set()]
        for old in ended[: max(len(self._jobs) - KEPT, 0)]:
            del self._jobs[old]
        background.start("question", lambda: self._work(job, *key))
        return job

    def _work(self, job: Job, project: Project, question: str, ways: tuple[Way, ...]) -> None:
        try:
            index = files.files(self._engine) if self._engine else []
            asker = self._opened(project, index)
            why = refusal(index, stamps_of(project, partial(self._find, project))) if index else ""
            refused = AskFault("index", why)
            job.result = Result(asker, tuple(refused if why else _said(asker, question, way) for way in ways))
        except background.EndingError as error:
            job.fault = str(error)
        except (ValueError, OSError) as error:  # the documents cannot be read
            job.fault = f"{str(error).rstrip('.')}. `bluffline check` names every fault of documents and questions"
        except Exception as error:  # nobody waits for this thread, so it is said where the answer is awaited
            logging.getLogger(__name__).exception("a question could not be asked")
            job.fault = f"something went wrong that should not ({type(error).__name__}); the server's log says what"
        finally:
            job.end()

    def _opened(self, project: Project, index: Sequence[FileRow]) -> Asker:
        with self._opening:
            if self._asker is None or self._asker.project != project:
                self._asker = Asker.of(project, find=partial(self._watched, project), index=index)
            else:
                self._asker = self._asker.refreshed(index)
            self._forget_all_but(self._asker)
            return self._asker

    def _forget_all_but(self, asker: Asker) -> None:
        """Answers over documents as they were keep their indexes alive, and nobody will ask for them again."""
        with self._lock:
            for key, job in list(self._jobs.items()):
                if job.result is not None and job.result.asker is not asker:
                    del self._jobs[key]

    def _watched(self, project: Project, name: str) -> Encoder:
        return _Watched(self._find(project, name), self._count)

    def _count(self, texts: int) -> None:
        self.embedded += texts


class _Watched:
    """An encoder that says how many documents' texts it has embedded."""

    def __init__(self, encoder: Encoder, count: Callable[[int], None]) -> None:
        self.stamp: ModelStamp = encoder.stamp
        self._encoder, self._count = encoder, count

    def encode_documents(self, texts: Sequence[str]) -> EncodedBatch:
        background.check()
        encoded = self._encoder.encode_documents(texts)
        self._count(len(texts))
        return encoded

    def encode_queries(self, texts: Sequence[str]) -> EncodedBatch:
        return self._encoder.encode_queries(texts)


def _said(asker: Asker, question: str, way: Way) -> Answer | AskFault:
    try:
        if way.decision is not None:
            return asker.ask_decided(question, way.decision, {way.holds_on})
        return asker.ask(question, way.combination, way.threshold, gate_model=way.gate_model)
    except DecisionMismatchError as error:
        return AskFault("mismatch", str(error))
    except (ModelError, StampMismatchError) as error:
        return AskFault("model", str(error))
    except ValueError as error:
        return AskFault("other", str(error))


def desk() -> Desk:
    """The desk of the application that handles this request."""
    return cast("Desk", current_app.extensions.setdefault(EXTENSION, Desk(engine=dashboard().engine)))
