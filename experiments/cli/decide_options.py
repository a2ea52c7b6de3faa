"""The options of `decide`, and what they say together."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import click

from experiments.cli.options import FloatRange, project_option
from experiments.deciding.certification import STRATA
from experiments.deciding.choosing import AtMost, ByHand, Cheapest, Way
from experiments.deciding.costs import DEFAULT_COSTS, DEFAULT_UNANSWERABLE_SHARE
from experiments.deciding.evidence import Terms
from experiments.stats.selective import Costs

_STRATA = {"both": STRATA, "near": ("near",), "far": ("far",)}

_options = [
    project_option,
    click.option("--sweep", "sweep_id", type=click.IntRange(1, 2**63 - 1), help="A sweep; the newest finished one."),
    click.option("--combination", "key", help="Its key, as `bluffline show` prints it."),
    click.option("--strategy", help="Or its parts: the strategy,"),
    click.option("--retriever", help="the retriever,"),
    click.option("--model", help="the model,"),
    click.option("--scorer", help="and the cross-encoder or late-interaction model."),
    click.option("--threshold", type=FloatRange(0, 2), help="Choose this cosine distance."),
    click.option("--cheapest", is_flag=True, help="Choose the threshold of least expected cost."),
    click.option(
        "--at-most",
        type=FloatRange(0, 1, min_open=True, max_open=True),
        help="Choose the loosest threshold certified to bluff at most this often; beside --threshold or --cheapest, "
        "the target the decision is held to.",
    ),
    click.option("--bound-on", type=click.Choice(list(_STRATA)), default="both", show_default=True,
                 help="The unanswerable questions --at-most is about."),
    click.option("--confidence", type=FloatRange(0, 1, min_open=True, max_open=True), default=0.95,
                 show_default=True, help="Of the certified bound."),
    click.option("--bluff-cost", type=float, default=DEFAULT_COSTS.bluff, show_default=True,
                 help="Of answering what the corpus does not know."),
    click.option("--wrong-cost", type=float, default=DEFAULT_COSTS.wrong, show_default=True,
                 help="Of answering without the needle."),
    click.option("--refusal-cost", type=float, default=DEFAULT_COSTS.refusal, show_default=True,
                 help="Of refusing an answerable question."),
    click.option("--unanswerable-share", type=FloatRange(0, 1), default=DEFAULT_UNANSWERABLE_SHARE,
                 show_default=True, help="Share of the traffic that has no answer in the corpus."),
    click.option("--who", help="Who decides; git's user.name or the user at the machine when left out."),
    click.option("--reason", help="Why; required to record a decision."),
    click.option("--dry-run", is_flag=True, help="Say what would be recorded, and record nothing."),
    click.option("--export", "form", type=click.Choice(["toml", "json"]),
                 help="Print the decision, with --show the one in force, as a production config on standard output."),
    click.option("--show", is_flag=True, help="Print the decision in force and whether it still holds."),
    click.option("--tag", is_flag=True, help="Set the tags of the decision in force in MLflow again."),
]  # fmt: skip


def decide_options(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command all of them."""
    for option in reversed(_options):
        command = option(command)
    return command


class Asked(NamedTuple):
    """What the options say."""

    folder: Path | None
    sweep_id: int | None
    key: str | None
    strategy: str | None
    retriever: str | None
    model: str | None
    scorer: str | None
    threshold: float | None
    cheapest: bool
    at_most: float | None
    bound_on: str
    confidence: float
    bluff_cost: float
    wrong_cost: float
    refusal_cost: float
    unanswerable_share: float
    who: str | None
    reason: str | None
    dry_run: bool
    form: str | None
    show: bool
    tag: bool

    @property
    def terms(self) -> Terms:
        """Costs, traffic and bound."""
        costs = Costs(self.bluff_cost, self.wrong_cost, self.refusal_cost)
        return Terms(costs, self.unanswerable_share, self.at_most, self.confidence, _STRATA[self.bound_on])

    @property
    def way(self) -> Way | None:
        """How to pick; None where nothing is to be picked."""
        if self.threshold is not None and self.cheapest:
            raise click.UsageError("--threshold and --cheapest both choose; give one of them")
        if self.threshold is not None:
            return ByHand(self.threshold)
        if self.cheapest:
            return Cheapest(self.terms.costs, self.unanswerable_share)
        return None if self.at_most is None else AtMost(self.at_most, self.confidence, _STRATA[self.bound_on])

    def say(self, line: str = "") -> None:
        """Tell a line; an export has standard output to itself."""
        click.echo(line, err=self.form is not None)
