"""What strategies do to documents, in plain sentences."""

from __future__ import annotations

from collections.abc import Mapping

from experiments.stats.intervals import wilson
from experiments.words import counted, listed, plural


def on_document(strategy: str, chunks: int, destroyed: Mapping[str, int], needles: int) -> str:
    """What one strategy does to one document, and which others destroy answers in it.

    Args:
        strategy: The one whose cuts are shown.
        chunks: How many it makes of it.
        destroyed: Needles each strategy destroys in it; at least the one shown.
        needles: Needles of the document.
    """
    cuts = f"{strategy} cuts this document into {plural(chunks, 'chunk')}"
    if not needles:
        return f"{cuts}; no question asks for anything in it."
    lost = destroyed[strategy]
    if not lost:
        whole = f"keeps {_all(needles)} whole"
    elif lost == needles:
        whole = f"destroys {_all(needles)}"
    else:
        whole = f"destroys {lost:,} of its {needles:,} needles"
    others = {name: count for name, count in destroyed.items() if count and name != strategy}
    if not others:
        return f"{cuts} and {whole}."
    said = listed([f"{name} destroys {count:,}" for name, count in others.items()])
    return f"{cuts} and {whole}; {said}."


def _all(needles: int) -> str:
    return {1: "its one needle", 2: "both its needles"}.get(needles, f"all {needles:,} of its needles")


def on_corpus(documents: int, destroyed: Mapping[str, int], touched: int, needles: int) -> str:
    """Which strategies destroy answers, and in how many documents.

    Args:
        documents: Documents of the corpus.
        destroyed: Needles each strategy destroys.
        touched: Documents in which some strategy destroys one.
        needles: All needles.
    """
    basis = f"{plural(documents, 'document')} with {plural(needles, 'needle')}"
    if not destroyed or not needles:
        return f"{basis}; nothing is recorded of how strategies cut them."
    some = {name: count for name, count in destroyed.items() if count}
    if not some:
        return f"{basis}: no strategy destroys an answer."
    said = listed([f"{name} destroys {counted(wilson(count, needles))}" for name, count in some.items()])
    where = "in 1 document" if touched == 1 else f"in {touched:,} documents"
    return f"{basis}: {said}, {where}."
