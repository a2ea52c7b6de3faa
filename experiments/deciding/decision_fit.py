"""Whether a decision is about the vectors, the corpus and the settings at hand."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from experiments.conditions import Combination, Strategy
from experiments.lexical import BM25Settings
from experiments.model_stamps import ModelStamp, changes_words, differs
from experiments.ranking import Fusion
from store.tables import DecisionRow

WITHOUT_BM25 = frozenset({"dense", "late"})  # retrievers that never look at words


def combination_of(decision: DecisionRow) -> Combination:
    """The combination a decision is about."""
    return Combination(decision.strategy, decision.retriever, decision.model, decision.scorer)


def scorer_record(stamp: Mapping[str, Any], retriever: str, settings: Mapping[str, Any]) -> dict[str, Any]:
    """What a decision keeps of a combination's second model: its stamp, and how many chunks a cross-encoder reads.

    Args:
        stamp: The combination's.
        retriever: Its retriever.
        settings: The sweep's.

    Returns:
        Empty where the combination has no second model.
    """
    scorer = dict(stamp.get("scorer", {}))
    return scorer | {"depth": settings["rerank_depth"]} if retriever == "rerank" else scorer


def scorer_differences(then: Mapping[str, Any], now: Mapping[str, Any]) -> str:
    """What of the second model and its depth is another thing; empty where nothing is."""
    parts = ("files", "dimensions", "window", "precision", "changes")
    if any((then.get(part) or "") != (now.get(part) or "") for part in parts):
        return f"its second model was {described(then)}, here it is {described(now)}"
    if then.get("depth") != now.get("depth"):
        return f"it reranked the first {then.get('depth')} chunks, here it is the first {now.get('depth')}"
    return ""


def differences(
    decision: DecisionRow,
    corpus: str,
    stamp: ModelStamp | None,
    strategy: Strategy,
    bm25: BM25Settings,
    fusion: Fusion,
    scorer: Mapping[str, Any] | None = None,
) -> list[str]:
    """Everything a decision was made about that is another thing here, both sides named.

    Args:
        decision: The decision.
        corpus: Hash of the documents here.
        stamp: Of the gate's model here; None where the decision names none.
        strategy: As it is here.
        bm25: As it is set here.
        fusion: As it is set here.
        scorer: The second model here, as `scorer_record` puts it; None where the decision has none.
    """
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
    second = scorer_differences(decision.scorer_stamp, scorer or {}) if decision.scorer else ""
    found += [second] if second else []
    if decision.retriever not in WITHOUT_BM25 and decision.retriever_settings not in (None, bm25.describe()):
        found.append(f"its BM25 was {decision.retriever_settings}, here it is {bm25.describe()}")
    if decision.fusion not in (None, fusion.describe()):
        found.append(f"its rankings were fused with {decision.fusion}, here it is {fusion.describe()}")
    return found


def described(stamp: Mapping[str, Any]) -> str:
    """A model stamp in words, with everything that decides what a vector is."""
    changes = f", {changes_words(stamp['changes'])}" if stamp.get("changes") else ""
    return (
        f"{stamp.get('name')} (files {str(stamp.get('files'))[:12]}, {stamp.get('dimensions')} dimensions, "
        f"window {stamp.get('window')}, {stamp.get('precision')}{changes}, embedding {stamp.get('pipeline', '1')})"
    )
