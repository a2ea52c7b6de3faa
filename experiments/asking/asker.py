"""A live question: retrieved, ranked and gated exactly as a sweep does it, and answered by chunks or refused."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import PurePosixPath
from typing import Any

from corpus.documents import WAITING, Document
from corpus.faults import Fault
from corpus.fingerprint import corpus_hash
from experiments.asking.answers import Answer, Passage, check_question, check_threshold
from experiments.asking.live_index import Asked, Found, LiveIndex, LockedEncoder, ask_model, build
from experiments.asking.live_seconds import LiveSeconds
from experiments.chunking import Chunk
from experiments.conditions import OWN, PRESETS, Combination, Strategy
from experiments.deciding.decision_fit import combination_of, differences
from experiments.embedding import open_cache
from experiments.gate import GATE_SIZE, kept
from experiments.late_interaction import TokenIndex
from experiments.lexical import BM25Settings, tokenise
from experiments.models import Encoder, ModelStamp
from experiments.project import Project, find_encoder
from experiments.second_models import SecondModel
from store.files import FAILED
from store.tables import DecisionRow, FileRow
from store.vectors import VectorCache

_FOREIGN = 0.5  # below this share of known words a question is hardly in the corpus's language
_KEPT_QUESTIONS = 64
_ANY_WORD = BM25Settings(tokeniser="unicode")


class DecisionMismatchError(Exception):
    """A decision was made about other vectors or another corpus than those at hand; both are named."""


class Asker:
    """Answers live questions over one state of a corpus; indexes are made on first use and kept.

    Safe for the threads of a web process: a model is used by one thread at a time, and an index is made once.
    """

    def __init__(
        self,
        project: Project,
        documents: Sequence[Document],
        faults: Sequence[Fault] = (),
        *,
        find: Callable[[str], Encoder] | None = None,
    ) -> None:
        """Prepare to answer; no model is looked for yet.

        Args:
            project: Where the vectors are, and the settings.
            documents: The corpus.
            faults: Documents that could not be read; the others are searched all the same.
            find: How a model is found by name; as the project says by default.

        Raises:
            ValueError: If there is no document.
        """
        if not documents:
            raise ValueError("there is no document to ask: " + "; ".join(fault.sentence for fault in faults))
        self.project = project
        self.documents = {document.id: document for document in documents}
        self.faults = tuple(faults)
        self.corpus_hash = corpus_hash(documents)
        self._find = find or partial(find_encoder, project)
        self._lock = threading.RLock()
        self._models: dict[str, tuple[LockedEncoder, VectorCache]] = {}
        self._indexes: dict[tuple[str, str], LiveIndex] = {}
        self._seconds = LiveSeconds(project)
        self._tokens: dict[tuple[str, str], TokenIndex | None] = {}
        self._asked: dict[tuple[str, str], Asked] = {}
        self._words: frozenset[str] | None = None
        self._state: tuple[Any, ...] = ()

    @classmethod
    def of(
        cls, project: Project, *, find: Callable[[str], Encoder] | None = None, index: Sequence[FileRow] = ()
    ) -> Asker:
        """Read the project's documents and prepare to answer.

        Args:
            project: Whose documents.
            find: How a model is found by name.
            index: The files as the indexer left them. Where there are any, extracting is left to the indexer, so that
                a question never waits for a slow document: it is asked of those that are extracted.

        Raises:
            ValueError: If there is no readable document.
        """
        state = _state(project)
        loaded = project.load_documents(extract_new=not index)
        failed = {row.document_id: row for row in index if row.state == FAILED}
        faults = [_why(fault, failed, project) for fault in loaded.faults]
        asker = cls(project, loaded.documents, faults, find=find)
        asker._state = state
        return asker

    @property
    def current(self) -> bool:
        """Whether the documents on disk, and what is extracted of them, are still those it has read."""
        return _state(self.project) == self._state

    def refreshed(self, index: Sequence[FileRow] = ()) -> Asker:
        """This asker while the documents on disk are those it has read, else a new one over what is there now."""
        if self.current:
            return self
        renewed = Asker.of(self.project, find=self._find, index=index)
        with self._lock:
            renewed._models = dict(self._models)
            renewed._seconds = self._seconds
        return renewed

    def strategy(self, name: str) -> Strategy:
        """A strategy of the project, or a preset.

        Raises:
            ValueError: If there is none of this name.
        """
        known = {strategy.name: strategy for strategy in (*PRESETS, *self.project.settings.strategies)}
        if name not in known:
            raise ValueError(f"there is no strategy {name!r}, known are {', '.join(known)}")
        return known[name]

    def stamp(self, model: str) -> ModelStamp:
        """What the vectors at hand are made with.

        Raises:
            ModelError: If the model cannot be found.
        """
        return self._model(model)[0].stamp

    def gate_model(self, combination: Combination) -> str:
        """The model whose distances the gate reads: the combination's own, or the project's first."""
        return combination.model or self.project.settings.gate_model

    def ask(
        self, question: str, combination: Combination, threshold: float | None, *, gate_model: str | None = None
    ) -> Answer:
        """Answer a question by one combination.

        Args:
            question: What is asked.
            combination: Strategy, retriever and model.
            threshold: Cosine distance strictly under which a chunk is kept; None for no threshold.
            gate_model: The model whose distances the gate reads where the combination has none.

        Raises:
            QuestionError: If the question is blank or too long.
            ValueError: If the threshold or the strategy is none.
            ModelError: If the model cannot be found or loaded.
        """
        question, threshold = check_question(question), check_threshold(threshold)
        strategy = self.strategy(combination.strategy)
        model = gate_model or self.gate_model(combination)
        encoder, cache = self._model(model)
        milliseconds: dict[str, float] = {}
        index = self._index(strategy, model, milliseconds)
        read: list[int] = []
        second = self._second(combination, strategy, index, milliseconds, read.extend)
        begin = time.perf_counter()
        asked = self._ask_model(question, model, encoder, cache)
        milliseconds["embed"] = (time.perf_counter() - begin) * 1000
        found, stages = index.search(question, asked.vector, combination.retriever, GATE_SIZE, second)
        passing = kept([hit.distance for hit in found], threshold)
        return Answer(
            question=question,
            combination=combination,
            gate_model=model,
            threshold=threshold,
            looked_at=tuple(self._passage(index.chunks[hit.chunk], hit, passing) for hit in found),
            milliseconds={**milliseconds, **stages},
            notes=(*_cut_off(question, read, combination.scorer), *self._notes(question, asked, encoder.stamp)),
        )

    def ask_decided(self, question: str, decision: DecisionRow, holds_on: Collection[str] = ()) -> Answer:
        """Answer a question by a decision.

        Args:
            question: What is asked.
            decision: By whose combination and threshold.
            holds_on: Hashes of other corpora on which it was found to hold.

        Raises:
            DecisionMismatchError: If corpus, model, strategy or retriever settings are not those it was made about.
            QuestionError: If the question is blank or too long.
            ModelError: If the model cannot be found or loaded.
        """
        check_question(question)
        self.check_decision(decision, holds_on)
        return self.ask(question, combination_of(decision), decision.threshold, gate_model=str(decision.stamp["name"]))

    def check_decision(self, decision: DecisionRow, holds_on: Collection[str] = ()) -> None:
        """Refuse a decision that was made about something else than what is at hand.

        Args:
            decision: The decision.
            holds_on: Hashes of other corpora on which it was found to hold.

        Raises:
            DecisionMismatchError: Naming everything that differs, on both sides.
            ModelError: If its model cannot be found.
        """
        if decision.strategy == OWN:
            raise DecisionMismatchError(
                f"decision {decision.id} is about your own retriever {decision.retriever}, which is asked in sweeps "
                f"only; where it runs, keep what lies under {decision.threshold:g} by "
                f"{decision.stamp.get('name', 'the gate model')}, or ask here with a combination of another kind"
            )
        strategy, settings = self.strategy(decision.strategy), self.project.settings
        stamp = self.stamp(str(decision.stamp["name"])) if decision.stamp.get("name") else None
        corpus = decision.corpus_hash if self.corpus_hash in holds_on else self.corpus_hash
        scorer = self._seconds.record(combination_of(decision))
        found = differences(decision, corpus, stamp, strategy, settings.bm25, settings.fusion, scorer)
        if found:
            raise DecisionMismatchError(
                f"decision {decision.id} does not fit what is at hand: "
                + "; ".join(found)
                + ". Measure again with `bluffline run` and decide on that sweep, or ask with a combination of your own"
            )

    def _model(self, name: str) -> tuple[LockedEncoder, VectorCache]:
        with self._lock:
            if name not in self._models:
                encoder = LockedEncoder(self._find(name))
                self._models[name] = encoder, open_cache(self.project.vectors, encoder.stamp)
            return self._models[name]

    def _index(self, strategy: Strategy, model: str, milliseconds: dict[str, float]) -> LiveIndex:
        key = strategy.spec, model
        with self._lock:
            if key not in self._indexes:
                begin = time.perf_counter()
                encoder, cache = self._model(model)
                settings, documents = self.project.settings, list(self.documents.values())
                self._indexes[key] = build(documents, strategy, encoder, cache, settings.bm25, settings.fusion)
                milliseconds["index"] = (time.perf_counter() - begin) * 1000
            return self._indexes[key]

    def _second(
        self,
        combination: Combination,
        strategy: Strategy,
        index: LiveIndex,
        milliseconds: dict[str, float],
        tell: Callable[[list[int]], object],
    ) -> SecondModel | None:
        """The second model over an index; token vectors are made on first use and kept."""
        texts = [chunk.text for chunk in index.chunks]
        key = strategy.spec, combination.scorer or ""
        with self._lock:
            if key not in self._tokens and combination.retriever == "late":
                begin = time.perf_counter()
                self._tokens[key] = self._seconds.tokens(combination, texts)
                milliseconds["index"] = milliseconds.get("index", 0.0) + (time.perf_counter() - begin) * 1000
        return self._seconds.model(combination, texts, self._tokens.get(key), tell)

    def _ask_model(self, question: str, model: str, encoder: Encoder, cache: VectorCache) -> Asked:
        """A question's vector, remembered for a while: side by side, one question is asked of many combinations."""
        key = question, model
        known = self._asked.get(key)
        if known is None:
            known = ask_model(question, encoder, cache)
            with self._lock:
                while len(self._asked) >= _KEPT_QUESTIONS:
                    del self._asked[next(iter(self._asked))]
                self._asked[key] = known
        return known

    def _passage(self, chunk: Chunk, hit: Found, passing: Sequence[int]) -> Passage:
        place, document = hit.rank - 1, self.documents[chunk.document]
        return Passage(
            number=passing.index(place) + 1 if place in passing else None,
            rank=hit.rank,
            distance=hit.distance,
            score=hit.score,
            first_rank=hit.first_rank,
            document=chunk.document,
            title=document.title,
            section=chunk.section,
            start=chunk.start,
            end=chunk.end,
            quote=chunk.content,
            place=document.locator(chunk.start, chunk.end),
        )

    def _notes(self, question: str, asked: Asked, stamp: ModelStamp) -> list[str]:
        notes = []
        if asked.seen < len(question):
            notes.append(
                f"The model reads {stamp.window} tokens: only the first {asked.seen:,} of the question's "
                f"{len(question):,} characters were compared."
            )
        words = set(tokenise(question, _ANY_WORD))
        known = sum(word in self._vocabulary() for word in words)
        if words and known / len(words) < _FOREIGN:
            notes.append(
                f"Of the question's {len(words)} different words the corpus holds {known}. If it is in another "
                "language than the documents, neither BM25 nor a model of one language can be expected to find an "
                "answer, and the threshold was not measured on such questions."
            )
        return notes

    def _vocabulary(self) -> frozenset[str]:
        if self._words is None:
            texts = (document.text for document in self.documents.values())
            self._words = frozenset(word for text in texts for word in tokenise(text, _ANY_WORD))
        return self._words


def _cut_off(question: str, read: Sequence[int], scorer: str | None) -> list[str]:
    return [
        f"{scorer} reads only the first {seen:,} of the question's {len(question):,} characters."
        for seen in read
        if seen < len(question)
    ]


def _state(project: Project) -> tuple[Any, ...]:
    """Names, sizes and times of all files below the documents folder, and how many are extracted."""
    found = []
    for path in [project.documents, *sorted(project.documents.rglob("*"))]:
        try:
            status = path.stat()
        except OSError:
            continue
        found.append((path.as_posix(), status.st_size, status.st_mtime_ns))
    return (*found, sum(1 for _ in project.extracted.glob("*/*.gz")))


def _why(fault: Fault, failed: Mapping[str, FileRow], project: Project) -> Fault:
    """A file that waits to be extracted and has failed already says why it failed."""
    if fault.kind != WAITING:
        return fault
    row = failed.get(PurePosixPath(fault.file).relative_to(project.documents.as_posix()).as_posix())
    return fault if row is None else replace(fault, problem=row.reason or "", advice=row.advice or "", kind="")
