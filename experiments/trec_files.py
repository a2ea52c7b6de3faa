"""A sweep of document-level relevance as TREC files: judgements, and a run of each combination.

What `trec_eval` and `ir-measures` compute from them is what the sweep shows.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from experiments.outcomes import Outcome
from store.tables import QueryRow

_SPACE = re.compile(r"[\s%]")


def qrels_lines(queries: Sequence[QueryRow]) -> Iterator[str]:
    """Yield a line for each judgement: topic, 0, document and grade."""
    for query in queries:
        for judged in query.relevant or ():
            yield f"{_name(query.query_id)} 0 {_name(judged['document'])} {judged['grade']}\n"


def run_lines(outcomes: Sequence[Outcome], tag: str) -> Iterator[str]:
    """Yield a line for each ranked document: topic, Q0, document, rank, score and tag.

    The score falls by one with each rank. `trec_eval` reads scores in single precision and orders by them alone, ties
    by document; the retriever's own would come out in another order where two of them are close.

    Args:
        outcomes: Of one combination.
        tag: Its name.
    """
    for outcome in outcomes:
        for rank, document in enumerate(outcome.documents, start=1):
            score = len(outcome.documents) - rank + 1
            yield f"{_name(outcome.query_id)} Q0 {_name(document.document)} {rank} {score} {_name(tag)}\n"


def _name(name: str) -> str:
    """A name without white space, which would part it in two: percent-encoded where it has any."""
    return _SPACE.sub(lambda match: "".join(f"%{byte:02X}" for byte in match[0].encode()), name)
