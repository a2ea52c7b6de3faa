"""What the combinations of a sweep share: models, vector caches, and the questions' vectors, each made once."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from experiments.conditions import OWN
from experiments.embedding import Embedded, Kind, embed, key_of, missing, open_cache
from experiments.measures import TIMED_QUESTIONS
from experiments.models import ModelError, SentenceEncoder, embedding_latency
from experiments.progress import Progress
from experiments.project import Project, find_encoder
from experiments.retrieval import Cut, Index, index
from experiments.second_bench import SecondBench
from experiments.sweep import Inputs, gate_model, own_retrieval_key, retrieval_key
from experiments.words import plural
from store.stamped import StampMismatchError
from store.tables import CombinationRow
from store.vectors import VectorCache


class _Model(NamedTuple):
    encoder: SentenceEncoder
    cache: VectorCache


class Workbench:
    """Models by name, found once; what one of them lacks fails its own combinations only."""

    def __init__(self, project: Project, inputs: Inputs, *, fresh: bool = False) -> None:
        """Look for every model of the project and open its cache.

        Args:
            project: The project.
            inputs: Its documents and questions.
            fresh: Time the embedding of a question even where that was timed before.
        """
        self._project, self._inputs, self._fresh = project, inputs, fresh
        self._questions = [query.text for query in inputs.queries]
        self._queries = inputs.queries
        self._models: dict[str, _Model] = {}
        self._missing: dict[str, str] = {}
        self._asked: dict[str, Embedded] = {}
        self._latency: dict[str, list[float]] = {}
        self.seconds = SecondBench(project, self._questions, fresh=fresh)
        self.embedded = 0  # texts that were not in a cache
        for name in project.settings.models:
            try:
                encoder = find_encoder(project, name)
                self._models[name] = _Model(encoder, open_cache(project.vectors, encoder.stamp))
            except (ModelError, StampMismatchError) as error:
                self._missing[name] = str(error)

    def has(self, name: str) -> bool:
        """Whether a model was found."""
        return name in self._models

    @property
    def languages(self) -> dict[str, str]:
        """The one language each model is made for, by its card; empty where it names none or several."""
        return {name: model.encoder.stamp.language for name, model in self._models.items()}

    def unread_questions(self) -> Iterator[str]:
        """Sentences on models that read only the beginning of some questions; told once those are embedded."""
        read = self.seconds.questions_read()
        for name, model in self._models.items():
            keys = [key_of("query", question) for question in self._questions]
            known = model.cache.get(list(dict.fromkeys(keys)))
            if len(known) == len(set(keys)):
                read[name] = [known[key].seen for key in keys]
        for name, characters in read.items():
            cut = sum(seen < len(text) for seen, text in zip(characters, self._questions, strict=True))
            if cut:
                yield (
                    f"{name} reads only the beginning of {cut:,} of {plural(len(self._questions), 'question')}, which "
                    "are longer than its window for questions: what stands behind plays no part in what it finds."
                )

    def why_missing(self, name: str) -> str:
        """Why a model was not found; empty where it was."""
        return self._missing.get(name, "")

    def encoder(self, name: str) -> SentenceEncoder:
        """A model by name.

        Raises:
            ModelError: If it could not be found; the reason is the one found at the start.
        """
        if name in self._missing:
            raise ModelError(self._missing[name])
        return self._models[name].encoder

    def retrieval_key(self, row: CombinationRow) -> str | None:
        """What a combination's outcomes depend on; None where a model is missing or nobody can know it."""
        project, inputs = self._project, self._inputs
        model = gate_model(row, project.settings)
        if not self.has(model) or self.seconds.why_missing(row.scorer):
            return None
        stamp = self.encoder(model).stamp
        if row.strategy == OWN:
            own = next(one for one in project.settings.own if one.name == row.retriever)
            return own_retrieval_key(inputs, own, stamp, project.root)
        strategy = next(one for one in project.settings.strategies if one.name == row.strategy)
        return retrieval_key(inputs, strategy, row.retriever, stamp, project.settings, self.seconds.stamp(row))

    def to_embed(self, cuts: Mapping[str, Iterable[Cut]]) -> int:
        """Texts that no cache holds yet, over the cuts each model will index."""
        total = 0
        for name, model_cuts in cuts.items():
            if name in self._models:
                texts = list({text for cut in model_cuts for text in cut.texts})
                total += len(missing("document", texts, self._models[name].cache))
                total += len(missing("query", self._questions, self._models[name].cache))
        return total

    def index(self, cut: Cut, name: str, progress: Progress) -> Index:
        """One strategy's chunks under one model, compared with every question.

        Raises:
            ModelError: If the model could not be found or loaded.
            ValueError: If it gives vectors that are not of unit length.
        """
        self.encoder(name)
        asked = self._questions_of(name, progress)
        embedded = self._embed("document", cut.texts, name, f"strategy {cut.strategy.name}", progress)
        return index(cut, self._queries, embedded, asked, self._embed_times(name))

    def compared(self, texts: list[str], name: str, stage: str, progress: Progress) -> tuple[Embedded, Embedded]:
        """Vectors of texts that are no chunks of ours, and of the questions.

        Raises:
            ModelError: If the model could not be found or loaded.
            ValueError: If it gives vectors that are not of unit length.
        """
        self.encoder(name)
        asked = self._questions_of(name, progress)
        return self._embed("document", texts, name, stage, progress, planned=0), asked

    def _questions_of(self, name: str, progress: Progress) -> Embedded:
        if name not in self._asked:
            self._asked[name] = self._embed("query", self._questions, name, "questions", progress)
        return self._asked[name]

    def _embed(
        self, kind: Kind, texts: list[str], name: str, stage: str, progress: Progress, planned: int | None = None
    ) -> Embedded:
        model = self._models[name]
        progress.stage(stage, len(missing(kind, texts, model.cache)), planned=planned)
        embedded = embed(kind, texts, model.encoder, model.cache, progress.advance)
        self.embedded += embedded.computed
        return embedded

    def _embed_times(self, name: str) -> list[float]:
        """Milliseconds to embed a question, kept beside the model's vectors until they are to be measured anew."""
        if name not in self._latency:
            model = self._models[name]
            times = None if self._fresh else model.cache.note("embed_milliseconds")
            if times is None:
                times = embedding_latency(model.encoder, self._questions[:TIMED_QUESTIONS])
                model.cache.put_note("embed_milliseconds", times)
            self._latency[name] = times
        return self._latency[name]
