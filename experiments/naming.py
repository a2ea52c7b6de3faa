"""What combinations and their scores are called: short where that is enough to tell them apart."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

_SCALES = {
    "dense": "cosine",
    "bm25": "BM25",
    "hybrid": "RRF",
    "rerank": "cross-encoder",
    "late": "MaxSim",
}


class Parts(NamedTuple):
    """A combination's key, taken apart."""

    strategy: str
    retriever: str
    model: str | None
    scorer: str | None = None


def parts_of(key: str, models: Iterable[str] = ()) -> Parts:
    """`E/dense/org/model`, `E/bm25`, `E/late/scorer` or `E/rerank/org/model/org/scorer`.

    Args:
        key: The key. A model's own name may hold slashes, strategy and retriever may not.
        models: Names of embedding models that are known: they say where a reranked combination's model ends. Where
            none fits, both its models are taken to have names of as many parts.
    """
    strategy, _, rest = key.partition("/")
    retriever, _, names = rest.partition("/")
    if retriever == "late":
        return Parts(strategy, retriever, None, names or None)
    if retriever != "rerank":
        return Parts(strategy, retriever, names or None)
    model = max((one for one in models if names.startswith(f"{one}/")), key=len, default="")
    if not model:
        pieces = names.split("/")
        model = "/".join(pieces[: max(len(pieces) // 2, 1)])
    return Parts(strategy, retriever, model or None, names[len(model) + 1 :] or None)


def short_model(name: str) -> str:
    """A model without its owner."""
    return name.rstrip("/").rpartition("/")[2] or name


def names_of(keys: Iterable[str]) -> dict[str, str]:
    """A name for each combination: strategy and retriever, and each model where there is more than one of its kind."""
    distinct = list(dict.fromkeys(keys))
    known = {part.model for part in map(parts_of, distinct) if part.model and not part.scorer}
    parts = {key: parts_of(key, known) for key in distinct}
    models = {part.model for part in parts.values() if part.model}
    scorers: dict[str, set[str]] = {}
    for part in parts.values():
        scorers.setdefault(part.retriever, set()).update([part.scorer] if part.scorer else [])
    return {
        key: " ".join(
            [
                *(part.strategy, part.retriever),
                *([short_model(part.model)] if part.model and len(models) > 1 else []),
                *([short_model(part.scorer)] if part.scorer and len(scorers[part.retriever]) > 1 else []),
            ]
        )
        for key, part in parts.items()
    }


def name_of(key: str) -> str:
    """A combination named by itself, with its models."""
    part = parts_of(key)
    return " ".join([part.strategy, part.retriever, *(short_model(one) for one in (part.model, part.scorer) if one)])


def scale_of(retriever: str) -> str:
    """What a retriever's scores are: no two of these are on one scale."""
    return _SCALES.get(retriever, "score")


def scored(retriever: str, score: float | None, first_rank: int | None) -> str:
    """`cross-encoder 4.213, rank 7 by hybrid`; a score is never shown without saying whose it is."""
    before = "" if first_rank is None else f", rank {first_rank:,} by hybrid"
    if score is None:
        return f"not read by the {scale_of(retriever)}{before}"
    return f"{scale_of(retriever)} {score:.3f}{before}"
