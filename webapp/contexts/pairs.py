"""What the win/loss page shows: every combination against every other, and the questions behind one cell."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from experiments.evaluation import answerable
from experiments.outcomes import Recorded
from experiments.reviewing.winloss import Pairing, Unit, WinLoss, by_found, compare_all
from experiments.verdicts.pairs import on_pairing, on_winloss
from store.tables import QueryRow, SweepRow
from webapp.combinations import Chips, Head, Note, Shown
from webapp.contexts.pair_cards import Card, card
from webapp.contexts.pair_matrix import Row, kind_of, matrix_rows
from webapp.contexts.pair_tables import COLUMNS
from webapp.exports import Column
from webapp.files import Files
from webapp.params import changed
from webapp.sweeps import Strip
from webapp.whiskers import Estimate

WIDE = 10  # combinations up to which a cell has room for both p-values
LISTED = 200  # pairs in the page's table; the files hold all
DRAWN = 16  # combinations in the figure


class Choice(NamedTuple):
    """The state of the page."""

    k: int
    per: Unit
    order: str  # found or grid
    first: int | None  # ids of the combinations of the chosen cell
    second: int | None


class Links(NamedTuple):
    """Addresses."""

    here: str
    state: tuple[tuple[str, str], ...]  # the parameters at hand
    pairs: Files
    order: Files
    discordant: Files


class Standing(NamedTuple):
    """A combination among all."""

    head: Head
    found: Estimate
    beats: int
    beaten: int
    share: float
    percent: str


class Line(NamedTuple):
    """A pair as a row of the flat table."""

    first: str
    second: str
    url: str
    wins: int
    losses: int
    p: float
    holm_p: float
    said: str
    kind: str


@dataclass(frozen=True, slots=True)
class PairsContext:
    """Everything `templates/pairs/page.html` uses."""

    strip: Strip
    notes: tuple[Note, ...]
    headline: str
    verdict_kind: str
    asides: tuple[str, ...]
    chips: tuple[Chips, ...]
    ks: tuple[tuple[str, str], ...]
    units: tuple[tuple[str, str], ...]
    orders: tuple[tuple[str, str], ...]
    choice: Choice
    shown_count: int
    total: int
    heads: tuple[Head, ...]
    rows: tuple[Row, ...]
    matrix_class: str
    family: str
    basis: str
    unresolvable: str
    alpha: float
    card: Card | None
    standings: tuple[Standing, ...]
    figure_spec: dict[str, Any]
    figure_summary: str
    figure_note: str
    figure_size: str
    lines: tuple[Line, ...]
    lines_note: str
    columns: tuple[Column, ...]
    links: Links


UNITS = (("question", "by question"), ("needle", "by needle"))
ORDERS = (("found", "most found first"), ("grid", "as in the sweep"))


def compared(
    outcomes: Mapping[int, Sequence[Recorded]], shown: Shown, choice: Choice, settings: Mapping[str, Any]
) -> WinLoss | None:
    """The shown combinations against each other, in the chosen order."""
    by_key = {head.key: outcomes.get(head.id, ()) for head in shown.heads}
    keys = by_found(by_key, choice.k) if choice.order == "found" else list(by_key)
    return compare_all(
        {key: by_key[key] for key in keys}, choice.k, choice.per, alpha=settings["alpha"], seed=settings["seed"]
    )


def build(
    sweep: SweepRow,
    shown: Shown,
    notes: tuple[Note, ...],
    outcomes: Mapping[int, Sequence[Recorded]],
    queries: Sequence[QueryRow],
    choice: Choice,
    strip: Strip,
    links: Links,
    question_url: Callable[[str], str],
) -> PairsContext:
    """The page.

    Args:
        sweep: The sweep.
        shown: Its combinations as filtered.
        notes: What is missing of it.
        outcomes: By combination id.
        queries: The question set.
        choice: The state of the page.
        strip: The line of facts.
        links: Addresses.
        question_url: Address of a question's page by its id.
    """
    found = compared(outcomes, shown, choice, sweep.settings)
    verdict = on_winloss(found, lambda key: shown.names[key])
    heads = {head.key: head for head in shown.heads}
    ordered = tuple(heads[key] for key in found.keys) if found else shown.heads
    wide = len(ordered) <= WIDE
    standings = tuple(_standing(heads[one.key], one) for one in found.standings) if found else ()
    pairings = sorted(found.pairings(), key=lambda one: (one.holm_p, one.p)) if found else []
    return PairsContext(
        strip=strip,
        notes=notes,
        headline=verdict.headline,
        verdict_kind="" if _proven(found) else "open",
        asides=verdict.asides,
        chips=shown.chips,
        ks=tuple((str(k), str(k)) for k in sweep.settings["k"]),
        units=UNITS,
        orders=ORDERS,
        choice=choice,
        shown_count=len(shown.heads),
        total=shown.total,
        heads=ordered,
        rows=matrix_rows(found, ordered, links.state, (choice.first, choice.second), wide=wide)
        if found and len(ordered) > 1
        else (),
        matrix_class="matrix" if wide else "matrix dense",
        family=f"{found.family:,} {'pair' if found.family == 1 else 'pairs'}" if found else "no pair",
        basis=f"{found.n:,} {found.unit}s" if found else "",
        unresolvable=_fewest(found),
        alpha=sweep.settings["alpha"],
        card=_card(found, shown, outcomes, queries, choice, links, question_url),
        standings=standings,
        figure_spec=_figure(standings),
        figure_summary=_summary(standings),
        figure_note="" if len(standings) <= DRAWN else f"the first {DRAWN} of {len(standings)}",
        figure_size="short" if len(standings) <= 4 else "" if len(standings) <= 10 else "tall",
        lines=tuple(_line(one, heads, links) for one in pairings[:LISTED]),
        lines_note="" if len(pairings) <= LISTED else f"the {LISTED} with the smallest p of {len(pairings):,}",
        columns=COLUMNS,
        links=links,
    )


def _proven(found: WinLoss | None) -> bool:
    leader = max(found.standings, key=lambda one: one.found.estimate or 0.0) if found else None
    return leader is not None and leader.beats > 0


def _fewest(found: WinLoss | None) -> str:
    if found is None or len(found.keys) < 2:
        return ""
    return f"{int(found.matrix.discordant_needed[0, 1]):,} {found.unit}s"


def _standing(head: Head, one: Any) -> Standing:
    share = one.found
    estimate = Estimate(share.estimate, share.low, share.high, share.n, share.hits)
    percent = "< 1 %" if 0 < one.best_share < 0.005 else f"{one.best_share * 100:.0f} %"
    return Standing(head, estimate, one.beats, one.beaten, one.best_share, percent)


def _line(one: Pairing, heads: Mapping[str, Head], links: Links) -> Line:
    first, second = heads[one.first], heads[one.second]
    if one.resolved:
        ahead, behind = (first, second) if one.wins > one.losses else (second, first)
        said = f"{ahead.name} beats {behind.name}"
    elif not one.resolvable:
        said = f"cannot be resolved: differ on {one.discordant:,}, {one.discordant_needed:,} needed"
    else:
        more = one.more_needed
        said = "cannot be told apart" + (f": about {more:,} more {one.unit}s for this pair alone" if more else "")
    url = changed(links.state, a=first.id, b=second.id)
    kind = kind_of(one.wins, one.losses, one.resolved, one.resolvable)
    return Line(first.name, second.name, url, one.wins, one.losses, one.p, one.holm_p, said, kind)


def _card(
    found: WinLoss | None,
    shown: Shown,
    outcomes: Mapping[int, Sequence[Recorded]],
    queries: Sequence[QueryRow],
    choice: Choice,
    links: Links,
    question_url: Callable[[str], str],
) -> Card | None:
    if found is None or choice.first is None or choice.second is None:
        return None
    first, second = shown.by_id[choice.first], shown.by_id[choice.second]
    pairing = found.pairing(first.key, second.key)
    return card(
        pairing,
        first,
        second,
        on_pairing(pairing, first.name, second.name),
        answerable(outcomes.get(first.id, ())),
        answerable(outcomes.get(second.id, ())),
        queries,
        swap_url=changed(links.state, a=second.id, b=first.id),
        close_url=changed(links.state, a=None, b=None) or links.here,
        question_url=question_url,
    )


def _figure(standings: Sequence[Standing]) -> dict[str, Any]:
    drawn = sorted(standings, key=lambda one: -one.share)[:DRAWN][::-1]
    return {
        "data": [
            {
                "type": "bar",
                "orientation": "h",
                "x": [round(one.share * 100, 2) for one in drawn],
                "y": [one.head.name for one in drawn],
                "marker": {"color": "var(--right)"},
                "hovertemplate": "%{y}: %{x:.1f} % of the draws<extra></extra>",
            }
        ],
        "layout": {
            "xaxis": {
                "range": [0, 100],
                "ticksuffix": " %",
                "title": {"text": "share of draws in which it finds most"},
            },
            "yaxis": {"type": "category"},
        },
    }


def _summary(standings: Sequence[Standing]) -> str:
    ordered = sorted(standings, key=lambda one: -one.share)
    said = ", ".join(f"{one.head.name} in {one.percent}" for one in ordered[:3])
    return f"Bars: of all draws, {said} find most." if said else "Nothing to draw."
