"""A git repository with three commits: a baseline, better chunking, a regression; each measured and held to the gate.

    python tests/three_commits.py FOLDER

Everything is real: git, the embedding model, MLflow, the command line. The manual is made so that what chunking does to
its needles decides what is found. Prints what the gate says of each commit; exits with 0 when it passes, passes and
fails.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).parent.parent

# Topic, needle, the manual's wording of the question, a ticket's.
TOPICS = (
    ("Reset links", "A reset link works once and expires after thirty minutes",
     "How long is a password reset link valid?", "my reset mail says expired??"),
    ("Invoices", "Invoices are written on the first day of each month and sent to the billing address",
     "When are invoices written?", "where does the invoice go every month"),
    ("Backups", "Every database is copied each night at two o'clock in the region it runs in",
     "When are databases copied?", "at what time does the nightly backup run"),
    ("Builds", "A build that takes longer than forty minutes is stopped and has to be started again",
     "After how many minutes is a build stopped?", "build got killed halfway, is there a limit"),
    ("Rollbacks", "The last ten releases can be activated again with one click and without building them anew",
     "How many releases can be activated again?", "how do i roll back to an older release"),
    ("Paused organisations", "A paused organisation keeps its data for sixty days before it is deleted",
     "How long is the data of a paused organisation kept?", "org got paused, is everything gone now?"),
    ("Seats", "A seat that nobody has used for ninety days is given back and no longer charged",
     "When is an unused seat given back?", "do we pay for seats nobody uses"),
    ("Webhooks", "A webhook that fails is sent again five times over the next twelve hours",
     "How often is a failed webhook sent again?", "our endpoint was down, are webhooks lost"),
)  # fmt: skip
UNANSWERABLE = (("Does the service offer single sign-on?", "near"), ("How do I cook paella for six people?", "far"))
FILLER = "This chapter is about {topic} and was reviewed by the team that runs the service. "

# The strategy `manual` is what changes from commit to commit; a combination keeps its name.
STRATEGIES = {
    "baseline": 'cuts = "blind"\nheader = false\noverlap = 0\nbudget = 200\n',
    "better": 'cuts = "boundaries"\nheader = true\noverlap = 0\nbudget = 300\n',
    "regression": 'cuts = "blind"\nheader = false\noverlap = 0\nbudget = 150\n',
}
PROJECT = """\
[sweep]
strategies = ["manual"]
retrievers = ["dense"]
k = [1, 4]
thresholds = [0.6]

[strategies.manual]
{strategy}
[gate]
baseline = "baseline.json"
no_significant_loss = {{ at = 4, alpha = 0.05 }}
destroyed_at_most = 2
"""


class Gate(NamedTuple):
    """What the gate said of one commit."""

    commit: str
    code: int
    said: str
    record: dict[str, Any]


def write_manual(folder: Path) -> None:
    """The documents and questions, the same at every commit."""
    (folder / "documents").mkdir(parents=True, exist_ok=True)
    questions: list[dict[str, str]] = []
    for number, (topic, needle, asked, ticket) in enumerate(TOPICS, 1):
        filler = FILLER.format(topic=topic.lower())
        text = f"# Manual, part {number}\n\n## {topic}\n\n{filler}{needle}. {filler}\n"
        (folder / "documents" / f"{number:02}.md").write_text(text, encoding="utf-8")
        for phrasing, question in (("manual", asked), ("ticket", ticket)):
            questions.append({"id": f"{phrasing[0]}{number}", "question": question, "needle": f"{needle}.",
                              "phrasing": phrasing})  # fmt: skip
    for number, (question, stratum) in enumerate(UNANSWERABLE, 1):
        questions.append({"id": f"u{number}", "question": question, "stratum": stratum})
    lines = "".join(json.dumps(question) + "\n" for question in questions)
    (folder / "questions.jsonl").write_text(lines, encoding="utf-8")
    (folder / ".gitignore").write_text("var/\nreports/\n", encoding="utf-8")


def git(folder: Path, *arguments: str) -> str:
    """Run git in the repository."""
    identity = ("-c", "user.name=Ada", "-c", "user.email=ada@example.org", "-c", "commit.gpgsign=false")
    done = subprocess.run(["git", *identity, *arguments], cwd=folder, capture_output=True, text=True, check=True)
    return done.stdout.strip()


def bluffline(folder: Path, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run the command in the repository, as CI does."""
    return subprocess.run(
        [sys.executable, "-m", "experiments.cli", *arguments], cwd=folder, capture_output=True, text=True, check=False,
        env={**_environment(), **environment},
    )  # fmt: skip


def _environment() -> Mapping[str, str]:
    """The test's own CI, store and MLflow are not the repository's."""
    foreign = ("GITHUB_ACTIONS", "GITLAB_CI", "BUILDKITE", "MLFLOW_TRACKING_URI", "BLUFFLINE_STORE_URL", "GIT_DIR")
    kept = {name: value for name, value in os.environ.items() if name not in foreign}
    return {**kept, "PYTHONPATH": str(ROOT)}


def make_history(folder: Path) -> list[Gate]:
    """Make the repository, commit by commit; run the sweep and the gate on each.

    Returns:
        What the gate said, in order.

    Raises:
        RuntimeError: If a sweep does not run.
    """
    folder.mkdir(parents=True, exist_ok=True)
    write_manual(folder)
    git(folder, "init", "-q", "-b", "main")
    return [_commit(folder, name) for name in STRATEGIES]


def _commit(folder: Path, name: str) -> Gate:
    (folder / "bluffline.toml").write_text(PROJECT.format(strategy=STRATEGIES[name]), encoding="utf-8")
    git(folder, "add", "-A")
    git(folder, "commit", "-q", "-m", name)
    git(folder, "tag", f"{name}-1")
    ran = bluffline(folder, "run")
    if ran.returncode != 0:
        raise RuntimeError(f"the sweep of {name} ended with {ran.returncode}: {ran.stdout}{ran.stderr}")
    if name == "baseline":
        bluffline(folder, "gate", "--save-baseline", "baseline.json")
    reports = ("--junit", f"reports/{name}.xml", "--markdown", f"reports/{name}.md")
    gate = bluffline(folder, "gate", "--format", "json", *reports)
    record = json.loads(gate.stdout) if gate.stdout else {}
    return Gate(git(folder, "rev-parse", "HEAD"), gate.returncode, gate.stdout + gate.stderr, record)


def main(folder: Path) -> int:
    """Make it and say what came of it."""
    gates = make_history(folder)
    for name, gate in zip(STRATEGIES, gates, strict=True):
        print(f"{name} {gate.commit[:12]}: exit code {gate.code}. {gate.record.get('headline', gate.said)}")
        for result in gate.record.get("results", []):
            print(f"  {result['state']}: {result['rule']}, {result['name']}: {result['sentence']}")
            for broken in result["broken"]:
                print(f"    {broken['query_id']}: {broken['text']} ({broken['what']})")
    return 0 if [gate.code for gate in gates] == [0, 0, 1] else 1


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
