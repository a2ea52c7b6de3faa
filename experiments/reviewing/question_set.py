"""What a question set holds and what it can show: phrasing pairs, balance, widths of intervals, differences it detects.

All of it is known before anything is measured: how wide an interval will be depends on how many questions there are,
and on nothing a retriever does.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from statistics import fmean, median
from typing import Literal, NamedTuple

from corpus.faults import Fault
from corpus.overlap import lexical_overlap
from experiments.stats.intervals import clopper_pearson_upper, questions_for_bound, wilson
from experiments.stats.resolution import discordant_needed, fewest_discordant
from store.needle_spans import NeedleSpan, needle_spans
from store.tables import QueryRow

FaultKind = Literal["missing", "drifted", "repeated", "heading", "other"]
FAULT_KINDS: tuple[FaultKind, ...] = ("missing", "drifted", "repeated", "heading", "other")
POWER = 0.8  # chance with which a difference is to be found
WIN_SHARES = (1.0, 0.9, 0.8, 0.7, 0.6)  # of the questions on which two combinations differ, won by the better one


class Phrased(NamedTuple):
    """One phrasing of a needle's question."""

    query_id: str
    text: str
    overlap: float | None  # share of the needle's content words in it; None where the needle has none


class NeedleRow(NamedTuple):
    """What answers a question, with the questions that ask for it.

    Attributes:
        needle_id: What answers, by name.
        needles: The needles, in the order of the file; none where whole documents are judged.
        require: How many of several needles are needed, any or all; None where there is one.
        relevant: Documents judged relevant with their grades, the most relevant first; none where needles answer.
        phrased: The questions by phrasing, in the order of `Balance.phrasings`.
    """

    needle_id: str
    needles: tuple[NeedleSpan, ...]
    require: str | None
    relevant: tuple[tuple[str, int], ...]
    phrased: tuple[tuple[Phrased, ...], ...]

    @property
    def needle(self) -> str:
        """The words of all needles, for files."""
        return " / ".join(needle.text for needle in self.needles)

    @property
    def documents(self) -> str:
        """Where the answer stands, for files: the needles' documents, or those judged relevant."""
        named = [needle.document for needle in self.needles] or [name for name, _ in self.relevant]
        return " / ".join(dict.fromkeys(named))


class OverlapRow(NamedTuple):
    """How many of a needle's words the questions of one phrasing give away."""

    phrasing: str | None
    n: int
    mean: float | None
    median: float | None
    shares: tuple[float, ...]


class Balance(NamedTuple):
    """What a set holds."""

    questions: int
    answerable: int
    needles: int  # several of one question count as one; 0 where whole documents are judged
    near: int
    far: int
    phrasings: tuple[str | None, ...]
    by_phrasing: tuple[int, ...]
    by_document: tuple[tuple[str, int, int], ...]  # document, answers, questions; most answers first
    single: int  # answers asked in one phrasing only, where the set knows several

    @property
    def unanswerable(self) -> int:
        """Near and far together."""
        return self.near + self.far


class Width(NamedTuple):
    """How well a share is known on so many questions."""

    what: str
    n: int
    half: float | None  # half the Wilson interval where it is widest, at one half
    high: float | None  # the same at nine of ten
    bound: float | None  # what no single occurrence proves: the one-sided exact 95 % bound


class Detectable(NamedTuple):
    """What it takes to tell two combinations apart."""

    win_share: float
    single: int | None  # discordant questions needed for one planned comparison, with power
    family: int | None  # the same within the family of all pairs
    difference: float | None  # in R@k, of the single comparison; None where the set is too small


class BoundRow(NamedTuple):
    """How many unanswerable questions a bound needs."""

    bluffs: int
    needed: int


def needle_rows(queries: Sequence[QueryRow]) -> list[NeedleRow]:
    """The needles in the order they are first asked for, with their phrasings side by side."""
    phrasings = phrasings_of(queries)
    rows: dict[str, list[QueryRow]] = {}
    for query in queries:
        if query.needle_id is not None:
            rows.setdefault(query.needle_id, []).append(query)
    return [
        NeedleRow(
            needle_id,
            needle_spans(asked[0]),
            asked[0].require,
            _judged(asked[0]),
            tuple(
                tuple(Phrased(one.query_id, one.text, _overlap(one)) for one in asked if one.phrasing == phrasing)
                for phrasing in phrasings
            ),
        )
        for needle_id, asked in rows.items()
    ]


def _judged(query: QueryRow) -> tuple[tuple[str, int], ...]:
    judged = ((one["document"], one["grade"]) for one in query.relevant or () if one["grade"] > 0)
    return tuple(sorted(judged, key=lambda one: (-one[1], one[0])))


def _documents(query: QueryRow) -> list[str]:
    """The documents an answer stands in, each once."""
    names = [needle.document for needle in needle_spans(query)] or [name for name, _ in _judged(query)]
    return list(dict.fromkeys(names))


def _overlap(query: QueryRow) -> float | None:
    """Of all needles together; of whole documents nobody knows which words answer."""
    return lexical_overlap(query.text, " ".join(needle.text for needle in needle_spans(query)))


def phrasings_of(queries: Iterable[QueryRow]) -> tuple[str | None, ...]:
    """The phrasings of the answerable questions, in the order they first appear."""
    return tuple(dict.fromkeys(query.phrasing for query in queries if query.needle_id is not None))


