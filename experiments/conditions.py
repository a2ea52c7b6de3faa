"""What is varied in a sweep: chunking strategies, retrievers and models, and the grid they span."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

Cuts = Literal["blind", "boundaries", "document"]

DEFAULT_BUDGET = 512
RETRIEVERS = ("dense", "bm25", "hybrid", "rerank", "late")
DEFAULT_RETRIEVERS = RETRIEVERS[
    :3
]  # the others read every pair or every token with a second model: minutes, not seconds
MODEL_FREE_RETRIEVERS = frozenset({"bm25", "late"})
SCORER_RETRIEVERS = frozenset({"rerank", "late"})
FUSED = frozenset({"hybrid", "rerank"})  # retrievers that begin with the fused ranking

_CUTS: tuple[str, ...] = get_args(Cuts)
_SETTINGS = ("cuts", "header", "overlap", "budget")
# Names become parts of combination keys, MLflow filters and addresses: no slash, quote or space.
_NAME = re.compile(r"[\w.-]{1,64}")

# In the strategy's place of a team's own retriever, which is not crossed with strategies and models.
OWN = "own"


@dataclass(frozen=True, slots=True)
class Strategy:
    """One way to cut documents into chunks.

    Attributes:
        name: Short name, unique within a sweep; letters, digits, ``_``, ``.`` and ``-``.
        cuts: ``blind`` every ``budget`` characters, at the ``boundaries`` of sections, paragraphs and sentences, or
            not at all: the whole ``document`` is one passage, which no budget and no overlap touches.
        header: Whether ``[Title > Section]`` is embedded in front of a chunk's own words; of a whole document its
            title, without brackets, as benchmarks join title and text.
        overlap: Characters of the previous chunk that are embedded in front, from 0 to below the budget.
        budget: Characters a chunk's own words may take, at least 1.

    Raises:
        ValueError: If an ingredient is not allowed; the message names its value.
    """

    name: str
    cuts: Cuts
    header: bool
    overlap: int
    budget: int = DEFAULT_BUDGET

    def __post_init__(self) -> None:
        """Refuse ingredients that are not allowed, all at once."""
        faults = list(_faults(self))
        if faults:
            raise ValueError(f"strategy {self.name!r}: " + "; ".join(faults))

    @property
    def spec(self) -> str:
        """The ingredients in one canonical line, without the name: equal specs cut equal chunks."""
        return f"cuts={self.cuts};header={str(self.header).lower()};overlap={self.overlap};budget={self.budget}"


def is_name(name: object) -> bool:
    """Whether a strategy or a retriever may be called so."""
    return isinstance(name, str) and _NAME.fullmatch(name) is not None


def _faults(strategy: Strategy) -> list[str]:
    faults = []
    if not is_name(strategy.name):
        faults.append("a name is 1 to 64 letters, digits, '_', '.' or '-'")
    if strategy.cuts not in _CUTS:
        faults.append(f"cuts is {strategy.cuts!r}, allowed are {', '.join(_CUTS)}")
    if not isinstance(strategy.header, bool):
        faults.append(f"header is {strategy.header!r}, allowed are true and false")
    if not _is_whole(strategy.budget) or strategy.budget < 1:
        faults.append(f"budget is {strategy.budget!r}, must be a whole number of at least 1")
    elif strategy.cuts == "document" and strategy.overlap != 0:
        faults.append(f"overlap is {strategy.overlap!r}, but a whole document has no chunk before it: leave it out")
    elif not _is_whole(strategy.overlap) or not 0 <= strategy.overlap < strategy.budget:
        faults.append(
            f"overlap is {strategy.overlap!r}, must be a whole number from 0 to below the budget of {strategy.budget}"
        )
    return faults


def _is_whole(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


PRESETS: tuple[Strategy, ...] = (
    Strategy("A", "blind", header=False, overlap=0),
    Strategy("B", "blind", header=False, overlap=64),
    Strategy("C", "boundaries", header=False, overlap=0),
    Strategy("D", "boundaries", header=False, overlap=64),
    Strategy("E", "boundaries", header=True, overlap=0),
    Strategy("F", "boundaries", header=True, overlap=64),
)


def strategy_from_settings(name: str, settings: Mapping[str, Any]) -> Strategy:
    """Read one strategy from a table of the project file.

    Args:
        name: The table's name, which becomes the strategy's.
        settings: ``cuts`` (required), ``header`` (false), ``overlap`` (0) and ``budget`` (512).

    Returns:
        The validated strategy.

    Raises:
        ValueError: If a key is unknown, ``cuts`` is missing or a value is not allowed.
    """
    unknown = [key for key in settings if key not in _SETTINGS]
    if unknown:
        named = ", ".join(repr(key) for key in unknown)
        raise ValueError(f"strategy {name!r}: unknown setting {named}, allowed are {', '.join(_SETTINGS)}")
    if "cuts" not in settings:
        raise ValueError(f"strategy {name!r}: cuts is missing, allowed are {', '.join(_CUTS)}")
    return Strategy(
        name=name,
        cuts=settings["cuts"],
        header=settings.get("header", False),
        overlap=settings.get("overlap", 0),
        budget=settings.get("budget", DEFAULT_BUDGET),
    )


def strategy_from_spec(name: str, spec: str) -> Strategy:
    """Read a strategy from the line a sweep keeps of it, the reverse of `Strategy.spec`.

    Raises:
        ValueError: If the line is not one, or a value is not allowed.
    """
    parts = dict(part.partition("=")[::2] for part in spec.split(";"))
    if set(parts) != set(_SETTINGS):
        raise ValueError(f"strategy {name!r}: {spec!r} does not name {', '.join(_SETTINGS)}")
    return strategy_from_settings(
        name,
        {
            "cuts": parts["cuts"],
            "header": parts["header"] == "true",
            "overlap": int(parts["overlap"]),
            "budget": int(parts["budget"]),
        },
    )


def strategies_in(settings: Mapping[str, Any]) -> list[str]:
    """The strategies a sweep's settings name, with `OWN` where it has a team's own retrievers."""
    return [*settings["strategies"], *([OWN] if settings.get("own") else [])]


def retrievers_in(settings: Mapping[str, Any]) -> list[str]:
    """The retrievers a sweep's settings name, a team's own included."""
    return [*settings["retrievers"], *settings.get("own", {})]


def spec_in(settings: Mapping[str, Any], strategy: str, retriever: str) -> str | None:
    """The line that says what a combination's chunks are, out of a sweep's settings; None where they do not say it.

    Of a team's own retriever it is what is asked, with a hash of its settings.
    """
    if strategy != OWN:
        spec: str | None = settings.get("strategies", {}).get(strategy)
        return spec
    kept = settings.get("own", {}).get(retriever)
    return None if kept is None else f"{kept['asks']}, settings {kept['settings']}"


def describe_spec(strategy: str, spec: str | None) -> str:
    """Such a line in words; empty where there is none."""
    if strategy == OWN:
        return "a retriever of your own"
    return describe(strategy_from_spec(strategy, spec)) if spec else ""


def describe(strategy: Strategy) -> str:
    """Say a strategy in words, as in ``boundaries + header``; only an unusual budget is named."""
    parts = ["whole document" if strategy.cuts == "document" else str(strategy.cuts)]
    if strategy.header:
        parts.append("header")
    if strategy.overlap:
        parts.append(f"overlap {strategy.overlap}")
    words = " + ".join(parts)
    if strategy.cuts == "document":
        return words
    return words if strategy.budget == DEFAULT_BUDGET else f"{words}, {strategy.budget} characters"


@dataclass(frozen=True, slots=True)
class Combination:
    """One cell of a sweep: a strategy, a retriever and the models that retriever needs.

    Attributes:
        strategy: Name of the strategy; `OWN` for a team's own retriever.
        retriever: One of `RETRIEVERS`, or the name of a team's own.
        model: The embedding model; None where the retriever reads no vectors.
        scorer: The second model: the cross-encoder of `rerank`, the late-interaction model of `late`; else None.

    Raises:
        ValueError: If the retriever is unknown, lacks a model, or has one it does not use.
    """

    strategy: str
    retriever: str
    model: str | None = None
    scorer: str | None = None

    def __post_init__(self) -> None:
        """Refuse a retriever without its model, and a model without its use."""
        if self.strategy == OWN:
            if self.retriever in RETRIEVERS or not is_name(self.retriever):
                raise ValueError(f"{self.retriever!r} cannot be the name of a retriever of one's own")
            if self.model or self.scorer:
                raise ValueError(f"the retriever {self.retriever!r} of one's own is not crossed with models")
            return
        if self.retriever not in RETRIEVERS:
            raise ValueError(f"unknown retriever {self.retriever!r}, known are {', '.join(RETRIEVERS)}")
        needs_model = self.retriever not in MODEL_FREE_RETRIEVERS
        if needs_model and not self.model:
            raise ValueError(f"retriever {self.retriever!r} needs a model")
        if not needs_model and self.model is not None:
            raise ValueError(f"retriever {self.retriever!r} uses no model, got {self.model!r}")
        needs_scorer = self.retriever in SCORER_RETRIEVERS
        if needs_scorer and not self.scorer:
            raise ValueError(f"retriever {self.retriever!r} needs a scorer")
        if not needs_scorer and self.scorer is not None:
            raise ValueError(f"retriever {self.retriever!r} uses no scorer, got {self.scorer!r}")

    @property
    def key(self) -> str:
        """Unique name within a sweep: ``E/dense/<model>``, ``E/bm25``, ``E/rerank/<model>/<scorer>``, ``own/NAME``."""
        parts = (self.strategy, self.retriever, self.model, self.scorer)
        return "/".join(part for part in parts if part is not None)


def grid(
    strategies: Sequence[Strategy],
    retrievers: Sequence[str],
    models: Sequence[str],
    rerankers: Sequence[str] = (),
    late_models: Sequence[str] = (),
    own: Sequence[str] = (),
) -> tuple[Combination, ...]:
    """Every combination of a sweep, in the order the ingredients were given (strategy, retriever, model, scorer).

    Args:
        strategies: Strategies with distinct names.
        retrievers: Names out of `RETRIEVERS`, each once.
        models: Model names, each once; may be empty if no retriever needs one.
        rerankers: Names of cross-encoders, each once; may be empty without `rerank`.
        late_models: Names of late-interaction models, each once; may be empty without `late`.
        own: Names of a team's own retrievers, each once; they stand behind the others, one combination each.

    Returns:
        One combination per strategy, retriever and model; BM25 has no model and appears once per strategy, `rerank`
        once per model and cross-encoder, `late` once per late-interaction model.

    Raises:
        ValueError: If a name is repeated, a retriever is unknown, or one that needs a model or scorer has none.
    """
    _require_distinct("strategy", [strategy.name for strategy in strategies])
    _require_distinct("retriever", retrievers)
    _require_distinct("model", models)
    _require_distinct("reranker", rerankers)
    _require_distinct("late-interaction model", late_models)
    _require_distinct("retriever of one's own", own)
    unknown = [name for name in retrievers if name not in RETRIEVERS]
    if unknown:
        named = ", ".join(repr(name) for name in unknown)
        raise ValueError(f"unknown retriever {named}, known are {', '.join(RETRIEVERS)}")
    crossed = tuple(
        Combination(strategy.name, retriever, model, scorer)
        for strategy in strategies
        for retriever in retrievers
        # A retriever that needs a model gets one empty place when none is given, so that the fault is named.
        for model in ((None,) if retriever in MODEL_FREE_RETRIEVERS else (tuple(models) or (None,)))
        for scorer in (tuple({"rerank": rerankers, "late": late_models}.get(retriever, ())) or (None,))
    )
    return (*crossed, *(Combination(OWN, name) for name in own))


def _require_distinct(what: str, names: Sequence[str]) -> None:
    repeated = sorted({name for name in names if names.count(name) > 1})
    if repeated:
        raise ValueError(f"{what} given more than once: {', '.join(repr(name) for name in repeated)}")
