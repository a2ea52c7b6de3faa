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


# Words made for needles, and what takes their place where whole documents are judged; the longer ones first.
_OF_DOCUMENTS = (
    ("question, needle, document", "question, document"),
    ("the first chunk that contains the needle whole", "the first chunk of a relevant document"),
    ("the first chunk with the needle whole", "the first chunk of a relevant document"),
    ("a chunk that holds the needle whole", "a chunk of a relevant document"),
    ("contains the needle whole", "is of a relevant document"),
    ("holds the needle whole", "is of a relevant document"),
    ("hold the needle", "are of a relevant document"),
    ("contain the needle", "are of a relevant document"),
    ("its needle's chunk", "a chunk of a relevant document"),
    ("Needles, with all their phrasings, are", "Questions are"),
    ("each needle counted once", "each question counted once"),
    ("by needle", "by question"),
    ("over needles", "over questions"),
    ("its needle", "a relevant document"),
    ("the needle", "a relevant document"),
    ("needle", "relevant document"),
    ("Needle", "Relevant document"),
)


def by_rule(words: str, rule: str) -> str:
    """Words of a page that were made for needles, as a hit rule has them; never for words that users wrote."""
    if document_level(rule):
        for needle, document in _OF_DOCUMENTS:
            words = words.replace(needle, document)
    return words


def on_words(rule: str) -> str:
    """What document-level relevance does to the numbers; empty under the other hit rule."""
    if not document_level(rule):
        return ""
    return (
        "Document-level relevance: a hit is a chunk of a relevant document, and numbers count by question; destroyed, "
        "truncated and quotable do not apply."
    )


def on_questions(rule: str, needles: int) -> str:
    """What the answerable questions of a sweep are asked over."""
    return f"by {DOCUMENT_LEVEL}" if document_level(rule) else f"over {plural(needles, 'needle')}"
