"""What strategies do to documents, in plain sentences."""

from __future__ import annotations

from collections.abc import Mapping

from experiments.stats.intervals import wilson
from experiments.words import counted, listed, plural

_JUDGED = "Questions judge whole documents (document-level relevance): there are no needles a strategy could destroy."


def on_document(
    strategy: str,
    chunks: int,
    destroyed: Mapping[str, int],
    needles: int,
    *,
    measured: bool = True,
    judged: bool = False,
) -> str:
    """What one strategy does to one document, and which others destroy answers in it.

    Args:
        strategy: The one whose cuts are shown.
        chunks: How many it makes of it.
        destroyed: Needles each strategy destroys in it; at least the one shown.
        needles: Needles of the document.
        measured: Whether a sweep has measured it.
        judged: Whether questions judge whole documents instead.
    """
    cuts = f"{strategy} cuts this document into {plural(chunks, 'chunk')}"
    if not measured:
        return f"{cuts}; no sweep has measured it yet."
    if judged:
        return f"{cuts}. {_JUDGED}"
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


def on_corpus(documents: int, destroyed: Mapping[str, int], touched: int, needles: int, *, judged: bool = False) -> str:
    """Which strategies destroy answers, and in how many documents.

    Args:
        documents: Documents of the corpus.
        destroyed: Needles each strategy destroys.
        touched: Documents in which some strategy destroys one.
        needles: All needles.
        judged: Whether questions judge whole documents instead.
    """
    if judged:
        return f"{plural(documents, 'document')}. {_JUDGED}"
    basis = f"{plural(documents, 'document')} with {plural(needles, 'needle')}"
    if not destroyed or not needles:
        return f"{basis}; nothing is recorded of how strategies cut them."
    some = {name: count for name, count in destroyed.items() if count}
    if not some:
        return f"{basis}: no strategy destroys an answer."
    said = listed([f"{name} destroys {counted(wilson(count, needles))}" for name, count in some.items()])
    where = "in 1 document" if touched == 1 else f"in {touched:,} documents"
    return f"{basis}: {said}, {where}."


def on_failed(failed: int, sweep_id: int | None) -> str:
    """That a sweep was measured without documents that could not be read; empty where there are none."""
    if not failed:
        return ""
    were, them = ("was", "it") if failed == 1 else ("were", "them")
    return (
        f"{plural(failed, 'document')} could not be read when sweep {sweep_id} began and {were} left out: "
        f"no number speaks of {them}."
    )


def on_files(differences: Mapping[str, int] | None, folder: str, fault: str = "") -> str:
    """How a measured corpus stands beside its files.

    Args:
        differences: Documents by what is the matter with them; None where the files were not looked at.
        folder: Where the files are.
        fault: Why they could not be compared.
    """
    if differences is None:
        return "States are what the store knows; the files themselves were not looked at."
    if fault:
        return f"The files could not be compared: {fault}"
    if not differences:
        return f"The files in {folder} are what this sweep measured."
    said = listed([f"{count:,} {state}" for state, count in differences.items()])
    return f"Beside the files in {folder}: {said}. A new sweep measures them as they are now."
