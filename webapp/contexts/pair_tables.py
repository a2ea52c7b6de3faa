"""The win/loss page's tables as files: all pairs, and the order of the combinations."""

from __future__ import annotations

from experiments.reviewing.winloss import WinLoss
from webapp.exports import Column, Table

COLUMNS = (
    Column("first", "First"),
    Column("second", "Second"),
    Column("k", "k", description="Depth down to which an answer counts as found."),
    Column("per", "Counted by", description="Questions, or needles (won where more of its phrasings are found)."),
    Column("wins", "Won", description="What the first finds and the second does not."),
    Column("losses", "Lost", description="What the second finds and the first does not."),
    Column("n", "n", description="Questions or needles compared."),
    Column("p", "p", description="Two-sided exact sign test on those the two differ on."),
    Column("holm_p", "Holm p", description="The same, corrected for all pairs shown as one family (Holm)."),
    Column("resolved", "Resolved", description="Whether Holm's p is at most the level."),
    Column("resolvable", "Resolvable", description="Whether it could have been with these questions."),
    Column(
        "discordant_needed", "Discordant needed", description="The fewest that could resolve the pair, all one way."
    ),
    Column("more_needed", "More needed", description="About how many more, asked as so far, would resolve it alone."),
)

ORDER_COLUMNS = (
    Column("combination", "Combination"),
    Column("hits", "Found", description="Questions found at k."),
    Column("n", "n"),
    Column("recall", "R@k", description="Share of answerable questions found at k."),
    Column("low", "Low", description="Wilson 95 %."),
    Column("high", "High", description="Wilson 95 %."),
    Column("beats", "Beats", description="Combinations it is resolved to be ahead of."),
    Column("beaten_by", "Beaten by", description="Combinations resolved to be ahead of it."),
    Column("best_share", "First", description="Share of bootstrap draws of the needles in which it finds most."),
)


def table(sweep_id: int, found: WinLoss | None) -> Table:
    """All pairs as data."""
    rows = [
        (
            *(one.first, one.second, one.k, one.unit, one.wins, one.losses, one.n, one.p, one.holm_p),
            *(one.resolved, one.resolvable, one.discordant_needed, one.more_needed),
        )
        for one in (found.pairings() if found else ())
    ]
    return Table(f"sweep-{sweep_id}-pairs", COLUMNS, tuple(rows))


def order_table(sweep_id: int, found: WinLoss | None) -> Table:
    """The order of the combinations as data."""
    rows = [
        (
            one.key,
            *(one.found.hits, one.found.n, one.found.estimate, one.found.low, one.found.high),
            one.beats,
            one.beaten,
            one.best_share,
        )
        for one in (found.standings if found else ())
    ]
    return Table(f"sweep-{sweep_id}-order", ORDER_COLUMNS, tuple(rows))
