"""The second models of a sweep: each found once, with what it has scored or embedded already."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from statistics import fmean
from typing import NamedTuple

from sqlalchemy import Engine

from experiments.late_interaction import LateRanker, index_tokens, missing_tokens
from experiments.models import ModelError, ModelStamp
from experiments.progress import Progress, duration
from experiments.project import Project, model_of
from experiments.ranking import Ranking
from experiments.reranking import Reranker
from experiments.retrieval import Cut
from experiments.second_model_loading import find_cross_encoder, find_token_encoder
from experiments.second_models import PairScorer, SecondModel, TokenEncoder
from experiments.words import plural
from store.pair_scores import PairScoreCache
from store.reads_sweeps import rerankings
from store.stamped import StampMismatchError
from store.tables import CombinationRow
from store.token_vectors import TokenVectorStore

PAIRS, TOKEN_TEXTS = "pairs", "token texts"  # units of progress


class _Reranker(NamedTuple):
    scorer: PairScorer
    cache: PairScoreCache


class _LateModel(NamedTuple):
    encoder: TokenEncoder
    store: TokenVectorStore


class PairPace(NamedTuple):
    """How long a cross-encoder takes for a pair, and which sweep says so."""

    sweep_id: int
    milliseconds: float  # mean, of questions asked one by one


class SecondBench:
    """Cross-encoders and late-interaction models by name; what one of them lacks fails its own combinations only."""

    def __init__(self, project: Project, questions: Sequence[str], *, fresh: bool = False) -> None:
        """Look for every second model the project's retrievers need, and open what is kept of it.

        Args:
            project: The project.
            questions: All of the set.
            fresh: Time questions even where they were timed before.
        """
        settings = project.settings
        self._questions, self._fresh = questions, fresh
        self._depth = settings.rerank_depth
        self._rerankers: dict[str, _Reranker] = {}
        self._late: dict[str, _LateModel] = {}
        self._missing: dict[str, str] = {}
        for name in settings.rerankers if "rerank" in settings.retrievers else ():
            try:
                self._rerankers[name] = _open_reranker(project, name)
            except (ModelError, StampMismatchError) as error:
                self._missing[name] = str(error)
        for name in settings.late_models if "late" in settings.retrievers else ():
            try:
                self._late[name] = _open_late(project, name)
            except (ModelError, StampMismatchError) as error:
                self._missing[name] = str(error)

    def why_missing(self, name: str | None) -> str:
        """Why a model was not found; empty where it was, or where none is needed."""
        return self._missing.get(name or "", "")

    def planned(
        self, engine: Engine, waiting: Sequence[CombinationRow], cuts: Mapping[str, Cut], questions: int
    ) -> Iterator[str]:
        """What a sweep would do with its second models, a line each, and how long that takes where a sweep timed it.

        Args:
            engine: The store, whose newest sweep with the same cross-encoder tells how long a pair takes.
            waiting: The combinations that no sweep has recorded yet.
            cuts: The chunks, by strategy.
            questions: How many are asked.
        """
        paces = self.paces(engine)
        for name in [*self._rerankers, *self._late, *self._missing]:
            if name in self._missing:
                yield f"{name}: {self._missing[name]}; its combinations will fail."
                continue
            rows = [row for row in waiting if row.scorer == name]
            todo = self.plans(rows, cuts, questions)
            if not rows:
                yield f"{name}: nothing to do, all its combinations are recorded."
            elif name in self._late:
                time = " How long that takes is not known: no sweep keeps the time of a text." * bool(todo[TOKEN_TEXTS])
                yield f"{name}: {plural(todo[TOKEN_TEXTS], 'text')} to embed token by token, the others are kept.{time}"
            else:
                known = self._rerankers[name].cache.count()
                yield (
                    f"{name}: at most {plural(todo[PAIRS], 'pair')} to score, hybrid's first {self._depth} chunks of "
                    f"every question, strategy and model, each pair once; {known:,} are cached. "
                    f"{_time(paces.get(name), todo[PAIRS])}"
                )

    def paces(self, engine: Engine) -> dict[str, PairPace]:
        """How long each cross-encoder takes for a pair, by its newest sweep here; one that was never timed is left out.

        Only the same files, precision and window count as the same cross-encoder.
        """
        timed: dict[str, list[tuple[int, float]]] = {}
        for row in rerankings(engine, self._rerankers):
            each = row.stamp["milliseconds"].get("rerank")
            pairs = min(row.settings["rerank_depth"], row.stamp["cutting"]["chunks"])
            same = row.stamp.get("scorer") == self._rerankers[row.scorer].scorer.stamp._asdict()
            if each and pairs and same:
                timed.setdefault(row.scorer, []).append((row.sweep_id, fmean(each) / pairs))
        return {
            name: PairPace(found[0][0], fmean(each for sweep_id, each in found if sweep_id == found[0][0]))
            for name, found in timed.items()
        }

    def expected(self, engine: Engine, waiting: Sequence[CombinationRow]) -> dict[str, float]:
        """Seconds a pair took in an earlier sweep, where that is known of every cross-encoder that has something to do.

        Each has as many pairs as any other, so that the mean is that of all pairs.
        """
        paces = self.paces(engine)
        found = [paces.get(name) for name in {row.scorer for row in waiting} & self._rerankers.keys() if name]
        known = [pace.milliseconds / 1000 for pace in found if pace is not None]
        return {PAIRS: fmean(known)} if known and len(known) == len(found) else {}

    def stamp(self, row: CombinationRow) -> ModelStamp | None:
        """Of a combination's second model; None where it needs none.

        Raises:
            ModelError: If it could not be found; the reason is the one found at the start.
        """
        if row.scorer is None:
            return None
        if row.scorer in self._missing:
            raise ModelError(self._missing[row.scorer])
        if row.retriever == "rerank":
            return self._rerankers[row.scorer].scorer.stamp
        return self._late[row.scorer].encoder.stamp

    def plans(self, rows: Sequence[CombinationRow], cuts: Mapping[str, Cut], questions: int) -> dict[str, int]:
        """How much the rows have to do at most, by unit of progress."""
        pairs = sum(
            questions * min(self._depth, len(cuts[row.strategy].chunks))
            for row in rows
            if row.retriever == "rerank" and row.scorer in self._rerankers
        )
        texts: dict[str, set[str]] = {}
        for row in rows:
            if row.retriever == "late" and row.scorer in self._late:
                texts.setdefault(row.scorer, set()).update(cuts[row.strategy].texts)
        late = sum(len(missing_tokens(sorted(found), self._late[name].store)) for name, found in texts.items())
        return {PAIRS: pairs, TOKEN_TEXTS: late}

    def model(self, row: CombinationRow, cut: Cut, progress: Progress) -> SecondModel | None:
        """A combination's second model over the chunks of its strategy; None where it needs none.

        Raises:
            ModelError: If it could not be found or loaded.
        """
        if self.stamp(row) is None or row.scorer is None:
            return None
        if row.retriever == "rerank":
            reranker = self._rerankers[row.scorer]
            return _TellingReranker(
                reranker.scorer, cut.texts, self._depth, reranker.cache, row.key, progress, fresh=self._fresh
            )
        late = self._late[row.scorer]
        progress.stage(row.key, len(missing_tokens(cut.texts, late.store)), TOKEN_TEXTS)
        index = index_tokens(cut.texts, late.encoder, late.store, progress.advance)
        return LateRanker(late.encoder, index, partial(late.store.put_note, _read_of(self._questions)))

    def questions_read(self) -> dict[str, list[int]]:
        """Characters each late-interaction model read of each question, of those models that were asked them once."""
        notes = {name: late.store.note(_read_of(self._questions)) for name, late in self._late.items()}
        return {name: list(map(int, note)) for name, note in notes.items() if note is not None}


def _time(pace: PairPace | None, pairs: int) -> str:
    if pace is None:
        return "How long that takes is not known: no sweep here has timed it yet."
    return (
        f"That takes at most {duration(pace.milliseconds * pairs / 1000)}, "
        f"at {pace.milliseconds:.1f} ms a pair as in sweep {pace.sweep_id}."
    )


class _TellingReranker(Reranker):
    """A reranker that says how much it has to do as soon as it knows: when it sees the first ranking."""

    def __init__(
        self,
        scorer: PairScorer,
        texts: Sequence[str],
        depth: int,
        cache: PairScoreCache,
        key: str,
        progress: Progress,
        *,
        fresh: bool,
    ) -> None:
        super().__init__(scorer, texts, depth, cache, progress.advance, fresh=fresh)
        self._key, self._progress = key, progress

    def milliseconds(self, questions: Sequence[str], first: Ranking) -> dict[str, list[float]]:
        planned = len(questions) * min(self._depth, len(self._texts))
        todo = self.to_score(questions, first)
        # Pairs that are known are scored again, one question at a time, where they are to be timed.
        self._progress.stage(self._key if todo else f"{self._key}, timing questions", todo, PAIRS, planned)
        return super().milliseconds(questions, first)


def find_reranker(project: Project, name: str) -> PairScorer:
    """A cross-encoder by the name a project gives it.

    Raises:
        ModelError: If there is no such model here or it cannot be read.
    """
    return find_cross_encoder(model_of(project, name, "cross-encoder"), project.model_files)


def find_late_model(project: Project, name: str) -> TokenEncoder:
    """A late-interaction model by the name a project gives it.

    Raises:
        ModelError: If there is no such model here or it cannot be read.
    """
    return find_token_encoder(model_of(project, name, "late-interaction"), project.model_files)


def open_tokens(project: Project, encoder: TokenEncoder) -> TokenVectorStore:
    """The token vectors of one model, among those of others.

    Raises:
        StampMismatchError: If the files are of another model, or not whole.
    """
    stamp = encoder.stamp
    return TokenVectorStore(
        project.var / "token_vectors" / f"{stamp.cache_name}.db", stamp.file_stamp, stamp.dimensions
    )


def _read_of(questions: Sequence[str]) -> str:
    """The name under which it is kept how far a model read these questions."""
    return "question_characters " + hashlib.sha256("\0".join(questions).encode("utf-8", "surrogatepass")).hexdigest()


def _open_reranker(project: Project, name: str) -> _Reranker:
    scorer = find_reranker(project, name)
    path = project.var / "pair_scores" / f"{scorer.stamp.cache_name}.db"
    return _Reranker(scorer, PairScoreCache(path, scorer.stamp.file_stamp))


def _open_late(project: Project, name: str) -> _LateModel:
    encoder = find_late_model(project, name)
    return _LateModel(encoder, open_tokens(project, encoder))
