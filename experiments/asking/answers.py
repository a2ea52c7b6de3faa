"""What is said to a live question: the chunks the gate looked at, those it kept, or a refusal."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from experiments.conditions import Combination
from experiments.gate import refusal
from experiments.naming import parts_of

LONGEST_QUESTION = 10_000  # characters
LOADED = 1.0  # seconds of embedding: over it the model was loaded; a question alone takes a few hundredths


class QuestionError(ValueError):
    """The question cannot be asked: blank, or far longer than a question."""


@dataclass(frozen=True, slots=True)
class Passage:
    """One chunk the gate looked at.

    Attributes:
        number: Its number in the prompt, from 1; None where the gate did not keep it.
        rank: The retriever's rank, from 1.
        distance: Cosine distance to the question.
        score: The retriever's own score; None behind the chunks a reranker scored.
        document: Id of the document.
        title: The document's title.
        section: Title of the section, or empty.
        start: First character of the chunk's own words in the document.
        end: One past the last.
        quote: Its own words, equal to the document's text at that place.
        place: The fragment that leads a person there, as `#page=12`; empty where its offsets do.
    """

    number: int | None
    rank: int
    distance: float
    score: float | None
    document: str
    title: str
    section: str
    start: int
    end: int
    quote: str
    place: str = ""
    first_rank: int | None = None

    @property
    def locator(self) -> str:
        """Where the words stand, as in `#char=25873,26272`, `#page=12`, `#t=132.4,158.9` or a sheet with its range."""
        return self.place or f"#char={self.start},{self.end}"

    @property
    def label(self) -> str:
        """The document's title and the section."""
        return f"{self.title} › {self.section}" if self.section else self.title


@dataclass(frozen=True, slots=True)
class Answer:
    """What one combination says to a question.

    Attributes:
        question: As it was asked.
        combination: Strategy, retriever and model.
        gate_model: The model whose distances the gate read.
        threshold: The cut; None for no threshold.
        looked_at: The chunks the gate looked at, best rank first, at most 4.
        milliseconds: Of each stage; `index` only where the index had to be made first.
        notes: What a reader should know about the question, as sentences.
    """

    question: str
    combination: Combination
    gate_model: str
    threshold: float | None
    looked_at: tuple[Passage, ...]
    milliseconds: Mapping[str, float] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    @property
    def kept(self) -> tuple[Passage, ...]:
        """The chunks that passed, numbered 1, 2, ... in order of rank."""
        return tuple(passage for passage in self.looked_at if passage.number is not None)

    @property
    def refused(self) -> bool:
        """Whether nothing passed, so that no model is called."""
        return not self.kept

    @property
    def nearest(self) -> float | None:
        """Smallest distance among the chunks the gate looked at; None where the retriever returned none."""
        return min((passage.distance for passage in self.looked_at), default=None)

    @property
    def refusal(self) -> str | None:
        """What is said instead of an answer; None where something passed."""
        if not self.refused:
            return None
        if self.threshold is None:
            return f'NO ANSWER: {self.combination.retriever} returned nothing for "{self.question}"'
        return refusal(self.question, self.threshold)


def check_question(question: str) -> str:
    """The question without white space at its ends.

    Raises:
        QuestionError: If it is blank, or longer than 10,000 characters.
    """
    if not question.strip():
        raise QuestionError("the question is blank: write what you want to know")
    if len(question) > LONGEST_QUESTION:
        raise QuestionError(
            f"the question is {len(question):,} characters long, at most {LONGEST_QUESTION:,} can be asked: "
            "ask one thing, and leave the material out"
        )
    return question.strip()


def check_threshold(threshold: float | None) -> float | None:
    """The threshold itself.

    Raises:
        ValueError: If it is no cosine distance.
    """
    if threshold is not None and not (math.isfinite(threshold) and 0 <= threshold <= 2):
        raise ValueError(f"the threshold {threshold} is no cosine distance: those lie from 0 to 2")
    return threshold


def parse_combination(
    key: str, models: Sequence[str], rerankers: Sequence[str] = (), late_models: Sequence[str] = ()
) -> Combination:
    """Read `E/dense`, `E/bm25`, `E/hybrid/<model>`, `E/rerank/<model>/<scorer>` or `E/late/<scorer>`.

    What is left out is the first of its kind.

    Args:
        key: The key.
        models: Names of embedding models.
        rerankers: Names of cross-encoders.
        late_models: Names of late-interaction models.

    Raises:
        ValueError: If the key is none.
    """
    strategy, _, rest = key.partition("/")
    retriever, _, model = rest.partition("/")
    if not strategy or not retriever:
        raise ValueError(f"{key!r} is no combination: write STRATEGY/RETRIEVER or STRATEGY/RETRIEVER/MODEL")
    if retriever == "bm25":
        return Combination(strategy, retriever, model or None)
    if retriever == "late":
        return Combination(strategy, retriever, None, model or _first(late_models, "late-interaction model", key))
    if retriever == "rerank" and model:
        parts = parts_of(key, models)
        if model in models:  # a model's own name, with nothing behind it
            return Combination(strategy, retriever, model, _first(rerankers, "cross-encoder", key))
        return Combination(strategy, retriever, parts.model, parts.scorer or _first(rerankers, "cross-encoder", key))
    if not model and not models:
        raise ValueError(f"{key!r} names no model, and the project has none")
    scorer = _first(rerankers, "cross-encoder", key) if retriever == "rerank" else None
    return Combination(strategy, retriever, model or models[0], scorer)


def _first(names: Sequence[str], what: str, key: str) -> str:
    if not names:
        raise ValueError(f"{key!r} names no {what}, and the project has none")
    return names[0]