def balance(queries: Sequence[QueryRow]) -> Balance:
    """Count what a set holds."""
    answerable = [query for query in queries if query.needle_id is not None]
    strata = Counter(query.stratum for query in queries if query.needle_id is None)
    phrasings = phrasings_of(queries)
    counts = Counter(query.phrasing for query in answerable)
    per_needle = Counter((query.needle_id, query.phrasing) for query in answerable)
    phrased = Counter(needle for needle, _ in per_needle)
    places = {(query.needle_id, name) for query in answerable for name in _documents(query)}
    by_needles = Counter(document for _, document in places)
    by_questions = Counter(name for query in answerable for name in _documents(query))
    return Balance(
        questions=len(queries),
        answerable=len(answerable),
        needles=len({query.needle_id for query in answerable if needle_spans(query)}),
        near=strata["near"],
        far=strata["far"],
        phrasings=phrasings,
        by_phrasing=tuple(counts[phrasing] for phrasing in phrasings),
        by_document=tuple(
            (document, count, by_questions[document])
            for document, count in sorted(by_needles.items(), key=lambda pair: (-pair[1], pair[0]))
        ),
        single=sum(count == 1 for count in phrased.values()) if len(phrasings) > 1 else 0,
    )


def overlaps(queries: Sequence[QueryRow]) -> list[OverlapRow]:
    """Lexical overlap by phrasing."""
    rows = []
    for phrasing in phrasings_of(queries):
        found = [_overlap(query) for query in queries if query.needle_id is not None and query.phrasing == phrasing]
        shares = tuple(share for share in found if share is not None)
        mean, middle = (fmean(shares), median(shares)) if shares else (None, None)
        rows.append(OverlapRow(phrasing, len(shares), mean, middle, shares))
    return rows


def widths(held: Balance) -> list[Width]:
    """How well shares will be known, for each group a share can be of."""
    groups = {
        "answerable questions": held.answerable,
        "needles": held.needles,
        "near unanswerable questions": held.near,
        "far unanswerable questions": held.far,
        "all unanswerable questions": held.unanswerable,
    }
    return [Width(what, n, half_width(n, 0.5), half_width(n, 0.9), _bound(n)) for what, n in groups.items()]


def half_width(n: int, share: float) -> float | None:
    """Half the width of Wilson's 95 % interval of a share measured on n questions; None on none."""
    found = wilson(round(n * share), n)
    return None if found.low is None or found.high is None else (found.high - found.low) / 2


def _bound(n: int) -> float | None:
    return clopper_pearson_upper(0, n) if n else None


def detectable(n: int, alpha: float, pairs: int) -> list[Detectable]:
    """What it takes to tell two combinations apart, by how one-sided their difference is.

    Args:
        n: Answerable questions.
        alpha: Significance level.
        pairs: Comparisons made together.
    """
    rows = []
    for share in WIN_SHARES:
        single = discordant_needed(share, alpha, POWER)
        family = discordant_needed(share, alpha / max(pairs, 1), POWER)
        reachable = single is not None and single <= n and n > 0
        rows.append(Detectable(share, single, family, (2 * share - 1) * single / n if reachable and single else None))
    return rows


def fewest(alpha: float, pairs: int) -> int:
    """The fewest questions on which two combinations must differ, all one way, to be told apart among so many pairs."""
    return fewest_discordant(alpha, max(pairs, 1))


def pairs_of(combinations: int) -> int:
    """Pairs among so many combinations, at least one."""
    return max(math.comb(combinations, 2), 1)


def bound_rows(target: float, confidence: float = 0.95, most: int = 3) -> list[BoundRow]:
    """How many unanswerable questions it takes to promise "at most `target` bluffs", by bluffs that may be seen."""
    return [BoundRow(bluffs, questions_for_bound(target, confidence, bluffs)) for bluffs in range(most + 1)]


def kind_of(fault: Fault) -> FaultKind:
    """What kind of fault a check found, for the four that concern needles."""
    if "stands nowhere in the corpus" in fault.problem:
        return "drifted" if fault.advice.startswith("It differs by") else "missing"
    if "occurs" in fault.problem and "times in the corpus" in fault.problem:
        return "repeated"
    return "heading" if "overlaps the heading" in fault.problem else "other"


class SetChange(NamedTuple):
    """How the questions in a file differ from those that were measured."""

    added: tuple[str, ...]
    removed: tuple[str, ...]
    changed: tuple[str, ...]

    @property
    def any(self) -> bool:
        """Whether there is a difference."""
        return bool(self.added or self.removed or self.changed)


def set_change(measured: Sequence[QueryRow], now: Sequence[QueryRow]) -> SetChange:
    """Compare two sets by id, in the order of the newer one; a needle that moved is a change."""

    def content(query: QueryRow) -> tuple[object, ...]:
        judged = tuple((one["document"], one["grade"]) for one in query.relevant or ())
        return query.text, query.phrasing, query.stratum, query.needle_id, needle_spans(query), judged

    before, after = ({query.query_id: content(query) for query in queries} for queries in (measured, now))
    return SetChange(
        tuple(name for name in after if name not in before),
        tuple(name for name in before if name not in after),
        tuple(name for name in after if name in before and after[name] != before[name]),
    )
