"""The command line. Commands are imported when they are called, so that help comes at once."""

from __future__ import annotations

import importlib
import sys
from typing import Any

import click

from experiments.cli.errors import reading, told

# name -> (where the command is, its line in the help)
COMMANDS = {
    "init": ("experiments.cli.projects:init", "Make a project of a folder of documents and a questions file."),
    "import": (
        "experiments.cli.importing:importing",
        "Make a project of a question set of others: BEIR, SQuAD, TREC, CSV.",
    ),
    "check": ("experiments.cli.projects:check", "Say everything that is wrong with documents and questions."),
    "documents": ("experiments.cli.documents:documents", "List, index, retry, add, remove and watch documents."),
    "models": ("experiments.cli.models:models", "List the models of the project, and fetch those not here yet."),
    "plan": ("experiments.cli.projects:plan", "Say what a sweep would do, and what these questions can show."),
    "run": ("experiments.cli.sweeps:run", "Measure every combination and record it."),
    "show": ("experiments.cli.sweeps:show", "Print the numbers of a sweep."),
    "compare": ("experiments.cli.comparing:compare_command", "Compare two sweeps: what was fixed, what broke."),
    "gate": ("experiments.cli.gating:gate", "Hold a sweep to the rules of the project: pass, fail, cannot be judged."),
    "decide": ("experiments.cli.decisions:decide", "Choose a threshold, with its evidence and a reason."),
    "sync": ("experiments.cli.exchange:sync", "Exchange sweeps and decisions with MLflow."),
    "ask": ("experiments.cli.asking:ask", "Ask a question: kept chunks with distances and quotes, or NO ANSWER."),
    "export": ("webapp.exporting:export", "Write a sweep as files: report, tables, Parquet, TREC."),
    "serve": ("webapp.command:serve", "Serve the dashboard."),
}


class LazyGroup(click.Group):
    """A group that knows its commands by name and imports one when it is called."""

    def list_commands(self, _context: click.Context) -> list[str]:
        """Names, in the order a newcomer meets them."""
        return list(COMMANDS)

    def get_command(self, _context: click.Context, name: str) -> click.Command | None:
        """Import a command; None when there is none of this name."""
        if name not in COMMANDS:
            return None
        module, attribute = COMMANDS[name][0].split(":")
        command: click.Command = getattr(importlib.import_module(module), attribute)
        return command

    def make_context(self, *arguments: Any, **more: Any) -> click.Context:
        """Read the command line; help is printed in here."""
        with reading():
            return super().make_context(*arguments, **more)

    def invoke(self, context: click.Context) -> Any:
        """Call the command."""
        with reading():
            return super().invoke(context)

    def format_commands(self, _context: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands without importing them."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, line) for name, (_, line) in COMMANDS.items()])


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="bluffline", prog_name="bluffline")
def bluffline() -> None:
    """Measure a retriever on your own documents.

    Which chunking strategy destroys answers, which retriever finds them, whether a difference is real, and at which
    distance the system should say no. Without a project (a folder with a bluffline.toml), the bundled corpus is used.

    Exit codes: 0 fine, 1 a gate failed, 2 the input is wrong, 3 it cannot be judged.
    """


def main(arguments: list[str] | None = None) -> None:
    """Run the command line; a user's mistake is one line and exit code 2, never a traceback."""
    with told():
        result = bluffline.main(
            args=arguments if arguments is not None else sys.argv[1:], prog_name="bluffline", standalone_mode=False
        )
        if isinstance(result, int) and result:  # what a command gave to `Context.exit`
            sys.exit(result)
