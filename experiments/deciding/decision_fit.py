"""Whether a decision is about the vectors, the corpus and the settings at hand."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from experiments.conditions import Strategy
from experiments.lexical import BM25Settings
from experiments.model_stamps import ModelStamp, differs
from store.tables import DecisionRow


def differences(
    decision: DecisionRow, corpus: str, stamp: ModelStamp | None, strategy: Strategy, bm25: BM25Settings
) -> list[str]:
    """Everything a decision was made about that is another thing here, both sides named."""
    found = []
    if decision.corpus_hash != corpus:
        found.append(
            f"it was made about corpus {decision.corpus_hash[:12]}, the documents here are corpus {corpus[:12]}"
        )
    if stamp is None:
        found.append("it carries no model stamp, so nothing says which vectors its threshold is about")
    elif differs(decision.stamp, stamp._asdict()):
        found.append(
            f"its vectors are of {described(decision.stamp)}, the model at hand is {described(stamp._asdict())}, "
            "and vectors of two models cannot be compared"
        )
    if strategy.spec != decision.strategy_spec:
        found.append(f"its strategy {strategy.name} was {decision.strategy_spec}, here it is {strategy.spec}")
    if decision.retriever != "dense" and decision.retriever_settings not in (None, bm25.describe()):
        found.append(f"its BM25 was {decision.retriever_settings}, here it is {bm25.describe()}")
    return found


def described(stamp: Mapping[str, Any]) -> str:
    """A model stamp in words, with everything that decides what a vector is."""
    changes = f", {stamp['changes']}" if stamp.get("changes") else ""
    return (
        f"{stamp.get('name')} (files {str(stamp.get('files'))[:12]}, {stamp.get('dimensions')} dimensions, "
        f"window {stamp.get('window')}, {stamp.get('precision')}{changes}, embedding {stamp.get('pipeline', '1')})"
    )
