"""What counts as a hit, said beside the numbers."""

from __future__ import annotations

from experiments.provenance import document_level
from experiments.words import plural

DOCUMENT_LEVEL = "document-level relevance"
NO_NEEDLES = "whole documents are judged here, so there are no needles to destroy, truncate or quote"


def on_hits(rule: str) -> str:
    """What R@k counts under a hit rule."""
    if document_level(rule):
        return (
            "Document-level relevance: a hit is a chunk of a relevant document, whichever passage of it answers. "
            "R@k is the share of answerable questions with such a chunk in the top k; where a number is of needles, "
            f"there is none, because {NO_NEEDLES}."
        )
    return (
        "R@k is the share of answerable questions with a chunk in the top k that contains the needle whole; a needle "
        "has one place, so this recall is success@k."
    )


def on_words(rule: str) -> str:
    """How words made for needles are to be read under a hit rule; empty where they mean what they say."""
    if not document_level(rule):
        return ""
    return (
        "Document-level relevance: where needles are spoken of, read a chunk of a relevant document (kept, returned, "
        "nearest), and count by question; destroyed, truncated and quotable do not apply."
    )


def on_questions(rule: str, needles: int) -> str:
    """What the answerable questions of a sweep are asked over."""
    return f"by {DOCUMENT_LEVEL}" if document_level(rule) else f"over {plural(needles, 'needle')}"
