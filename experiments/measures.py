"""The numbers of a combination, named once: label, unit and meaning live with the measure, so no page invents them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal, NamedTuple

Kind = Literal["proportion", "mean", "count", "milliseconds"]


class Measure(NamedTuple):
    """One kind of number."""

    name: str
    label: str
    kind: Kind
    description: str
    higher_is_better: bool | None  # None where neither is: a size, not a quality


def _at(k: int, name: str, label: str, kind: Kind, description: str, *, higher_is_better: bool = True) -> Measure:
    """A measure of the top k."""
    return Measure(f"{name}_at_{k}", f"{label}@{k}", kind, description, higher_is_better)


def recall(k: int) -> Measure:
    """R@k."""
    said = f"share of answerable questions with a chunk in the top {k} that contains the needle whole"
    return _at(k, "recall", "R", "proportion", said)


def tokens(k: int) -> Measure:
    """Tokens@k."""
    said = f"tokens of the top {k} chunks, mean over all questions"
    return _at(k, "tokens", "tokens", "mean", said, higher_is_better=False)


def ndcg(k: int) -> Measure:
    """nDCG@k over documents."""
    said = f"normalised discounted cumulative gain of the top {k} documents, each ranked by its best chunk"
    return _at(k, "ndcg", "nDCG", "mean", said)


NDCG_DEPTH = 10  # the depth benchmarks report
DOCUMENT_RECALL = Measure(
    "document_recall_at_100",
    "document R@100",
    "mean",
    "share of a question's relevant documents among the top 100, each ranked by its best chunk, mean over questions",
    True,
)
MRR = Measure("mrr", "MRR", "mean", "mean reciprocal rank of the first chunk that contains the needle whole", True)
DESTROYED = Measure(
    "destroyed", "destroyed", "proportion", "needles that no chunk contains whole: lost to every retriever", False
)
TRUNCATED = Measure(
    "truncated",
    "truncated",
    "proportion",
    "needles whose every chunk holds their end beyond the encoder's window: this retriever never read them whole",
    False,
)
NOT_QUOTABLE = Measure(
    "not_quotable",
    "not quotable",
    "proportion",
    "found answers whose first hit holds the needle only through header or overlap: its quote would be half of it",
    False,
)
CHUNKS = Measure("chunks", "chunks", "count", "chunks of the corpus", None)
CHARACTERS = Measure("characters", "characters", "count", "characters embedded, headers and overlap included", None)
TOKENS = Measure("tokens", "tokens", "count", "tokens embedded, special tokens left out", False)
HEADER_SHARE = Measure("header_share", "header", "proportion", "share of embedded tokens that are header", False)
OVERLAP_SHARE = Measure("overlap_share", "overlap", "proportion", "share of embedded tokens that are overlap", False)
OVER_BUDGET = Measure("over_budget", "over budget", "proportion", "chunks longer than the strategy's budget", False)
OVER_WINDOW = Measure(
    "over_window", "over window", "proportion", "chunks longer than the encoder's window: their end is not read", False
)
TIMED_QUESTIONS = 25  # enough for a median; each is run alone, as a live system would
TOKEN_VECTORS = Measure(
    "token_vector_bytes", "token vectors", "count", "bytes of the chunks' token vectors on disk, read as needed", False
)
LATENCY_STAGES = {
    "embed": "embedding the question",
    "scan": "comparing it with every chunk's vector",
    "lexical": "scoring every chunk by BM25",
    "fuse": "fusing the two rankings",
    "rerank": "reading the question with each of hybrid's first chunks by the cross-encoder",
    "tokens": "embedding the question token by token",
    "maxsim": "comparing its tokens with every chunk's tokens",
    "request": "asking a retriever of one's own, as many at once as its table says",
}


_ALONE = ", one question at a time"


def latency(stage: str) -> Measure:
    """Milliseconds a query of one stage."""
    return Measure(
        f"ms_{stage}",
        f"ms {stage}",
        "milliseconds",
        f"{LATENCY_STAGES[stage]}{_ALONE if stage != 'request' else ''}: median with the middle half of the times",
        False,
    )


def token_precision(k: int) -> Measure:
    """Token precision@k."""
    said = f"share of the characters of the top {k} chunks that are needle, mean over answerable questions"
    return _at(k, "token_precision", "token precision", "mean", said)


def token_recall(k: int) -> Measure:
    """Token recall@k."""
    said = f"share of the needles' characters that stand in the top {k} chunks, mean over answerable questions"
    return _at(k, "token_recall", "token recall", "mean", said)


def token_iou(k: int) -> Measure:
    """Token IoU@k."""
    said = (
        f"needle characters in the top {k} chunks over characters in these or in the needles, "
        "mean over answerable questions"
    )
    return _at(k, "token_iou", "token IoU", "mean", said)


PRECISION_OMEGA = Measure(
    "token_precision_omega",
    "precision Ω",
    "mean",
    "token precision of all chunks that hold a needle's character and no others: the best the cutting allows",
    True,
)


def token_measures(ks: Iterable[int]) -> list[Measure]:
    """Token-level scores, of characters; what only sweeps over needles have."""
    return [
        *(measure(k) for k in ks for measure in (token_precision, token_recall, token_iou)),
        PRECISION_OMEGA,
    ]


_HIT = "a chunk of a relevant document"
_NO_NEEDLES = "of needles only: whole documents are judged here"


def documentwise(measure: Measure) -> Measure:
    """A measure as document-level relevance has it: its description says what a hit is, or why there is no number."""
    if measure.name in (DESTROYED.name, TRUNCATED.name, NOT_QUOTABLE.name):
        return measure._replace(description=_NO_NEEDLES)
    said = measure.description.replace("a chunk in the top", f"{_HIT} in the top")
    said = said.replace(" that contains the needle whole", "")
    return measure._replace(description=said.replace("the first chunk", f"the first {_HIT.removeprefix('a ')}"))


def document_measures(ks: Iterable[int]) -> list[Measure]:
    """What only sweeps of document-level relevance have."""
    return [*(ndcg(k) for k in sorted({*ks, NDCG_DEPTH})), DOCUMENT_RECALL]


# Numbers that exist only once a threshold is fixed: read from outcomes, never recorded. By the share of
# `experiments.thresholds.ThresholdRow` that each is.
AT_THRESHOLD = {
    "bluffs": Measure("at_bluffs", "bluffs", "proportion", "unanswerable questions that are answered", False),
    "bluffs_near": Measure("at_near", "bluffs on near questions", "proportion", "near questions answered", False),
    "bluffs_far": Measure("at_far", "bluffs on far questions", "proportion", "far questions answered", False),
    "right": Measure(
        "at_right", "answered right", "proportion", "answerable questions answered with what answers them kept", True
    ),
    "refused": Measure("at_refused", "refused", "proportion", "answerable questions refused", False),
}


def registry(ks: Iterable[int], *, documents: bool = False, needles: bool = True) -> dict[str, Measure]:
    """All measures of a sweep with these depths, by name.

    Args:
        ks: Depths.
        documents: Whether those of document-level relevance are among them.
        needles: Whether those that only needles have are.
    """
    ks = tuple(ks)
    known = [
        *(recall(k) for k in ks),
        *(document_measures(ks) if documents else ()),
        MRR,
        DESTROYED,
        TRUNCATED,
        NOT_QUOTABLE,
        CHUNKS,
        CHARACTERS,
        TOKENS,
        HEADER_SHARE,
        OVERLAP_SHARE,
        OVER_BUDGET,
        OVER_WINDOW,
        TOKEN_VECTORS,
        *(tokens(k) for k in ks),
        *(token_measures(ks) if needles else ()),
        *(latency(stage) for stage in LATENCY_STAGES),
    ]
    return {measure.name: measure for measure in known}
