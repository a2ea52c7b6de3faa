"""What combinations are called: short where that is enough to tell them apart."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple


class Parts(NamedTuple):
    """A combination's key, taken apart."""

    strategy: str
    retriever: str
    model: str | None


def parts_of(key: str) -> Parts:
    """`E/dense/org/model` or `E/bm25`; a model's own name may hold slashes, the other two may not."""
    strategy, _, rest = key.partition("/")
    retriever, _, model = rest.partition("/")
    return Parts(strategy, retriever, model or None)


def short_model(name: str) -> str:
    """A model without its owner."""
    return name.rstrip("/").rpartition("/")[2] or name


def names_of(keys: Iterable[str]) -> dict[str, str]:
    """A name for each combination: strategy and retriever, and the model where there is more than one."""
    parts = {key: parts_of(key) for key in dict.fromkeys(keys)}
    several = len({part.model for part in parts.values() if part.model}) > 1
    return {
        key: f"{part.strategy} {part.retriever}" + (f" {short_model(part.model)}" if part.model and several else "")
        for key, part in parts.items()
    }


def name_of(key: str) -> str:
    """A combination named by itself, with its model."""
    part = parts_of(key)
    return f"{part.strategy} {part.retriever}" + (f" {short_model(part.model)}" if part.model else "")
